"""Rows 0, 8, 9, 10, 11, 16 and 17: how a rotation ends, or hangs on."""

from __future__ import annotations

from typing import Any

from hooks.rotation.outcomes import event_name
from hooks.rotation.reasons import Reason
from tests.support.cases import CLEAR, CLEAR_MIRRORED, Case
from tests.support.scene import (
    ANCHOR,
    DELETED,
    FALLBACK,
    anchored,
    delete,
    deleted,
    draining,
    failed,
    fallback,
    gone,
    idle,
    mirrored,
    old,
    pending,
    pool,
    running,
    where,
)
from tests.support.shortly import claim, event, unfreeze
from tests.support.world import NOW, World, node, nodeclaim, nodepool, policy, uid_of

POOL_UID = "75ff670b-bc1f-4934-8e3a-c3b7e5ee519a"
OFF_OLD = unfreeze("old", cordoned=True)
OFF_NEW = unfreeze("new")
COMPLETED = event("RotationCompleted", "NodePool")
EXPIRED = event("RotationExpired")
COOLS = CLEAR_MIRRORED | {"last-rotation-at": NOW}
TERMINAL = event_name(POOL_UID, uid_of("old"), "terminal")

DRAINS = (
    Case("karpenter-drains", "row 8: the gate stays held, nothing is written", deleted(), "8",
         Reason.DRAINING, look_again=60),
    Case("karpenter-drains-and-the-mirror-was-lost", "row 8: the mirror is re-asserted",
         where(deleted(), lambda w: setattr(w, "pool", nodepool(ANCHOR))), "8", Reason.DRAINING,
         annotations={"active-rotation-state": "draining", "draining-at": DELETED}),
    Case("karpenter-drains-and-half-the-mirror-was-lost", "row 8: draining-at is write-once",
         where(deleted(), pool(active_rotation_state=None)), "8", Reason.DRAINING,
         annotations={"active-rotation-state": "draining"}),
    Case("karpenter-drains-for-tgp-and-buffer", "stuck when older than 2m + 2m, strictly",
         deleted(), "8", Reason.DRAINING, now="2026-11-29T20:03:10Z"),
    Case("drain-looks-stuck-in-a-moment", "the next look is when it would be stuck", deleted(),
         "8", Reason.DRAINING, now="2026-11-29T20:02:50Z", look_again=20),
    Case("drain-is-stuck", "row 8: said, and the gate stays held", deleted(), "8",
         Reason.DRAIN_STUCK, now="2026-11-29T20:03:11Z", log=("drain stuck",)),
    Case("drain-without-a-grace-period", "tGP unset counts as 1h",
         where(deleted(), lambda w: w.claims[0]["spec"].pop("terminationGracePeriod")), "8",
         Reason.DRAINING, now="2026-11-29T20:30:00Z"),
    Case("drain-with-an-endless-grace-period", "a bound beyond the calendar is no edge",
         where(deleted(), lambda w: w.claims[0]["spec"].update(
             terminationGracePeriod="2500000h")), "8", Reason.DRAINING),
    Case("karpenter-drains-an-ungoverned-pool", "row 8 comes before row 17",
         where(deleted(), lambda w: w.policies.clear()), "8", Reason.DRAINING),
    Case("karpenter-drains-under-a-freeze", "aborting mid-drain is unsafe",
         where(deleted(), pool(freeze="2026-11-30T00:00:00Z", abort="old")), "8",
         Reason.DRAINING),
    Case("karpenter-drains-and-the-placeholder-is-still-there", "row 8 lists no placeholder",
         where(draining(), lambda w: delete(w.claims[0])), "8", Reason.DRAINING),
)  # fmt: skip


def _namesake() -> Any:
    twin = nodeclaim("old", created=NOW)
    twin["metadata"]["uid"] = uid_of("another old")
    return twin


def _done(name: str, why: str, world: World, **more: Any) -> Case:
    more = {"writes": (OFF_NEW, COMPLETED), "annotations": COOLS,
            "log": ("rotation complete",)} | more  # fmt: skip
    return Case(name, why, world, "9", Reason.ROTATION_COMPLETED, **more)


