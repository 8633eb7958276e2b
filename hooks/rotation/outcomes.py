"""The Events that end or fail an attempt: each has one deterministic name, so each counts once.

Owns what an Event's name is made of, for all Events. Leaves those that don't end anything to
:mod:`hooks.rotation.announcements`. Source: design/rotation.md section 3 *Counting* and section 4.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Final

from hooks import names
from hooks.rotation.durations import parse_duration
from hooks.rotation.model import Claim, Pool
from hooks.rotation.reasons import Reason
from hooks.rotation.steps import elapsed
from hooks.rotation.view import View
from hooks.rotation.writes import Announce

SUCCESS: Final = "success"
FAILURE: Final = "failure"
EXPIRED: Final = "expired"
FALLBACK: Final = "fallback"
"""Counts a node that was deleted without a successor; its end counts apart from that."""
NOTHING: Final = ""
"""An Event that counts nothing."""
SURGE_WAIT: Final = "surge_wait"
DRAIN: Final = "drain"


def event_name(*parts: str) -> str:
    """A name that is the same for the same transition, and a valid one for an Event."""
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"noderotation-{digest[:40]}"


def _terminal_name(view: View) -> str:
    """The one name that success and expired share.

    An anchor of the original controller has no UID, and once the claim is gone nobody knows it any
    more: its name stands for it from the first Event on.
    """
    return event_name(view.pool.uid, view.pool.anchor_uid or view.pool.anchor or "", "terminal")


def completed(view: View) -> Announce:
    """Row 9: the candidate is gone after a drain that we began."""
    return Announce(
        name=_terminal_name(view),
        reason=Reason.ROTATION_COMPLETED,
        outcome=SUCCESS,
        warning=False,
        kind=names.POOL,
        regarding=view.pool.name,
        regarding_uid=view.pool.uid,
        note=f"NodeClaim {view.pool.anchor} was rotated ({view.pool.mode.value})",
        at=view.now,
        durations=durations(view.pool, view.now),
    )


def durations(pool: Pool, now: datetime) -> tuple[tuple[str, timedelta], ...]:
    """What the phases of the rotation that ends now took, as far as that can be read."""
    found: list[tuple[str, timedelta]] = []
    wait = _span(pool.surge_wait)
    if wait is not None:
        found.append((SURGE_WAIT, wait))
    if isinstance(pool.draining_at, datetime):
        found.append((DRAIN, elapsed(pool.draining_at, now)))
    return tuple(found)


def _span(text: str | None) -> timedelta | None:
    try:
        return parse_duration(text) if text else None
    except ValueError:
        return None


def expired(view: View) -> Announce:
    """Rows 10 and 11: the candidate went, or is going, and not by us."""
    uid = view.claim.uid if view.claim is not None else view.pool.anchor_uid
    return Announce(
        name=_terminal_name(view),
        reason=Reason.ROTATION_EXPIRED,
        outcome=EXPIRED,
        warning=True,
        kind=names.CLAIM,
        regarding=view.pool.anchor or "",
        regarding_uid=uid or "",
        note=f"NodeClaim {view.pool.anchor} was deleted by somebody else before its rotation"
        f" reached the drain (expiry, interruption, or by hand)",
        at=view.now,
    )


def failed(view: View, claim: Claim, retry: int, why: str) -> Announce:
    """Rows 12, 14 and 15: one attempt failed; the name carries the retry count."""
    return Announce(
        name=event_name(view.pool.uid, claim.uid, "failure", str(retry)),
        reason=Reason.ROTATION_FAILED,
        outcome=FAILURE,
        warning=True,
        kind=names.CLAIM,
        regarding=claim.name,
        regarding_uid=claim.uid,
        note=f"attempt {retry} to rotate NodeClaim {claim.name} failed: {why}",
        at=view.now,
    )
