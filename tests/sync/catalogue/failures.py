"""Rows 12, 14 and 15, and the reap: how an attempt fails, is counted, and is tried again."""

from __future__ import annotations

from typing import Any

from hooks import names
from hooks.rotation.outcomes import event_name
from hooks.rotation.reasons import Reason
from tests.support.cases import CLEAR, KEPT, Case
from tests.support.scene import (
    BROUGHT,
    FAILED,
    FAILED_AT,
    STARTED,
    bound,
    delete,
    failed,
    later,
    listed,
    named,
    old,
    pending,
    pool,
    running,
    surge_pod,
    where,
    without_pods,
)
from tests.support.shortly import claim, event, unfreeze
from tests.support.shortly import delete as deletes
from tests.support.world import DUE, NOW, World, node, nodeclaim, uid_of, workload

LATE = "2026-11-29T20:03:01Z"
"""Just over readyTimeout (5m) after STARTED."""
FAILS = f"state=failed failed-at={LATE} retry-count=1 -started-at"
COUNTED = event("RotationFailed")
POOL_UID = "75ff670b-bc1f-4934-8e3a-c3b7e5ee519a"
OFF_OLD = unfreeze("old", cordoned=True)
OFF_NEW = unfreeze("new")


def _fails(
    name: str, why: str, world: World, *writes: str, aborted: bool = False, **more: Any
) -> Case:
    more = {
        "annotations": CLEAR | {"last-failure-at": LATE} | ({"abort": None} if aborted else {}),
        "log": ("attempt failed",),
        "now": LATE,
    } | more
    reason = Reason.ABORTED if aborted else Reason.ROTATION_FAILED
    return Case(name, why, world, "12", reason, writes=writes, **more)


TIMEOUTS = (
    Case("timed-out", "row 12, first pass: the placeholder goes, and nothing else happens",
         running(), "12", Reason.WITHDRAWING, now=LATE, look_again=2, detail="RotationFailed"),
    Case("timed-out-before-the-placeholder-was-bound", "row 12, first pass", listed(), "12",
         Reason.WITHDRAWING, now=LATE, look_again=2, detail="RotationFailed"),
    Case("timed-out-as-the-placeholder-was-bound", "the surge-claim is resolved while it can be",
         bound(), "12", Reason.WITHDRAWING, now=LATE, look_again=2,
         writes=(claim("old", "surge-claim=new"),)),
    Case("aborted", "an abort is exactly like a timeout", where(running(), pool(abort="old")),
         "12", Reason.WITHDRAWING, look_again=2, detail="Aborted"),
    _fails("rolled-back", "row 12: reap, unfreeze, failed, counted", without_pods(running()),
           deletes("new"), OFF_NEW, OFF_OLD, claim("old", FAILS + " -surge-claim"), COUNTED),
    _fails("aborted-before-there-was-a-placeholder", "nothing to withdraw: failed at once",
           where(pending(), pool(abort="old")), OFF_OLD, claim("old", FAILS), COUNTED,
           aborted=True),
    _fails("rolled-back-by-an-abort", "row 12: the abort is consumed",
           where(without_pods(running()), pool(abort="old")),
           deletes("new"), OFF_NEW, OFF_OLD, claim("old", FAILS + " -surge-claim"), COUNTED,
           aborted=True),
    _fails("rolled-back-beside-a-terminating-placeholder",
           "one that terminates on a dead host may never go, so it doesn't count",
           where(running(), lambda w: delete(surge_pod(w))),
           deletes("new"), OFF_NEW, OFF_OLD, claim("old", FAILS + " -surge-claim"), COUNTED),
    _fails("rolled-back-with-nothing-brought", "nothing to reap", pending(), OFF_OLD,
           claim("old", FAILS), COUNTED),
    _fails("rolled-back-under-a-freeze", "a freeze that outlasts readyTimeout ends in a rollback",
           where(pending(), pool(freeze="2026-11-30T20:00:00Z")), OFF_OLD, claim("old", FAILS),
           COUNTED),
    _fails("rolled-back-the-third-time", "retry-count goes on",
           where(pending(), old(retry_count="2")), OFF_OLD,
           claim("old", FAILS.replace("=1", "=3")), COUNTED),
    _fails("rolled-back-with-an-unreadable-count", "an unreadable count is the longest backoff",
           where(pending(), old(retry_count="some")), OFF_OLD,
           claim("old", FAILS.replace("=1", "=5")), COUNTED,
           log=("malformed state", "attempt failed")),
    _fails("rolled-back-for-the-millionth-time", "counting ends where it can still be read",
           where(pending(), old(retry_count="999999999")), OFF_OLD,
           claim("old", FAILS.replace("=1", "=999999")), COUNTED),
    _fails("rolled-back-from-an-unreadable-state", "nothing else leads out of it",
           where(pending(), old(state="?")), OFF_OLD, claim("old", FAILS), COUNTED,
           log=("malformed state", "attempt failed")),
    Case("unreadable-state-is-withdrawn", "row 12, first pass", where(running(), old(state="?"),
         pool(abort="old")), "12", Reason.WITHDRAWING, look_again=2, detail="Aborted",
         log=("malformed state",)),
    _fails("rolled-back-and-counted-before", "an Event that is there counts nothing",
           pending(), OFF_OLD, claim("old", FAILS), log=(),
           events=(event_name(POOL_UID, uid_of("old"), "failure", "1"),)),
    _fails("rolled-back-on-a-node-that-is-gone", "a Node that is gone needs nothing",
           where(pending(), lambda w: w.nodes.pop(0), lambda w: w.pods.clear()),
           claim("old", FAILS), COUNTED, unusual=frozenset({"claim without node"})),
)  # fmt: skip


