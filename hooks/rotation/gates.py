"""Whether anything may start in this pool now, and if not, why not and until when.

Source: seed 000 section 5.2 *Start gates*, design/rotation.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from hooks.rotation.due import is_excluded
from hooks.rotation.durations import shifted
from hooks.rotation.findings import Finding
from hooks.rotation.model import ClaimState, Malformed, Observation, Policy, Stamp
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import failure_pause
from hooks.rotation.windows import next_opening, open_occurrence


@dataclass(frozen=True, slots=True)
class Gate:
    """A shut gate: why, until when (None: until something changes), and a sentence for people."""

    reason: Reason
    until: datetime | None = None
    detail: str = ""


def shut_gate(obs: Observation, policy: Policy, fatal: tuple[Finding, ...]) -> Gate | None:
    """The first gate that keeps a governed pool from starting, dryRun last; None: all open.

    That the pool isn't being deleted is what row 0 looks at.
    """
    return (
        _held_by_people(obs, policy, fatal)
        or _outside_the_window(obs, policy)
        or _still_draining(obs)
        or _pausing(obs, policy)
        or (
            Gate(Reason.DRY_RUN, detail=f"policy {policy.name} is a dry run")
            if policy.dry_run
            else None
        )
    )


def _held_by_people(obs: Observation, policy: Policy, fatal: tuple[Finding, ...]) -> Gate | None:
    if fatal:
        return Gate(Reason.FATAL_FINDING, detail="; ".join(f"{f.code}: {f.message}" for f in fatal))
    if obs.suspended:
        return Gate(Reason.SUSPENDED, detail="NODEROTATION_SUSPEND is set")
    if policy.suspend:
        return Gate(Reason.SUSPENDED, detail=f"policy {policy.name} is suspended")
    return _frozen(obs.pool.freeze, obs.now)


def _frozen(freeze: Stamp, now: datetime) -> Gate | None:
    if isinstance(freeze, Malformed):
        return Gate(Reason.MALFORMED_STATE, detail=f"freeze is unreadable: {freeze.text!r}")
    return Gate(Reason.FROZEN, freeze) if freeze is not None and now < freeze else None


def _outside_the_window(obs: Observation, policy: Policy) -> Gate | None:
    if open_occurrence(policy.windows, obs.now) is None:
        return Gate(Reason.OUTSIDE_WINDOW, next_opening(policy.windows, obs.now))
    exclusion = is_excluded(policy, obs.now)
    if exclusion is not None:
        return Gate(Reason.EXCLUDED, exclusion.end, exclusion.reason)
    return None


def _still_draining(obs: Observation) -> Gate | None:
    """A claim that we deleted and that still drains, though its anchor was lost: one at a time."""
    for claim in obs.claims:
        if claim.deleting and claim.state is ClaimState.DRAINING:
            return Gate(Reason.DRAINING, detail=f"{claim.name} still drains")
    return None


def _pausing(obs: Observation, policy: Policy) -> Gate | None:
    pool, now = obs.pool, obs.now
    return _since(
        pool.last_rotation_at, policy.cooldown_after, now, Reason.COOLING_DOWN, "last-rotation-at"
    ) or _since(
        pool.last_failure_at, failure_pause(policy), now, Reason.FAILURE_PAUSE, "last-failure-at"
    )


def _since(stamp: Stamp, pause: timedelta, now: datetime, reason: Reason, key: str) -> Gate | None:
    if stamp is None:
        return None
    if isinstance(stamp, Malformed):
        return Gate(Reason.MALFORMED_STATE, detail=f"{key} is unreadable: {stamp.text!r}")
    return Gate(reason, shifted(stamp, pause)) if now - stamp < pause else None
