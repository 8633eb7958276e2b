"""Rows 2, 6 and the fallback's halves of 7 and 7b: surge-less, and only while it may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hooks.rotation.reasons import Reason
from tests.support.cases import CLEAR, Case
from tests.support.scene import (
    ANCHOR,
    FAILED,
    FAILED_AT,
    LATE,
    delete,
    fallback,
    idle,
    old,
    pool,
    where,
)
from tests.support.shortly import claim, event
from tests.support.shortly import delete as deletes
from tests.support.world import DUE, NOW, World, node, nodeclaim

SINCE = "2026-11-29T19:59:30Z"
"""After the fallback's mirror was set."""

ON = {"forcefulFallback": {"enabled": True}}
STARTS = ANCHOR | {
    "rotation-mode": "forceful-fallback",
    "active-rotation-state": "draining",
    "draining-at": NOW,
}
ENDS = CLEAR | {"rotation-mode": None, "active-rotation-state": None, "draining-at": None}
TAKEN = (claim("old", "state=draining"), deletes("old"))
FAILS = claim("old", f"state=failed failed-at={NOW} retry-count=1")
LOG = ("candidate selected", "drain started")
TOLD = ("ForcefulFallback",)
HELD = "2026-11-29T23:00:00Z"


def _late(created: str = LATE, **spec: Any) -> World:
    world = idle(**ON | spec)
    world.claims[0] = nodeclaim("old", created=created)
    world.nodes[0] = node("old", created=created)
    return world


STARTING = (
    Case("falls-back", "row 2: anchor, mode, mirror and draining-at in ONE update", _late(), "2",
         Reason.FORCEFUL_FALLBACK, annotations=STARTS),
    Case("falls-back-in-a-static-pool", "only a fallback may rotate a static NodePool",
         where(_late(), lambda w: w.pool["spec"].update({"replicas": 1})), "2",
         Reason.FORCEFUL_FALLBACK, annotations=STARTS, told=("StaticNodePool",)),
    Case("falls-back-without-headroom", "a fallback needs no room",
         where(_late(), lambda w: w.pool["spec"].update({"limits": {"cpu": "12500m"}})), "2",
         Reason.FORCEFUL_FALLBACK, annotations=STARTS),
    Case("falls-back-a-second-before-it-would-not", "deadline - now < t_rot (9m), strictly",
         _late("2026-11-15T20:08:59Z"), "2", Reason.FORCEFUL_FALLBACK, annotations=STARTS),
    Case("just-in-time-for-a-surge", "deadline - now == t_rot is enough for a surge",
         _late("2026-11-15T20:09:00Z"), "1", Reason.ROTATION_STARTED, annotations=ANCHOR),
    Case("too-late-for-a-surge-but-no-fallback", "off by default: a surge is tried all the same",
         _late(forcefulFallback={"enabled": False}), "1", Reason.ROTATION_STARTED,
         annotations=ANCHOR),
    Case("no-deadline-no-fallback", "a claim that never expires is never rotated by force",
         where(idle(**ON | {"ageThreshold": "200h"}),
               lambda w: w.claims.__setitem__(0, nodeclaim("old", expireAfter="Never"))), "1",
         Reason.ROTATION_STARTED, annotations=ANCHOR),
    Case("would-fall-back", "a dry run names the mode",
         _late(dryRun=True), "idle", Reason.DRY_RUN, log=("no candidate",),
         detail="would rotate old (forceful-fallback), created 2026-11-15T20:05:00Z,"
         " deadline 2026-11-29T20:05:00Z"),
)  # fmt: skip

DELETING = (
    Case("falls-back-for-good", "row 6: taken, then deleted", fallback(), "6",
         Reason.FORCEFUL_FALLBACK, writes=TAKEN, log=LOG, told=TOLD),
    Case("falls-back-after-a-failed-surge", "row 6 takes a failed claim too", fallback("failed"),
         "6", Reason.FORCEFUL_FALLBACK, writes=TAKEN, log=LOG, told=TOLD),
    Case("falls-back-from-pending", "row 6 takes a pending claim too", fallback("pending"),
         "6", Reason.FORCEFUL_FALLBACK, writes=TAKEN, log=LOG, told=TOLD),
    Case("fallback-died-between-its-writes", "row 7: the delete is sent again",
         fallback("draining"), "7", Reason.DRAIN_STARTED, writes=(deletes("old"),),
         log=("drain started",), told=TOLD),
    Case("fallback-died-and-lost-its-mirror", "row 7: the mirror is restored first",
         where(fallback("draining"), pool(active_rotation_state=None, draining_at=None)), "7",
         Reason.MIRROR_RESTORED,
         annotations={"active-rotation-state": "draining", "draining-at": NOW}),
    Case("fallback-drains", "row 8: the pass that deleted it may have died before it said so",
         where(fallback("draining"), lambda w: delete(w.claims[0])), "8", Reason.DRAINING,
         told=TOLD),
    Case("fallback-drains-for-long", "row 8: what API servers have forgotten isn't told again",
         where(fallback("draining"), lambda w: delete(w.claims[0]), lambda w: w.claims[0][
             "spec"].update(terminationGracePeriod="2h")), "8", Reason.DRAINING,
         now="2026-11-29T20:29:11Z"),
)  # fmt: skip

