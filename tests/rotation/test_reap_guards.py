"""In doubt, don't reap: each of the reap guards once false."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hooks.rotation.guards import reap_victim
from hooks.rotation.model import Claim, ClaimState, Malformed, Pod
from hooks.rotation.writes import Reap
from tests.rotation.test_guards import NEW, NOW, OLD, POD, POLICY, POOL, READY, STARTED, Live

REAP = Reap("api", "old", "u-old", POLICY, ("fresh",), NOW)
WAITS = replace(OLD, state=ClaimState.PENDING)
FRESH = Claim(name="fresh", uid="u-fresh", created=NEW.created, pool="api")
WAITING = replace(READY, the_pool=replace(POOL, mirror=False), claims=(WAITS, NEW, FRESH), pods=())
UNNAMED = replace(WAITING, claims=(replace(WAITS, surge_claim=None), NEW, FRESH))
AGENT = Pod(name="agent", controller_kind="DaemonSet", phase="Running")
STATIC = Pod(name="static", mirror=True, phase="Running")
DONE = Pod(name="done", controller_kind="Job", phase="Succeeded")
WEB = Pod(name="web", controller_kind="ReplicaSet", phase="Running")


def _on(*pods: Pod) -> Live:
    return replace(WAITING, on_nodes={"node-new": pods})


@pytest.mark.parametrize(("live", "victim"), [
    (WAITING, NEW),
    (replace(WAITING, pods=(replace(POD, deleting=True),)), NEW),
    (_on(AGENT, STATIC, DONE, replace(DONE, phase="Failed"), POD), NEW),
    (UNNAMED, FRESH),
    (replace(WAITING, claims=(replace(WAITS, started_at=NOW), NEW, FRESH)), None),
    (replace(WAITING, the_pool=replace(POOL, mirror=False, abort="old"), claims=(
        replace(WAITS, started_at=NOW - timedelta(minutes=11)), NEW, FRESH)), NEW),
])  # fmt: skip
def test_the_victim(live: Live, victim: Claim | None) -> None:
    assert reap_victim(live, REAP) == victim


def _with(candidate: Claim = WAITS, victim: Claim = NEW) -> Live:
    return replace(WAITING, claims=(candidate, victim, FRESH))


@pytest.mark.parametrize("live", [
    replace(WAITING, the_pool=None),
    replace(WAITING, the_pool=replace(POOL, mirror=False, anchor="new", anchor_uid="u-new")),
    replace(WAITING, the_pool=replace(POOL, mirror=False, anchor_uid="u-x")),
    replace(WAITING, claims=(NEW, FRESH)),
    _with(replace(WAITS, uid="u-x")),
    _with(replace(WAITS, state=ClaimState.DRAINING)),
    _with(replace(WAITS, state=ClaimState.FAILED)),
    _with(replace(WAITS, started_at=NOW - POLICY.ready_timeout)),
    _with(replace(WAITS, started_at=Malformed("x"))),
    _with(replace(WAITS, surge_claim="old")),
    _with(replace(WAITS, surge_claim="lost")),
    _with(victim=replace(NEW, created=STARTED)),
    _with(victim=replace(NEW, pool="web")),
    _with(victim=replace(NEW, deleting_since=NOW)),
    _on(AGENT, WEB),
    replace(WAITING, the_pool=POOL),
    replace(WAITING, pods=(POD,)),
    _on(replace(POD, surge_for="another")),
    _on(replace(POD, name="noderotation-surge-another")),
    replace(UNNAMED, claims=(*UNNAMED.claims[:2], replace(FRESH, registered=True))),
    replace(UNNAMED, claims=(*UNNAMED.claims[:2], replace(FRESH, created=STARTED))),
    replace(UNNAMED, claims=UNNAMED.claims[:2]),
])  # fmt: skip
def test_nothing_is_reaped(live: Live) -> None:
    assert reap_victim(live, REAP) is None


def test_two_that_may_have_been_brought_are_one_too_many() -> None:
    second = replace(FRESH, name="fresh-2", uid="u-fresh-2")
    both = replace(UNNAMED, claims=(*UNNAMED.claims, second))
    assert reap_victim(both, replace(REAP, unregistered=("fresh", "fresh-2"))) is None
