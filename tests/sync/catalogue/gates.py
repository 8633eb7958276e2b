"""Why nothing starts: each start gate of design/rotation.md section 3, shut once and open once."""

from __future__ import annotations

from typing import Any

from hooks.rotation.reasons import Reason
from tests.support.cases import Case
from tests.support.scene import ANCHOR, delete, idle, pool, where
from tests.support.world import NOW, World, nodepool, policy

STARTS = ANCHOR
QUIET = ("no candidate",)
HELD = ("malformed state", "no candidate")


def _shut(name: str, why: str, world: World, reason: Reason, **more: Any) -> Case:
    more = {"log": QUIET} | more
    return Case(name, why, world, "idle", reason, **more)


def _open(name: str, why: str, world: World, **more: Any) -> Case:
    more = {"annotations": STARTS, "census": {"tooYoung": 1}, **more}
    return Case(
        name,
        why,
        world,
        "1",
        Reason.ROTATION_STARTED,
        **more,
    )


def _broken(**spec: Any) -> World:
    world = idle()
    world.policies.append(policy("broken", labels={"workload": "api"}, **spec))
    del world.policies[0]
    return world


def _excluded(start: str, end: str) -> World:
    day = "2026-11-29T"
    entry = {"start": f"{day}{start}Z", "end": f"{day}{end}Z", "reason": "the fair"}
    return idle(exclusions=[entry])


WINDOWS = (
    _open("starts-in-the-window", "row 1: the anchor is written, alone", idle()),
    _open("starts-at-the-windows-first-second", "[start, end)", idle(), now="2026-11-29T18:00:00Z"),
    _open("starts-in-the-windows-last-second", "[start, end)", idle(), now="2026-11-29T21:59:59Z"),
    _shut(
        "window-opens-in-half-a-minute",
        "outside the window; the next look is at its opening",
        idle(),
        Reason.OUTSIDE_WINDOW,
        now="2026-11-29T17:59:30Z",
        look_again=30,
    ),
    _shut(
        "window-has-just-closed",
        "the end isn't part of the window",
        idle(),
        Reason.OUTSIDE_WINDOW,
        now="2026-11-29T22:00:00Z",
        look_again=60,
    ),
    _shut(
        "excluded-for-twenty-seconds-more",
        "an exclusion gates starts like a closed window",
        _excluded("19:30:00", "20:00:20"),
        Reason.EXCLUDED,
        detail="the fair",
        look_again=20,
    ),
    _open("exclusion-is-over", "[start, end)", _excluded("19:30:00", "20:00:00")),
    _open("exclusion-begins-in-a-second", "[start, end)", _excluded("20:00:01", "20:30:00")),
)

PEOPLE = (
    _shut(
        "policy-is-suspended",
        "suspend gates starts",
        idle(suspend=True),
        Reason.SUSPENDED,
    ),
    _shut(
        "everything-is-suspended",
        "the setting NODEROTATION_SUSPEND gates all starts",
        idle(),
        Reason.SUSPENDED,
        settings={"NODEROTATION_SUSPEND": "true"},
    ),
    _shut(
        "dry-run-says-what-it-would-start",
        "dryRun gates starts and tells what it would have started",
        idle(dryRun=True),
        Reason.DRY_RUN,
        detail="would rotate old (surge), created 2026-11-16T20:00:00Z, deadline 2026-11-30T20:00:00Z",
        census={"tooYoung": 1},
    ),
    _shut(
        "dry-run-with-nobody-due",
        "a dry run that would start nothing says why",
        where(idle(dryRun=True), lambda w: w.claims.pop(0), lambda w: w.nodes.pop(0),
              lambda w: w.pods.clear()),
        Reason.NO_CANDIDATE,
        census={"tooYoung": 1},
    ),
    _shut(
        "frozen-for-half-a-minute-more",
        "a freeze gates starts; the next look is at its end",
        where(idle(), pool(freeze="2026-11-29T20:00:30Z")),
        Reason.FROZEN,
        look_again=30,
    ),
    _open("freeze-is-over", "a freeze holds until its time", where(idle(), pool(freeze=NOW))),
    _shut(
        "freeze-is-unreadable",
        "an unreadable freeze is a freeze, and says so",
        where(idle(), pool(freeze="tomorrow")),
        Reason.MALFORMED_STATE,
        detail="freeze is unreadable: 'tomorrow'",
        log=HELD,
    ),
)  # fmt: skip