def _spared(name: str, why: str, world: World, *writes: str, **more: Any) -> Case:
    """A rollback that doesn't reap."""
    return _fails(f"not-reaped-{name}", f"in doubt, don't reap: {why}", world, *writes, **more)


def _alien(world: World) -> None:
    alien = nodeclaim("alien", created=BROUGHT, registered=False)
    alien["metadata"]["labels"][names.NODEPOOL_LABEL] = "web"
    world.claims.append(alien)


ENDED = claim("old", FAILS + " -surge-claim")
REAPS = (
    _fails("reaps-the-one-that-is-not-registered", "no surge-claim: the one brought since",
           where(pending(), lambda w: w.claims.append(
               nodeclaim("fresh", created=BROUGHT, registered=False, ready=False))),
           deletes("fresh"), OFF_OLD, claim("old", FAILS), COUNTED),
    _spared("two-that-are-not-registered", "two may have been brought", where(
        pending(),
        lambda w: w.claims.extend(nodeclaim(f"fresh-{n}", created=BROUGHT, registered=False,
                                            ready=False) for n in (1, 2))),
            OFF_OLD, claim("old", FAILS), COUNTED),
    _spared("registered-meanwhile", "live, it has a Node by now",
            where(pending(), lambda w: w.claims.append(
                nodeclaim("fresh", created=BROUGHT, registered=False, ready=False))),
            OFF_OLD, claim("old", FAILS), COUNTED,
            live=where(pending(), lambda w: w.claims.append(nodeclaim("fresh", created=BROUGHT)),
                       lambda w: w.nodes.append(node("fresh", created=BROUGHT)))),
    _spared("gone-meanwhile", "live, it is gone",
            where(pending(), lambda w: w.claims.append(
                nodeclaim("fresh", created=BROUGHT, registered=False, ready=False))),
            OFF_OLD, claim("old", FAILS), COUNTED, live=pending()),
    _spared("older-than-the-attempt", "a node that absorbed it was there before",
            where(without_pods(running()),
                  lambda w: named(w.claims, "new")["metadata"].update(creationTimestamp=DUE)),
            OFF_NEW, OFF_OLD, ENDED, COUNTED),
    _spared("as-old-as-the-attempt", "created after started-at, strictly",
            where(without_pods(running()),
                  lambda w: named(w.claims, "new")["metadata"].update(creationTimestamp=STARTED)),
            OFF_NEW, OFF_OLD, ENDED, COUNTED),
    _spared("the-candidate-itself", "a surge-claim that names the candidate",
            where(pending(), old(surge_claim="old")), OFF_OLD, ENDED, COUNTED),
    _spared("a-claim-that-is-gone", "the surge-claim is gone",
            where(pending(), old(surge_claim="lost")), OFF_OLD, ENDED, COUNTED),
    _spared("a-claim-that-goes-already", "the surge-claim is being deleted",
            where(without_pods(running()), lambda w: delete(named(w.claims, "new"))),
            OFF_NEW, OFF_OLD, ENDED, COUNTED),
    _spared("a-claim-of-another-pool", "the surge-claim belongs to another pool",
            where(pending(), old(surge_claim="alien")), OFF_OLD, ENDED, COUNTED,
            live=where(pending(), old(surge_claim="alien"), _alien)),
    _spared("a-node-with-workload", "somebody lives on it by now",
            where(without_pods(running()), lambda w: w.pods.append(workload("web-9", "new"))),
            OFF_NEW, OFF_OLD, ENDED, COUNTED),
    *(Case(f"not-reaped-{name}", "a stale pass reaps nothing, and stops at the claim's write",
           without_pods(running()), "stop", reason, now=LATE, look_again=2,
           live=later(without_pods(running()), change), unusual=unusual)
      for name, change, reason, unusual in (
          ("the-anchor-names-another", pool(active_rotation="young", active_rotation_uid=None),
           Reason.ANCHOR_ELSEWHERE, frozenset()),
          ("the-pool-is-gone", lambda w: w.pool["metadata"].update(name="another"),
           Reason.POOL_GONE, frozenset()),
          ("the-candidate-is-gone", lambda w: w.claims.pop(0), Reason.CLAIM_GONE,
           frozenset({"node without claim"})),
          ("the-candidate-is-a-namesake", lambda w: w.claims[0]["metadata"].update(
              uid=uid_of("twin")), Reason.CLAIM_GONE, frozenset()),
          ("the-candidate-drains", old(state="draining"), Reason.STATE_CHANGED, frozenset()),
          ("the-candidate-began-anew", old(started_at="2026-11-29T20:02:00Z"),
           Reason.STATE_CHANGED, frozenset()),
      )),
    _spared("as-the-placeholder-is-still-there",
            "only an answer that was applied makes the placeholder go: a body may lie",
            without_pods(running()), OFF_NEW, OFF_OLD, ENDED, COUNTED, live=running()),
    _spared("as-the-mirror-came", "a newer pass has set the mirror", without_pods(running()),
            OFF_NEW, OFF_OLD, ENDED, COUNTED,
            live=later(without_pods(running()), pool(active_rotation_state="draining"))),
    _fails("not-reaped-the-abort-was-withdrawn", "in doubt, don't reap: the live pool has no abort",
           where(without_pods(running()), pool(abort="old")), OFF_NEW, OFF_OLD,
           ENDED.replace(LATE, NOW), COUNTED, aborted=True, now=NOW, live=without_pods(running()),
           annotations=CLEAR | {"abort": None, "last-failure-at": NOW}),
    Case("not-reaped-without-a-start", "in doubt, don't reap: nothing tells what came after it",
         where(without_pods(running()), old(started_at="?"), pool(abort="old")), "12",
         Reason.ABORTED, now=LATE, log=("malformed state", "attempt failed"),
         writes=(OFF_NEW, OFF_OLD, ENDED, COUNTED),
         annotations=CLEAR | {"last-failure-at": LATE, "abort": None}),
    _fails("reaps-a-node-with-what-goes-with-it",
           "DaemonSet, mirror and finished Pods and the placeholder don't count",
           where(without_pods(running()),
                 lambda w: w.pods.append(workload("done", "new", kind="Job")),
                 lambda w: w.pods[-1]["status"].update(phase="Succeeded"),
                 lambda w: w.pods.append(workload("static", "new", kind="Node")),
                 lambda w: w.pods[-1]["metadata"].update(
                     annotations={"kubernetes.io/config.mirror": "x"})),
           deletes("new"), OFF_NEW, OFF_OLD, ENDED, COUNTED,
           live=where(running(), lambda w: delete(surge_pod(w)))),
)  # fmt: skip

