"""The API in trouble: conflicts are retried, then stop; errors raise; nothing is half reported."""

from __future__ import annotations

from typing import Any

from hooks.rotation.reasons import Reason
from tests.support.cases import CLEAR, CLEAR_MIRRORED, CREATED, KEPT, Case, Trouble
from tests.support.scene import (
    anchored,
    delete,
    gone,
    idle,
    later,
    mirrored,
    pending,
    running,
    where,
    without_pods,
)
from tests.support.shortly import claim, event, freeze, unfreeze
from tests.support.shortly import delete as deletes
from tests.support.world import NOW, World, node

OFF_OLD = unfreeze("old", cordoned=True)
OFF_NEW = unfreeze("new")
BEGUN = claim("old", f"state=pending started-at={NOW}")
FROZEN = freeze("old", "old", cordon=True)
LATE = "2026-11-29T20:03:01Z"
ENDED = claim("old", f"state=failed failed-at={LATE} retry-count=1 -started-at -surge-claim")


def _conflict(verb: str, name: str = "", nth: int = 1, error: str = "Conflict") -> Any:
    return {"troubles": (Trouble(verb, name, nth, error),)}


CONFLICTS = (
    Case("conflict-once-on-a-node", "computed again on the live object", anchored(), "3",
         Reason.SURGE_PENDING, writes=(BEGUN, FROZEN), listed=CREATED,
         log=("candidate selected", "placeholder created"), **_conflict("patch nodes")),
    Case("conflict-once-on-a-claim", "computed again on the live object", anchored(), "3",
         Reason.SURGE_PENDING, writes=(BEGUN, FROZEN), listed=CREATED,
         log=("candidate selected", "placeholder created"), **_conflict("patch nodeclaims")),
    Case("conflict-with-an-operators-cordon", "the patch follows what the operator did meanwhile",
         anchored(), "3", Reason.SURGE_PENDING, writes=(BEGUN, freeze("old", "old")),
         listed=CREATED, log=("candidate selected", "placeholder created"),
         troubles=(Trouble("patch nodes", change={
             "nodes": {"node-old": node("old", unschedulable=True)}}),)),
    Case("conflict-for-ever-on-a-node", "three more tries, then stop", anchored(), "stop",
         Reason.CONFLICT, writes=(BEGUN,), look_again=2, **_conflict("patch nodes", nth=0)),
    Case("conflict-for-ever-on-a-claim", "three more tries, then stop", anchored(), "stop",
         Reason.CONFLICT, look_again=2, **_conflict("patch nodeclaims", nth=0)),
    Case("conflict-on-the-delete", "the read that it rested on is old: stop", mirrored(), "stop",
         Reason.CONFLICT, writes=(claim("old", "state=draining"),), listed=KEPT, look_again=2,
         **_conflict("delete nodeclaims")),
    Case("delete-finds-nothing", "somebody was faster", mirrored(), "stop", Reason.CLAIM_GONE,
         writes=(claim("old", "state=draining"),), listed=KEPT, look_again=2,
         **_conflict("delete nodeclaims", error="NotFound")),
    Case("claim-vanishes-at-the-patch", "somebody was faster", anchored(), "stop",
         Reason.CLAIM_GONE, look_again=2, **_conflict("patch nodeclaims", error="NotFound")),
    Case("node-vanishes-at-the-patch", "a Node that is gone needs nothing", anchored(), "3",
         Reason.SURGE_PENDING, writes=(BEGUN,), listed=CREATED,
         log=("candidate selected", "placeholder created"),
         **_conflict("patch nodes", error="NotFound")),
    Case("reap-in-conflict", "in doubt, don't reap; the rollback goes on", without_pods(running()),
         "12", Reason.ROTATION_FAILED, now=LATE, log=("attempt failed",),
         writes=(OFF_NEW, OFF_OLD, ENDED, event("RotationFailed")),
         annotations=CLEAR | {"last-failure-at": LATE}, **_conflict("delete nodeclaims")),
    Case("reap-finds-nothing", "the rollback goes on", without_pods(running()), "12",
         Reason.ROTATION_FAILED, now=LATE, log=("attempt failed",),
         writes=(OFF_NEW, OFF_OLD, ENDED, event("RotationFailed")),
         annotations=CLEAR | {"last-failure-at": LATE},
         **_conflict("delete nodeclaims", error="NotFound")),
    Case("claim-carries-it-already", "a patch that would change nothing isn't sent",
         anchored(), "stop", Reason.STATE_CHANGED, look_again=2, live=pending()),
)  # fmt: skip


def _raises(
    name: str, world: World, verb: str, *writes: str, error: str = "Unavailable", nth: int = 1,
    on: str = "", raises: str = "", **more: Any,
) -> Case:  # fmt: skip
    return Case(f"trouble-{name}", "the hook answers 503; what landed stays, nothing is reported",
                world, "", None, writes=writes, raises=raises or error,
                troubles=(Trouble(verb, on, nth, error),), **more)  # fmt: skip