OBSTACLES: tuple[tuple[str, str, Callable[[], World], dict[str, Any]], ...] = (
    ("window-closed", "the window closed between the anchor and the delete",
     fallback, {"now": "2026-11-29T22:00:00Z"}),
    ("freeze-came", "a freeze came between the anchor and the delete",
     lambda: where(fallback(), pool(freeze=HELD)), {}),
    ("suspended-by-policy", "a fallback that hasn't deleted yet is gated too",
     lambda: fallback(suspend=True), {}),
    ("suspended-by-setting", "a fallback that hasn't deleted yet is gated too",
     fallback, {"settings": {"NODEROTATION_SUSPEND": "true"}}),
    ("dry-run", "a fallback that hasn't deleted yet is gated too",
     lambda: fallback(dryRun=True), {}),
    ("excluded", "an exclusion began", lambda: fallback(
        exclusions=[{"start": "2026-11-29T19:59:00Z", "end": HELD, "reason": "the fair"}]), {}),
    ("fallback-switched-off", "the policy no longer enables it",
     lambda: fallback(forcefulFallback={"enabled": False}), {}),
    ("time-enough-again", "deadline - now < t_rot no longer holds",
     lambda: where(fallback(), lambda w: w.claims.__setitem__(0, nodeclaim("old", created=DUE))),
     {}),
)  # fmt: skip


def _withdrawn(name: str, why: str, world: World, **more: Any) -> Case:
    return Case(f"fallback-withdrawn-{name}", f"row 6: {why}", world, "6",
                Reason.FALLBACK_WITHDRAWN, annotations=ENDS, **more)  # fmt: skip


def _taken_back(name: str, why: str, world: World, **more: Any) -> Case:
    return Case(f"fallback-taken-back-{name}", f"row 7b: {why}", where(world, old(state="draining")),
                "7b", Reason.FALLBACK_WITHDRAWN, annotations=ENDS,
                writes=(claim("old", "-state"),), **more)  # fmt: skip


WITHDRAWN = (
    *(_withdrawn(name, why, world(), **more) for name, why, world, more in OBSTACLES),
    Case("fallback-withdrawn-without-a-mirror", "row 6: mode without mirror deletes nothing",
         where(fallback(), pool(active_rotation_state=None)), "6", Reason.FALLBACK_WITHDRAWN,
         annotations=CLEAR | {"rotation-mode": None, "draining-at": None}),
    *(_taken_back(name, why, world(), **more | {"detail": "Frozen" if name == "freeze-came"
                                                else "FallbackNotOk"})
      for name, why, world, more in OBSTACLES),
    Case("fallback-taken-back-aborted", "row 7b: an abort is a failure, or it would begin anew",
         where(fallback("draining"), pool(abort="old")), "7b", Reason.ABORTED,
         annotations=ENDS | {"abort": None, "last-failure-at": NOW}, log=("attempt failed",),
         writes=(FAILS, event("RotationFailed"))),
    Case("fallback-aborted", "row 6: an abort is a failure, or it would begin anew",
         where(fallback(), pool(abort="old")), "6", Reason.ABORTED,
         annotations=ENDS | {"abort": None, "last-failure-at": NOW}, log=("attempt failed",),
         writes=(FAILS, event("RotationFailed"))),
    Case("fallback-aborted-and-died", "row 15: it had failed the claim when it died; once is enough",
         where(fallback(), old(**FAILED | {"failed-at": SINCE}), pool(abort="old")), "15",
         Reason.BACKING_OFF, annotations=ENDS | {"abort": None, "last-failure-at": SINCE},
         log=("attempt failed",), writes=(event("RotationFailed"),)),
    Case("fallback-aborted-and-died-abort-unseen", "row 15: a request of before the abort takes"
         " no claim that this rotation has failed", where(fallback(), old(**FAILED | {"failed-at": SINCE})),
         "15", Reason.BACKING_OFF, annotations=ENDS | {"last-failure-at": SINCE},
         log=("attempt failed",), writes=(event("RotationFailed"),)),
    Case("fallback-aborted-after-an-untold-failure", "row 6: an older failure doesn't void the abort",
         where(fallback(), old(**FAILED), pool(abort="old")), "6", Reason.ABORTED,
         annotations=ENDS | {"abort": None, "last-failure-at": NOW}, log=("attempt failed",),
         writes=(claim("old", f"failed-at={NOW} retry-count=2"), event("RotationFailed"))),
    Case("fallback-aborted-after-a-failed-surge", "row 6: that failure was counted, this is another",
         where(fallback(), old(**FAILED), pool(abort="old", last_failure_at=FAILED_AT)), "6",
         Reason.ABORTED, annotations=ENDS | {"abort": None, "last-failure-at": NOW},
         log=("attempt failed",),
         writes=(claim("old", f"failed-at={NOW} retry-count=2"), event("RotationFailed"))),
    Case("fallback-frozen-after-its-delete", "a claims cache two events behind ends no rotation:"
         " a second candidate was deleted beside the first", where(fallback(), pool(freeze=HELD)),
         "stop", Reason.CLAIM_DELETING, look_again=2,
         live=where(fallback("draining"), pool(freeze=HELD), lambda w: delete(w.claims[0]))),
)  # fmt: skip

CASES = STARTING + DELETING + WITHDRAWN