GONE = (
    _done("completed", "row 9: unfreeze, count, cooldown, CLEAR", gone()),
    _done("completed-with-leftovers-of-an-abort", "CLEAR takes the abort along",
          where(gone(), pool(abort="old")), annotations=COOLS | {"abort": None}),
    _done("completed-and-answered-before", "the same Event counts once", gone(), log=(),
          events=(TERMINAL,), writes=(OFF_NEW,)),
    _done("completed-with-a-namesake", "another UID is another claim: ours is gone",
          where(gone(), lambda w: w.claims.append(_namesake()),
                lambda w: w.nodes.append(node("old", created=NOW)))),
    _done("completed-although-the-request-shows-no-claims-yet", "gone is what a live read says",
          where(gone(), lambda w: w.claims.clear()), live=gone()),
    _done("completed-with-unreadable-times", "the log line leaves out what can't be read",
          where(gone(), pool(draining_at="?", surge_wait="?")),
          log=("malformed state", "rotation complete")),
    _done("completed-fallback", "row 9: the pass that deleted it may have died before it said so",
          where(gone(), lambda w: setattr(w, "pool", nodepool(FALLBACK))),
          annotations=CLEAR | {"rotation-mode": None, "active-rotation-state": None,
                               "draining-at": None, "last-rotation-at": NOW},
          told=("ForcefulFallback",)),
    _done("completed-fallback-after-a-long-drain",
          "row 9: what API servers have forgotten isn't told again",
          where(gone(), lambda w: setattr(w, "pool", nodepool(
              FALLBACK | {"draining-at": "2026-11-29T19:29:59Z"}))),
          annotations=CLEAR | {"rotation-mode": None, "active-rotation-state": None,
                               "draining-at": None, "last-rotation-at": NOW}),
    _done("completed-in-an-ungoverned-pool", "row 9 comes before row 17",
          where(gone(), lambda w: w.policies.clear())),
    Case("still-there-though-the-request-doesnt-show-it", "live, the claim is there: not gone",
         where(deleted(), lambda w: w.claims.pop(0)), "8", Reason.DRAINING, live=deleted()),
    Case("vanished-before-it-was-mirrored", "row 10: expired, no cooldown",
         where(gone(), lambda w: setattr(w, "pool", nodepool(ANCHOR))), "10",
         Reason.ROTATION_EXPIRED, writes=(OFF_NEW, EXPIRED), annotations=CLEAR,
         log=("rotation expired",)),
    Case("vanished-without-a-trace", "kured 847: the lock names a claim that is gone",
         where(idle(), lambda w: setattr(w, "pool", nodepool({"active-rotation": "long-gone"}))),
         "10", Reason.ROTATION_EXPIRED, writes=(EXPIRED,), annotations={"active-rotation": None},
         log=("rotation expired",)),
    Case("vanished-in-fallback-mode", "a pool whose hook was down: the mirror says success",
         where(fallback(), lambda w: w.claims.pop(0), lambda w: w.nodes.pop(0),
               lambda w: w.pods.clear()), "9", Reason.ROTATION_COMPLETED,
         writes=(COMPLETED,), log=("rotation complete",), told=("ForcefulFallback",),
         annotations=CLEAR | {"rotation-mode": None, "active-rotation-state": None,
                              "draining-at": None, "last-rotation-at": NOW}),
)  # fmt: skip


def _expires(name: str, why: str, world: World, *writes: str, **more: Any) -> Case:
    more = {"annotations": CLEAR, "log": ("rotation expired",)} | more
    return Case(name, why, world, "11", Reason.ROTATION_EXPIRED, writes=writes, **more)


ENDED = claim("old", "state=expired -started-at")
EXPIRING = (
    _expires("expires-before-it-began", "row 11: nothing was written yet",
             where(anchored(), lambda w: delete(w.claims[0])), EXPIRED,
             claim("old", "state=expired")),
    _expires("expires-while-it-waits", "row 11: the Event comes before the claim's write",
             where(pending(), lambda w: delete(w.claims[0])), OFF_OLD, EXPIRED, ENDED),
    _expires("expires-while-the-surge-runs", "row 11: the host is unfrozen too",
             where(running(), lambda w: delete(w.claims[0])), OFF_NEW, OFF_OLD, EXPIRED,
             claim("old", "state=expired -started-at -surge-claim")),
    _expires("expires-after-a-failure", "row 11 for a failed claim",
             where(failed(), lambda w: delete(w.claims[0])), EXPIRED,
             claim("old", "state=expired")),
    _expires("expires-although-mirrored", "before it is draining it was Karpenter",
             where(mirrored(), lambda w: delete(w.claims[0])), OFF_NEW, OFF_OLD, EXPIRED,
             claim("old", "state=expired -started-at -surge-claim"), annotations=CLEAR_MIRRORED),
    _expires("expires-in-fallback-mode", "row 11 comes before row 6",
             where(fallback(), lambda w: delete(w.claims[0])), EXPIRED,
             claim("old", "state=expired"),
             annotations=CLEAR | {"rotation-mode": None, "active-rotation-state": None,
                                  "draining-at": None}),
    _expires("expires-and-was-counted", "whoever creates the Event first counts",
             where(pending(), lambda w: delete(w.claims[0])), OFF_OLD, ENDED,
             events=(TERMINAL,), log=()),
    Case("expired-and-not-cleared-yet", "row 16: cleared, nothing is counted again",
         where(running(), lambda w: w.claims.__setitem__(0, nodeclaim(
             "old", {"state": "expired"}, deleted=DELETED))), "16",
         Reason.ROTATION_EXPIRED, writes=(OFF_NEW, OFF_OLD), annotations=CLEAR),
)  # fmt: skip


