"""The rows of an attempt that fails, and of what comes after it: 12, 14 and 15.

Each function is the answer of one row of design/rotation.md section 3.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hooks import names
from hooks.rotation import outcomes
from hooks.rotation.announcements import started
from hooks.rotation.candidates import is_backing_off
from hooks.rotation.decision import SOON, Decision, Listing, Report, Value
from hooks.rotation.durations import format_go, format_stamp, shifted
from hooks.rotation.model import ClaimState, Malformed, Mode
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import backoff
from hooks.rotation.steps import (
    HIGHEST_COUNT,
    UNREADABLE_COUNT,
    attempt_over,
    clear,
    hold,
    patch,
    surge_claim_change,
    unfreeze,
)
from hooks.rotation.surging import is_shown, selected
from hooks.rotation.view import View
from hooks.rotation.writes import Announce, Reap, Write

ABORTED: Final = "aborted by an operator"


def rolled_back(view: View) -> Decision:
    """Row 12: the surge took too long, or an operator aborted it; in two passes."""
    claim, why = view.anchored, Reason.ABORTED if view.aborted else Reason.ROTATION_FAILED
    if is_shown(view):
        change = surge_claim_change(view) if claim.surge_claim is None else {}
        writes = (patch(view, claim, change),) if change else ()
        return Decision(
            "12", Reason.WITHDRAWING, why.value, claim.name, writes=writes, look_again=SOON
        )
    text = ABORTED if view.aborted else _too_late(view)
    return _failure(view, "12", why, text, (_reap(view),))


def aborted_before_it_began(view: View) -> Decision:
    """Row 6, aborted: a failure like a timeout, or the next pass would begin it anew."""
    return _failure(view, "6", Reason.ABORTED, ABORTED)


def aborted_between_its_writes(view: View) -> Decision:
    """Row 7b, aborted in fallback mode: a failure, as in row 6."""
    return _failure(view, "7b", Reason.ABORTED, ABORTED)


def _failure(
    view: View, row: str, why: Reason, text: str, reap: tuple[Write, ...] = ()
) -> Decision:
    claim = view.anchored
    count = claim.retry_count if isinstance(claim.retry_count, int) else UNREADABLE_COUNT
    retry = min(count + 1, HIGHEST_COUNT)
    announce = outcomes.failed(view, claim, retry, text)
    changes = attempt_over(ClaimState.FAILED, view.now) | {names.RETRY_COUNT: str(retry)}
    return Decision(
        row,
        why,
        claim=claim.name,
        writes=(hold(view), *reap, *unfreeze(view), patch(view, claim, changes), announce),
        annotations=clear(view.pool) | {names.LAST_FAILURE_AT: format_stamp(view.now)},
        reports=(_told(view, announce, text, retry, view.now),),
    )


def _too_late(view: View) -> str:
    return f"no successor was ready within {format_go(view.governing.ready_timeout)}"


def _reap(view: View) -> Reap:
    claim = view.anchored
    return Reap(
        pool=view.pool.name,
        claim=claim.name,
        uid=claim.uid,
        policy=view.governing,
        unregistered=tuple(c.name for c in view.obs.claims if not c.registered and c != claim),
        now=view.now,
    )


def _told(view: View, announce: Announce, why: str, retry: int, at: datetime) -> Report:
    until = shifted(at, backoff(view.governing, retry))
    fields: tuple[tuple[str, Value], ...] = (
        ("why", why),
        ("retry", retry),
        ("backoff_until", format_stamp(until)),
    )
    return Report("attempt failed", fields, once=announce.name, warning=True)


def _uncounted(view: View) -> tuple[Announce, Report] | None:
    """The failure of row 12 (or 6), when it died before it could count it."""
    claim, last = view.anchored, view.pool.last_failure_at
    failed_at = claim.failed_at
    if not isinstance(failed_at, datetime) or isinstance(last, Malformed):
        return None
    if last is not None and last >= failed_at:
        return None
    retry = claim.retry_count if isinstance(claim.retry_count, int) else UNREADABLE_COUNT
    if retry < 1:
        # Row 18 failed it, which was no attempt.
        return None
    why = "the attempt was rolled back"
    announce = outcomes.failed(view, claim, retry, why)
    return announce, _told(view, announce, why, retry, failed_at)


def retry(view: View) -> Decision:
    """Row 14: a failed claim's turn again; back to row 3 with a fresh started-at."""
    claim = view.anchored
    uncounted = _uncounted(view) or ()
    changes: dict[str, str | None] = {
        names.STATE: ClaimState.PENDING,
        names.STARTED_AT: format_stamp(view.now),
    }
    take = patch(view, claim, changes)
    begins = started(view, claim, view.now)
    return Decision(
        "14",
        Reason.RETRYING,
        claim=claim.name,
        writes=(hold(view), *uncounted[:1], take),
        listing=Listing.KEEP if is_shown(view) else Listing.NONE,
        look_again=SOON,
        reports=(*uncounted[1:], selected(view, claim, Mode.SURGE, begins)),
        announcements=(begins,),
    )


def rests(view: View) -> Decision:
    """Row 15: a failed claim that has to wait lets the pool go on; the pause is never voided."""
    claim, last = view.anchored, view.pool.last_failure_at
    uncounted = _uncounted(view) or ()
    annotations = clear(view.pool)
    failed_at = claim.failed_at
    if isinstance(failed_at, datetime) and not isinstance(last, Malformed):
        # One that lies ahead of the clock must not shut the gate of the whole pool.
        past = min(failed_at, view.now)
        latest = past if last is None else max(past, last)
        if latest != last:
            annotations[names.LAST_FAILURE_AT] = format_stamp(latest)
    return Decision(
        "15",
        _why_not_again(view),
        claim=claim.name,
        writes=(hold(view), *unfreeze(view), *uncounted[:1]),
        annotations=annotations,
        reports=uncounted[1:],
    )


def failed_already(view: View) -> Decision:
    """Row 15, in fallback mode: an abort has failed the claim, and its answer was lost."""
    return rests(view)


def _why_not_again(view: View) -> Reason:
    """What row 14 found wanting, in its order; what is left when nothing else does is the room."""
    if view.gate is not None:
        return view.gate.reason
    if view.pool.static:
        return Reason.STATIC_NODE_POOL
    waits = is_backing_off(view.governing, view.anchored, view.now)
    return Reason.BACKING_OFF if waits else Reason.NO_HEADROOM