EXPIRES = where(pending(), lambda w: delete(w.claims[0]))
RAISES = (
    _raises("reading-the-candidates-node", idle(), "get nodes"),
    _raises("reading-the-candidate-for-headroom", idle(), "get nodeclaims"),
    _raises("reading-the-pods-for-headroom", idle(), "list pods"),
    _raises("reading-whether-the-claim-is-gone", gone(), "get nodeclaims"),
    _raises("reading-the-outcome", gone(), "get nodepools"),
    _raises("reading-the-placeholder", mirrored(), "get pods"),
    _raises("reading-the-host", mirrored(), "get nodes"),
    _raises("reading-the-hosts-claim", mirrored(), "get nodeclaims"),
    _raises("reading-the-pool-for-the-claims-write", anchored(), "get nodepools"),
    _raises("reading-the-claim-for-its-write", anchored(), "get nodeclaims"),
    _raises("writing-the-claim", anchored(), "patch nodeclaims"),
    _raises("writing-the-claim-unheard", anchored(), "patch nodeclaims", BEGUN, error="Lost",
            raises="ClusterError"),
    _raises("reading-the-node-for-its-write", anchored(), "get nodes", BEGUN),
    _raises("writing-the-node", anchored(), "patch nodes", BEGUN),
    _raises("writing-the-node-unheard", anchored(), "patch nodes", BEGUN, FROZEN, error="Lost",
            raises="ClusterError"),
    _raises("sizing-the-placeholder", anchored(), "list pods", BEGUN, FROZEN),
    _raises("judging-the-delete", mirrored(), "get nodepools", claim("old", "state=draining"),
            nth=2),
    _raises("deleting", mirrored(), "delete nodeclaims", claim("old", "state=draining")),
    _raises("deleting-unheard", mirrored(), "delete nodeclaims", claim("old", "state=draining"),
            deletes("old"), error="Lost", raises="ClusterError"),
    _raises("out-of-time", anchored(), "patch nodes", BEGUN, error="OutOfTime"),
    _raises("reaping", without_pods(running()), "delete nodeclaims", now=LATE),
    _raises("unfreezing", without_pods(running()), "patch nodes", deletes("new"), OFF_NEW, nth=2,
            now=LATE),
    _raises("failing-the-claim", without_pods(running()), "patch nodeclaims", deletes("new"),
            OFF_NEW, OFF_OLD, now=LATE),
    _raises("after-counting", EXPIRES, "patch nodeclaims", OFF_OLD, event("RotationExpired"),
            log=("rotation expired",)),
    _raises("counting-out-of-time", EXPIRES, "create events", OFF_OLD, error="OutOfTime"),
    Case("conflict-after-counting", "what an Event has counted is told, and the rest isn't",
         EXPIRES, "stop", Reason.CONFLICT, look_again=2, log=("rotation expired",),
         writes=(OFF_OLD, event("RotationExpired")), **_conflict("patch nodeclaims", nth=0)),
)  # fmt: skip


def _unreadable_claim(world: World) -> World:
    return later(world, lambda w: w.claims[0]["status"].update(allocatable={"cpu": "lots"}))


def _unreadable_node(world: World) -> World:
    return later(world, lambda w: w.nodes[0]["status"].update(allocatable={"cpu": "lots"}))


def _unreadable_pool(world: World) -> World:
    return later(world, lambda w: w.pool["spec"].update(limits={"cpu": "lots"}))


UNREADABLE = tuple(
    Case(f"trouble-{name}", "the cluster's fault, not the request's: 503 and not 400", world, "",
         None, live=live, raises="Unreadable", writes=writes)
    for name, world, live, writes in (
        ("with-an-unreadable-claim", anchored(), _unreadable_claim(anchored()), ()),
        ("with-an-unreadable-node", anchored(), _unreadable_node(anchored()), (BEGUN,)),
        ("with-an-unreadable-pool", anchored(), _unreadable_pool(anchored()), ()),
        ("with-an-unreadable-candidate", idle(), _unreadable_claim(idle()), ()),
    )
)  # fmt: skip

EVENTS = (
    Case("event-api-fails", "a failing Event API never fails a pass, and the transition counts",
         gone(), "9", Reason.ROTATION_COMPLETED, writes=(OFF_NEW,), log=("rotation complete",),
         annotations=CLEAR_MIRRORED | {"last-rotation-at": NOW},
         **_conflict("create events", error="Unavailable")),
    Case("event-api-refuses", "neither does one that refuses", EXPIRES, "11",
         Reason.ROTATION_EXPIRED, writes=(OFF_OLD, claim("old", "state=expired -started-at")),
         log=("rotation expired",), annotations=CLEAR,
         **_conflict("create events", error="NotServed")),
    Case("event-created-unheard", "it is there and counts", gone(), "9",
         Reason.ROTATION_COMPLETED, writes=(OFF_NEW, event("RotationCompleted", "NodePool")),
         log=("rotation complete",), annotations=CLEAR_MIRRORED | {"last-rotation-at": NOW},
         **_conflict("create events", error="Lost")),
)  # fmt: skip

CASES = CONFLICTS + RAISES + UNREADABLE + EVENTS
