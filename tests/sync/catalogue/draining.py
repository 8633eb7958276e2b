"""Rows 4, 5, 5b, 5c, 7 and 7b: from the successor that is up to the delete, with all holds."""

from __future__ import annotations

from typing import Any

from hooks import names
from hooks.rotation.reasons import Reason
from tests.support.cases import CREATED, KEPT, SELECTED, UNMIRROR, Case
from tests.support.scene import (
    ANCHOR,
    BROUGHT,
    bound,
    delete,
    draining,
    mirrored,
    named,
    old,
    pool,
    running,
    surge_pod,
    where,
    without_pods,
)
from tests.support.shortly import claim, freeze, unfreeze
from tests.support.shortly import delete as deletes
from tests.support.world import NOW, World, node, nodeclaim, nodepool

HELD = "2026-11-29T23:00:00Z"
DRAINS = ("surge node ready", "drain started")
TAINT = {"key": names.DISRUPTED_TAINT, "effect": "NoSchedule"}
MIRROR = {
    "active-rotation-state": "draining",
    "draining-at": NOW,
    "surge-wait": "2m0s",
}


READY = (
    Case("surge-is-ready", "row 4: the mirror first, alone", running(), "4", Reason.SURGE_READY,
         annotations=MIRROR, listed=KEPT),
    Case("surge-is-ready-at-once", "row 4: surge-claim and the host's freeze go before the mirror",
         bound("Running"), "4", Reason.SURGE_READY, annotations=MIRROR, listed=KEPT, log=SELECTED,
         writes=(claim("old", "surge-claim=new"), freeze("old", "new"))),
    Case("surge-is-ready-without-a-start", "an unreadable start gives no surge-wait",
         where(running(), old(started_at="?")), "4", Reason.SURGE_READY, listed=KEPT,
         annotations={"active-rotation-state": "draining", "draining-at": NOW},
         log=("malformed state",)),
    Case("drains", "row 5: taken, then deleted, and the placeholder goes", mirrored(), "5",
         Reason.DRAIN_STARTED, writes=(claim("old", "state=draining"), deletes("old")), log=DRAINS),
    Case("drains-without-a-surge-wait", "the log line leaves out what isn't known",
         where(mirrored(), pool(surge_wait=None)), "5", Reason.DRAIN_STARTED,
         writes=(claim("old", "state=draining"), deletes("old")), log=DRAINS),
    Case("drains-while-suspended-and-excluded", "suspend, dryRun and exclusions gate starts only",
         mirrored(suspend=True, dryRun=True, exclusions=[
             {"start": "2026-11-29T19:00:00Z", "end": HELD, "reason": "the fair"}]), "5",
         Reason.DRAIN_STARTED, writes=(claim("old", "state=draining"), deletes("old")), log=DRAINS),
    Case("drains-on-a-host-without-marks", "row 5: the placeholder was made again elsewhere",
         where(mirrored(), lambda w: w.nodes.__setitem__(2, node("new", created=BROUGHT))), "5",
         Reason.DRAIN_STARTED, log=DRAINS, writes=(
             freeze("old", "new"), claim("old", "state=draining"), deletes("old"))),
    Case("drains-on-what-is-live", "the request is older than the placeholder", without_pods(
        mirrored()), "5", Reason.DRAIN_STARTED, live=mirrored(),
         writes=(claim("old", "state=draining"), deletes("old")), log=DRAINS),
    Case("drains-outside-the-window", "a rotation in flight goes on past the window's end",
         mirrored(), "5", Reason.DRAIN_STARTED, now="2026-11-29T22:00:01Z",
         writes=(claim("old", "state=draining"), deletes("old")), log=DRAINS),
)  # fmt: skip


def _back(name: str, why: str, world: World, reason: Reason, **more: Any) -> Case:
    more = {"annotations": UNMIRROR, "listed": KEPT} | more
    return Case(name, why, world, "5b", reason, **more)