RETRIES = (
    Case("tries-again", "row 14: gates, backoff and headroom pass", failed(), "14",
         Reason.RETRYING, writes=(event("RotationFailed"), claim(
             "old", "state=pending started-at=2026-11-29T20:00:00Z")),
         log=("attempt failed", "candidate selected")),
    Case("tries-again-and-was-counted", "row 14: last-failure-at says that it was counted",
         where(failed(), pool(last_failure_at=FAILED_AT)), "14", Reason.RETRYING,
         writes=(claim("old", "state=pending started-at=2026-11-29T20:00:00Z"),),
         log=("candidate selected",)),
    Case("tries-again-keeping-its-placeholder", "row 14 keeps what is there",
         where(listed(), lambda w: w.claims.__setitem__(0, nodeclaim("old", FAILED)),
               pool(last_failure_at=FAILED_AT)), "14", Reason.RETRYING, listed=KEPT,
         writes=(claim("old", "state=pending started-at=2026-11-29T20:00:00Z"),),
         log=("candidate selected",)),
    Case("rests-while-backing-off", "row 15: the pool goes on, the pause isn't voided",
         where(failed(), old(failed_at="2026-11-29T19:50:00Z"),
               lambda w: w.nodes.__setitem__(0, node("old", frozen_for="old", cordoned=True))),
         "15", Reason.BACKING_OFF, writes=(OFF_OLD, event("RotationFailed")),
         log=("attempt failed",),
         annotations=CLEAR | {"last-failure-at": "2026-11-29T19:50:00Z"}),
    Case("rests-and-consumes-an-abort", "row 15: CLEAR takes the abort along",
         where(failed(suspend=True), pool(last_failure_at=FAILED_AT, abort="old")), "15",
         Reason.SUSPENDED, annotations=CLEAR | {"abort": None}),
    Case("rests-after-row-18", "what row 18 failed was no attempt: nothing to count",
         where(failed(suspend=True), old(retry_count=None)), "15", Reason.SUSPENDED,
         annotations=CLEAR | {"last-failure-at": FAILED_AT}),
    Case("rests-with-a-failure-ahead-of-the-clock", "it must not shut the pool's gate for long",
         where(failed(), old(failed_at="2027-01-01T00:00:00Z")), "15", Reason.BACKING_OFF,
         writes=(event("RotationFailed"),), log=("attempt failed",),
         annotations=CLEAR | {"last-failure-at": "2026-11-29T20:00:00Z"},
         unusual=frozenset({"stamp out of order"})),
    Case("rests-with-a-later-failure", "row 15: last-failure-at is the later of the two",
         where(failed(), pool(last_failure_at="2026-11-29T19:55:00Z")), "15", Reason.FAILURE_PAUSE,
         annotations=CLEAR),
    Case("rests-with-an-unreadable-pause", "row 15: an unreadable last-failure-at stays",
         where(failed(), pool(last_failure_at="?")), "15", Reason.MALFORMED_STATE,
         annotations=CLEAR, log=("malformed state",)),
    Case("rests-with-an-unreadable-failure", "row 15: an unreadable failed-at keeps it shut",
         where(failed(), old(failed_at="?")), "15", Reason.BACKING_OFF, annotations=CLEAR,
         log=("malformed state",)),
    Case("rests-without-a-time-of-failure", "row 15: nothing to pause from",
         where(failed(suspend=True), old(failed_at=None)), "15", Reason.SUSPENDED,
         annotations=CLEAR),
    Case("rests-with-an-unreadable-count", "row 15 counts it as the longest backoff",
         where(failed(), old(retry_count="?")), "15", Reason.BACKING_OFF,
         writes=(event("RotationFailed"),), log=("malformed state", "attempt failed"),
         annotations=CLEAR | {"last-failure-at": FAILED_AT}),
    Case("rests-outside-the-window", "row 14 needs the start gates", failed(), "15",
         Reason.OUTSIDE_WINDOW, now="2026-11-29T22:00:00Z", writes=(event("RotationFailed"),),
         log=("attempt failed",), annotations=CLEAR | {"last-failure-at": FAILED_AT}),
    Case("rests-without-headroom", "row 14 needs headroom",
         where(failed(), lambda w: w.pool["spec"].update({"limits": {"cpu": "13"}}),
               pool(last_failure_at=FAILED_AT)), "15", Reason.NO_HEADROOM, annotations=CLEAR,
         told=("NoHeadroom",)),
    Case("rests-in-a-pool-that-became-static", "a static pool can't surge",
         where(failed(), lambda w: w.pool["spec"].update({"replicas": 1}),
               pool(last_failure_at=FAILED_AT)), "15", Reason.STATIC_NODE_POOL, annotations=CLEAR,
         told=("StaticNodePool",)),
    Case("tries-again-with-its-node-gone", "no Node, no size: headroom can't say no",
         where(failed(), pool(last_failure_at=FAILED_AT), lambda w: w.nodes.pop(0),
               lambda w: w.pods.clear()), "14", Reason.RETRYING,
         writes=(claim("old", "state=pending started-at=2026-11-29T20:00:00Z"),),
         log=("candidate selected",), unusual=frozenset({"claim without node"})),
)  # fmt: skip

CASES = TIMEOUTS + REAPS + RETRIES
