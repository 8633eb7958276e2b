"""The Events on the way of a rotation: one for each transition, named by when that was persisted.

Owns what they say and what their names are made of. Leaves the ends of a rotation, and what a name
is, to :mod:`hooks.rotation.outcomes`, and what holds of a pool at large to
:mod:`hooks.rotation.conditions`. Source: design/observability.md *Events*, design/rotation.md
section 4.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from hooks import names
from hooks.rotation.clamp import Clamp, ClampOutcome, Cut
from hooks.rotation.durations import format_stamp
from hooks.rotation.model import Claim, Pool, Stamp
from hooks.rotation.outcomes import FALLBACK, NOTHING, event_name
from hooks.rotation.quantity import format_quantity
from hooks.rotation.reasons import Reason
from hooks.rotation.view import View
from hooks.rotation.writes import Announce

RECENT: Final = timedelta(minutes=30)
"""For how long a delete is still told by later passes: API servers keep an Event for an hour."""

_CLAMPED: Final = {
    ClampOutcome.CLAMPED: names.SURGE_CLAMPED,
    ClampOutcome.REFUSED: names.SURGE_CLAMP_REFUSED,
    ClampOutcome.BAND_EXCEEDED: names.SURGE_CLAMP_BAND_EXCEEDED,
}
_MEANING: Final = {
    ClampOutcome.CLAMPED: "the placeholder asks for less than the Pods on the node do",
    ClampOutcome.REFUSED: "no new node has room for these, so the placeholder can't be scheduled",
    ClampOutcome.BAND_EXCEEDED: "the placeholder asks for less than the Pods on the node do, by "
    "more than the node is larger than Karpenter plans",
}


def about_pool(pool: Pool, name: str, reason: str, note: str, now: datetime) -> Announce:
    """An Event on the NodePool that counts nothing."""
    return Announce(
        name=name,
        reason=reason,
        outcome=NOTHING,
        warning=reason not in names.NORMAL_EVENTS,
        kind=names.POOL,
        regarding=pool.name,
        regarding_uid=pool.uid,
        note=note,
        at=now,
    )


def about_claim(claim: Claim, name: str, reason: str, note: str, now: datetime) -> Announce:
    """An Event on a NodeClaim that counts nothing."""
    return Announce(
        name=name,
        reason=reason,
        outcome=NOTHING,
        warning=reason not in names.NORMAL_EVENTS,
        kind=names.CLAIM,
        regarding=claim.name,
        regarding_uid=claim.uid,
        note=note,
        at=now,
    )


def started(view: View, claim: Claim, at: datetime) -> Announce:
    """Rows 3 and 14: an attempt begins; ``at`` is what its started-at says."""
    name = event_name(view.pool.uid, claim.uid, names.ROTATION_STARTED, format_stamp(at))
    note = f"the rotation of NodeClaim {claim.name} on Node {claim.node_name or '(none)'} begins"
    return about_pool(view.pool, name, names.ROTATION_STARTED, note, view.now)


def fell_back(view: View) -> Announce:
    """Rows 6 to 9: the candidate was deleted without a successor, which happens to a claim once."""
    pool = view.pool
    reason = Reason.FORCEFUL_FALLBACK
    uid = view.claim.uid if view.claim is not None else pool.anchor_uid
    return Announce(
        name=event_name(pool.uid, uid or "", reason),
        reason=reason,
        outcome=FALLBACK,
        warning=True,
        kind=names.POOL,
        regarding=pool.name,
        regarding_uid=pool.uid,
        note=f"NodeClaim {pool.anchor} was deleted without a successor: a surge could no longer"
        " be over before its deadline",
        at=view.now,
    )


def governance_lost(view: View, claim: Claim, why: Reason) -> Announce | None:
    """Row 17: a rotation that had begun is rolled back; None when nothing of it can be seen."""
    since = claim.started_at or (claim.failed_at if claim.state is not None else None)
    if since is None and claim.state is None:
        return None
    name = event_name(view.pool.uid, claim.uid, Reason.GOVERNANCE_LOST, _key(since))
    note = f"the rotation of NodeClaim {claim.name} was rolled back, because no RotationPolicy"
    note += f" governs the NodePool any more ({why.value})"
    return about_pool(view.pool, name, Reason.GOVERNANCE_LOST, note, view.now)


def of_attempt(pool: Pool, claim: Claim, reason: str, note: str, now: datetime) -> Announce:
    """Something of one attempt that is told once for it, however often it comes back."""
    name = event_name(pool.uid, claim.uid, reason, _key(claim.started_at))
    return about_claim(claim, name, reason, note, now)


def clamped(pool: Pool, claim: Claim, clamp: Clamp, now: datetime) -> tuple[Announce, ...]:
    """What the clamp did to the placeholder's size, if anything."""
    reason = _CLAMPED.get(clamp.outcome)
    if reason is None:
        return ()
    cuts = ", ".join(_cut(cut) for cut in clamp.cuts)
    return (of_attempt(pool, claim, reason, f"{_MEANING[clamp.outcome]}: {cuts}", now),)


def _cut(cut: Cut) -> str:
    wanted, limit = format_quantity(cut.wanted), format_quantity(cut.limit)
    return f"{cut.resource} {limit} of {wanted}"


def drain_stuck(view: View, since: datetime, blockers: str, progress: str) -> Announce:
    """Row 8: the drain takes longer than it ever should; ``since`` is when the claim was deleted."""
    claim = view.anchored
    name = event_name(view.pool.uid, claim.uid, Reason.DRAIN_STUCK, format_stamp(since))
    note = f"the drain goes on since {format_stamp(since)}: {blockers}; {progress}"
    return about_claim(claim, name, Reason.DRAIN_STUCK, note, view.now)


def _key(stamp: Stamp) -> str:
    return format_stamp(stamp) if isinstance(stamp, datetime) else ""