HOLDS = (
    _back("mirrored-then-frozen", "row 5b: a freeze before the delete takes the mirror back",
          where(mirrored(), pool(freeze=HELD)), Reason.FROZEN),
    _back("mirrored-then-aborted", "row 5b: an abort before the delete takes the mirror back",
          where(mirrored(), pool(abort="old")), Reason.ABORTED),
    _back("mirrored-then-preempted", "row 5b: the placeholder is made again",
          without_pods(mirrored()), Reason.PLACEHOLDER_MISSING, listed=CREATED,
          log=("placeholder created",)),
    _back("mirrored-then-preempted-while-frozen", "row 5b: not made again while frozen",
          where(without_pods(mirrored()), pool(freeze=HELD)), Reason.FROZEN, listed="none"),
    _back("mirrored-then-terminating", "row 5b: a terminating placeholder is not listed",
          where(mirrored(), lambda w: delete(surge_pod(w))), Reason.PLACEHOLDER_NOT_RUNNING,
          listed="none"),
    _back("mirrored-then-host-leaves", "row 5b: the placeholder is dropped, to be made elsewhere",
          where(mirrored(), lambda w: delete(named(w.claims, "new"))), Reason.HOST_LEAVING,
          listed="none"),
    _back("mirrored-then-host-cordoned", "row 5b: an operator cordoned the host",
          where(mirrored(), lambda w: named(w.nodes, "node-new")["spec"].update(
              unschedulable=True)), Reason.HOST_UNSCHEDULABLE),
    Case("aborts-another-claim", "an abort that names another claim is none",
         where(mirrored(), pool(abort="young")), "5", Reason.DRAIN_STARTED,
         writes=(claim("old", "state=draining"), deletes("old")), log=DRAINS),
    Case("governance-came-back", "row 5c: mirrored, and the claim's state was cleared",
         where(mirrored(), lambda w: w.claims.__setitem__(0, nodeclaim("old"))), "5c",
         Reason.RETRYING, annotations=UNMIRROR, listed=KEPT),
    Case("governance-came-back-without-a-placeholder", "row 5c: made again as in row 3",
         where(without_pods(mirrored()), lambda w: w.claims.__setitem__(0, nodeclaim("old"))),
         "5c", Reason.RETRYING, annotations=UNMIRROR, listed=CREATED, log=("placeholder created",)),
)  # fmt: skip


def _step_back(name: str, why: str, world: World, reason: Reason, **more: Any) -> Case:
    more = {"annotations": UNMIRROR, "listed": KEPT} | more
    return Case(name, why, world, "7b", reason, writes=(claim("old", "state=pending"),), **more)


CRASHES = (
    Case("died-between-taking-and-deleting", "row 7: the delete is sent again", draining(), "7",
         Reason.DRAIN_STARTED, writes=(deletes("old"),), log=DRAINS),
    Case("died-and-lost-the-hosts-marks", "row 7: the host is frozen before the delete",
         where(draining(), lambda w: w.nodes.__setitem__(2, node("new", created=BROUGHT))), "7",
         Reason.DRAIN_STARTED, writes=(freeze("old", "new"), deletes("old")), log=DRAINS),
    Case("unreadable-state-of-a-claim-that-goes", "held until it is gone: rows 9 and 10 follow",
         where(running(), old(state="?"), pool(abort="old"), lambda w: delete(w.claims[0])),
         "stop", Reason.UNKNOWN_STATE, listed=KEPT, log=("malformed state",)),
    Case("died-and-lost-its-mirror", "row 7: the mirror is restored first",
         where(draining(), lambda w: setattr(w, "pool", nodepool(ANCHOR))), "7",
         Reason.MIRROR_RESTORED, annotations=MIRROR, listed=KEPT),
    Case("died-and-lost-half-its-mirror", "row 7: draining-at and surge-wait are write-once",
         where(draining(), pool(active_rotation_state=None)), "7", Reason.MIRROR_RESTORED,
         annotations={"active-rotation-state": "draining"}, listed=KEPT),
    _step_back("died-then-frozen", "row 7b: nothing drains yet, so a freeze still holds it",
               where(draining(), pool(freeze=HELD)), Reason.FROZEN),
    _step_back("died-then-aborted", "row 7b", where(draining(), pool(abort="old")), Reason.ABORTED),
    _step_back("died-then-preempted", "row 7b: no delete without a successor",
               without_pods(draining()), Reason.PLACEHOLDER_MISSING, listed=CREATED,
               log=("placeholder created",)),
    _step_back("died-then-host-left", "row 7b: the placeholder is dropped",
               where(draining(), lambda w: named(w.nodes, "node-new")["spec"].update(
                   taints=[TAINT])), Reason.HOST_LEAVING, listed="none"),
    Case("died-and-the-pool-goes", "row 0 comes before the delete",
         where(draining(), lambda w: delete(w.pool)), "0", Reason.POOL_DELETING,
         writes=(unfreeze("new"), unfreeze("old", cordoned=True))),
    Case("unreadable-state-in-flight", "held: no row says what to do with it",
         where(running(), old(state="asleep")), "stop", Reason.UNKNOWN_STATE, listed=KEPT,
         look_again=2, log=("malformed state",)),
)  # fmt: skip

CASES = READY + HOLDS + CRASHES