PAUSES = (
    _shut(
        "cooling-down",
        "gate A: cooldownAfter since the last success",
        where(idle(), pool(last_rotation_at="2026-11-29T19:50:01Z")),
        Reason.COOLING_DOWN,
        look_again=1,
    ),
    _open("cooled-down", "gate A: exactly cooldownAfter is enough",
          where(idle(), pool(last_rotation_at="2026-11-29T19:50:00Z"))),
    _shut(
        "last-rotation-at-is-unreadable",
        "the gate stays shut",
        where(idle(), pool(last_rotation_at="")),
        Reason.MALFORMED_STATE,
        detail="last-rotation-at is unreadable: ''",
        log=HELD,
    ),
    _shut(
        "pausing-after-a-failure",
        "gate B: failurePause, by default 10m, since the last failure",
        where(idle(), pool(last_failure_at="2026-11-29T19:50:45Z")),
        Reason.FAILURE_PAUSE,
        look_again=45,
    ),
    _open("paused-long-enough", "gate B: failurePause of its own",
          where(idle(failurePause="1m"), pool(last_failure_at="2026-11-29T19:59:00Z"))),
    _shut(
        "last-failure-at-is-unreadable",
        "the gate stays shut",
        where(idle(), pool(last_failure_at="2026-13-01T00:00:00Z")),
        Reason.MALFORMED_STATE,
        detail="last-failure-at is unreadable: '2026-13-01T00:00:00Z'",
        log=HELD,
    ),
    _shut(
        "last-failure-at-the-end-of-time",
        "a time so late that nothing can be added to it shuts the gate, and breaks nothing",
        where(idle(), pool(last_failure_at="9999-12-31T23:59:59Z")),
        Reason.FAILURE_PAUSE,
        look_again=60,
    ),
)  # fmt: skip

GOVERNANCE = (
    _shut(
        "no-policy-at-all",
        "a pool that no policy selects isn't rotated",
        where(idle(), lambda w: w.policies.clear()),
        Reason.NO_POLICY,
    ),
    _shut(
        "policy-for-another-pool",
        "a pool that no policy selects isn't rotated",
        where(idle(), lambda w: w.policies.clear(),
              lambda w: w.policies.append(policy(labels={"workload": "batch"}))),
        Reason.NO_POLICY,
    ),
    _shut(
        "two-policies-tie",
        "an equal number of constraints is a tie: nobody governs",
        where(idle(), lambda w: w.policies.append(policy("rival"))),
        Reason.POLICY_CONFLICT,
        told=("PolicyConflict",),
    ),
    _open("the-more-specific-policy-wins", "a catch-all that is suspended doesn't count",
          where(idle(), lambda w: w.policies.append(policy("all", labels={}, suspend=True)))),
    _shut(
        "the-winning-policy-is-broken",
        "a policy that can't be read still wins by its selector; no other takes over",
        where(_broken(ageThreshold="soon"),
              lambda w: w.policies.append(policy("all", labels={}))),
        Reason.POLICY_INVALID,
    ),
    _shut(
        "unknown-time-zone",
        "a zone that doesn't exist makes the policy unreadable",
        _broken(maintenanceWindows=[
            {"timezone": "Europe/Berln", "days": ["Sun"], "start": "18:00", "end": "22:00"}
        ]),
        Reason.POLICY_INVALID,
    ),
    Case(
        "deleting-pool-starts-nothing",
        "row 0: nothing starts in a NodePool that is being deleted",
        where(idle(), lambda w: delete(w.pool)),
        "0",
        Reason.POOL_DELETING,
    ),
    _shut(
        "companions-without-an-anchor",
        "orphaned companions of an anchor are removed",
        where(idle(), lambda w: w.policies.clear(), lambda w: setattr(w, "pool", nodepool({
            "active-rotation-state": "draining", "draining-at": "x", "surge-wait": "1m",
            "rotation-mode": "forceful-fallback", "abort": "old", "active-rotation-uid": "u",
        }))),
        Reason.NO_POLICY,
        log=HELD,
        annotations={
            "active-rotation-state": None, "draining-at": None, "surge-wait": None,
            "rotation-mode": None, "abort": None, "active-rotation-uid": None,
        },
    ),
    _open(
        "starts-over-orphaned-companions",
        "an anchor never inherits the mode or mirror of another one",
        where(idle(), pool(rotation_mode="forceful-fallback", active_rotation_state="draining")),
        annotations=STARTS | {"rotation-mode": None, "active-rotation-state": None},
    ),
)  # fmt: skip

CASES = WINDOWS + PEOPLE + PAUSES + GOVERNANCE
