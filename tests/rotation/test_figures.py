"""The figures of a pool, whole, for worlds whose figures are counted by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hooks import names
from hooks.cluster.reader import LiveReader
from hooks.protocol.hook import parse_sync
from hooks.rotation.decision import Decision, Figures
from hooks.rotation.model import Malformed
from hooks.rotation.phases import decide
from hooks.sync.observe import observe
from tests.support.live import Live
from tests.support.scene import deleted, idle, mark, named, pending, pool, where
from tests.support.world import World, nodeclaim, nodepool, policy

NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)
"""In the window of every day from 18:00 to 22:00."""
# E 336h, tGP 2m, K 2, P 24h, D 4h, t_rot 9m, t_rot_est 7m, cooldownAfter 10m.
IDLE = Figures(
    candidates=1,
    window_active=True,
    age_threshold=timedelta(hours=287, minutes=51),
    chances=2,
    capacity=15,
    t_rot_est=timedelta(minutes=7),
    t_rot=timedelta(minutes=9),
    period=timedelta(days=1),
    next_window=NOW + timedelta(hours=22),
    slack=timedelta(hours=24),
)
UNGOVERNED = Figures(slack=timedelta(hours=24))


def decided(world: World, now: datetime = NOW, opted_out: frozenset[str] = frozenset()) -> Decision:
    body = json.dumps(world.request()).encode()
    obs = observe(parse_sync(body), now, suspended=False, namespace=names.NAMESPACE,
                  image="pause", opted_out=opted_out)  # fmt: skip
    return decide(obs, LiveReader(Live(world.live()), names.NAMESPACE))


def _opt_out(world: World) -> None:
    node = named(world.nodes, "node-old")
    node["metadata"]["annotations"][names.DO_NOT_DISRUPT] = "true"


def _endless(world: World) -> None:
    world.claims = [
        nodeclaim(claim["metadata"]["name"], expireAfter="Never") for claim in world.claims
    ]
    world.pool = nodepool(expireAfter="Never")


def _retried(*counts: str) -> Any:
    def change(world: World) -> None:
        for claim, count in zip(world.claims, counts, strict=True):
            mark(claim, retry_count=count)

    return change


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (idle(), IDLE),
        (where(idle(), _opt_out), replace(IDLE, candidates=0)),
        (pending(), replace(IDLE, candidates=0, in_progress=True)),
        (where(idle(), _retried("3", "1")), replace(IDLE, retry_count=3)),
        (where(idle(), _retried("many", "1")), replace(IDLE, retry_count=1)),
        (where(idle(), pool(freeze="2026-11-29T23:00:00Z")),
         replace(IDLE, freeze_until=NOW + timedelta(hours=3))),
        (where(idle(), pool(freeze="?")), replace(IDLE, freeze_until=Malformed("?"))),
        (where(idle(), lambda w: w.claims.clear(), lambda w: w.nodes.clear(),
               lambda w: w.pods.clear()),
         replace(IDLE, candidates=0, slack=timedelta(0))),
        (where(idle(), _endless),
         replace(IDLE, candidates=0, age_threshold=timedelta(0), chances=0, slack=timedelta(0))),
        (where(idle(), lambda w: w.claims.append(nodeclaim("brief", expireAfter="40h"))),
         replace(IDLE, candidates=2, short_lead=1, slack=-timedelta(hours=272))),
        # Karpenter expires nodes whether a policy governs them or not.
        (where(idle(), lambda w: w.policies.clear()), UNGOVERNED),
        (where(idle(), lambda w: w.policies.append(policy("rival"))),
         replace(UNGOVERNED, conflict=True)),
        (where(pending(), lambda w: w.policies.clear()), replace(UNGOVERNED, in_progress=True)),
        (idle(minRotationChances="two"), replace(UNGOVERNED, conflict=True)),
    ],
)  # fmt: skip
def test_what_a_pool_shows(world: World, expected: Figures) -> None:
    assert decided(world).figures == expected


def test_a_node_known_to_be_opted_out_is_no_candidate() -> None:
    uid = next(claim["metadata"]["uid"] for claim in idle().claims)
    assert decided(idle(), opted_out=frozenset({uid})).figures.candidates == 0


def test_outside_the_window_candidates_are_counted_all_the_same() -> None:
    shown = decided(idle(), NOW + timedelta(hours=3)).figures
    later = replace(IDLE, window_active=False, next_window=NOW + timedelta(hours=22))
    assert shown == replace(later, slack=timedelta(hours=21))


def test_a_drain_is_stuck_when_the_pass_says_so() -> None:
    since = datetime(2026, 11, 29, 19, 59, 10, tzinfo=UTC)
    stuck = [decided(deleted(), since + timedelta(seconds=after)).figures.drain_stuck
             for after in (240, 241)]  # fmt: skip
    assert stuck == [False, True]