def _lost(name: str, why: str, world: World, *writes: str, **more: Any) -> Case:
    more = {"annotations": CLEAR, "log": ("governance lost",), "detail": "NoPolicy"} | more
    return Case(name, why, where(world, lambda w: w.policies.clear()), "17",
                Reason.GOVERNANCE_LOST, writes=writes, **more)  # fmt: skip


def _contested(name: str, broken: bool, detail: str) -> Case:
    world = where(pending(), lambda w: w.policies.append(policy("rival")))
    if broken:
        world.policies = [policy("rival", minRotationChances="two")]
    return Case(name, "row 17: nobody governs the pool any more", world, "17",
                Reason.GOVERNANCE_LOST, detail=detail, log=("governance lost",),
                writes=(OFF_OLD, LOST, claim("old", "-state -started-at")), annotations=CLEAR,
                told=() if broken else ("PolicyConflict",))  # fmt: skip


LOST = event("GovernanceLost", "NodePool")
OFF_CLAIM = claim("old", "-state -started-at -surge-claim")
GOVERNANCE = (
    _lost("governance-lost-before-it-began", "row 17: nothing to take back", anchored()),
    _lost("governance-lost-while-pending", "row 17: the claim is as if never begun", running(),
          OFF_NEW, OFF_OLD, LOST, OFF_CLAIM),
    _lost("governance-lost-between-the-two-writes", "row 17 comes before row 7", draining(),
          OFF_NEW, OFF_OLD, LOST, OFF_CLAIM, annotations=CLEAR_MIRRORED),
    _lost("governance-lost-and-failed", "row 17: a failed claim keeps its backoff", failed(), LOST),
    _lost("governance-lost-with-traces", "row 17: no state, but what belongs to one",
          where(anchored(), old(started_at="2026-11-29T19:58:00Z", surge_claim="new")),
          LOST, claim("old", "-started-at -surge-claim")),
    _lost("governance-lost-in-fallback-mode", "row 17 comes before row 6", fallback(),
          annotations=CLEAR | {"rotation-mode": None, "active-rotation-state": None,
                               "draining-at": None}),
    _lost("governance-lost-with-an-unreadable-state", "row 17: the marks go",
          where(pending(), old(state="?")), OFF_OLD, LOST,
          log=("malformed state", "governance lost")),
    _contested("governance-lost-to-a-tie", broken=False, detail="PolicyConflict"),
    _contested("governance-lost-to-a-broken-policy", broken=True, detail="PolicyInvalid"),
    Case("fatal-finding-in-flight", "fatal findings only block starts",
         where(mirrored(), lambda w: w.pool["spec"]["template"]["spec"].update(
             expireAfter="40h")), "5", Reason.DRAIN_STARTED,
         writes=(claim("old", "state=draining"), "delete old"),
         log=("surge node ready", "drain started")),
)  # fmt: skip

DELETING = (
    Case("pool-is-deleted-while-pending", "row 0: the marks go; anchor and placeholder go with it",
         where(running(), lambda w: delete(w.pool)), "0", Reason.POOL_DELETING,
         writes=(OFF_NEW, OFF_OLD)),
    Case("pool-is-deleted-while-draining", "row 0 comes first",
         where(deleted(), lambda w: delete(w.pool)), "0", Reason.POOL_DELETING,
         writes=(OFF_NEW, OFF_OLD)),
    Case("pool-is-deleted-and-the-claim-is-gone", "row 0 comes first",
         where(gone(), lambda w: delete(w.pool)), "0", Reason.POOL_DELETING, writes=(OFF_NEW,)),
)  # fmt: skip

CASES = DRAINS + GONE + EXPIRING + GOVERNANCE + DELETING
