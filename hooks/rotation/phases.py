"""The pass table: rows in their order, the first that matches is the pass.

Owns the order and the conditions; the answers are in :mod:`~hooks.rotation.endings`,
:mod:`~hooks.rotation.surging`, :mod:`~hooks.rotation.failing` and
:mod:`~hooks.rotation.starting`, and row 18, which goes beside any row, in
:mod:`~hooks.rotation.orphans`. Source: design/rotation.md section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hooks.rotation import endings, failing, surging
from hooks.rotation.conditions import conditions
from hooks.rotation.decision import Decision, stop
from hooks.rotation.figures import figures, short_leads
from hooks.rotation.guards import ROLLBACK, fallback_ok
from hooks.rotation.model import ClaimState, Malformed, Observation
from hooks.rotation.orphans import orphans
from hooks.rotation.reader import Reader
from hooks.rotation.reasons import Reason
from hooks.rotation.starting import Start, idle, may_retry, start
from hooks.rotation.unreadable import unreadable
from hooks.rotation.view import View


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its name in the design, when it matches, and what follows."""

    name: str
    matches: Callable[[View], bool]
    answer: Callable[[View], Decision]


def _expiring(view: View) -> bool:
    by_others = view.is_state(None, ClaimState.PENDING, ClaimState.FAILED)
    return by_others and view.anchored.deleting


def _resumes(view: View) -> bool:
    return view.is_state(ClaimState.DRAINING) and view.refusal in {None, Reason.MIRROR_MISSING}


def _steps_back(view: View) -> bool:
    return view.is_state(ClaimState.DRAINING) and view.refusal in ROLLBACK


def _falls_back(view: View) -> bool:
    waiting = view.is_state(None, ClaimState.PENDING, ClaimState.FAILED)
    return waiting and not view.surging


def _already_failed(view: View) -> bool:
    """Whether the abort of this fallback has failed the claim, and its answer didn't land."""
    failed_at, since = view.anchored.failed_at, view.pool.draining_at
    if not isinstance(failed_at, datetime) or not isinstance(since, datetime):
        return False
    return view.is_state(ClaimState.FAILED) and failed_at >= since


def _fallback_holds(view: View) -> bool:
    return (
        _falls_back(view)
        and view.pool.mirror
        and fallback_ok(
            view.governing, view.pool, view.anchored, view.now, suspended=view.obs.suspended
        )
    )


def _times_out(view: View) -> bool:
    return view.surging and _is_waiting(view) and (view.aborted or view.overdue)


def _is_waiting(view: View) -> bool:
    claim = view.claim
    if claim is not None and isinstance(claim.state, Malformed):
        # Nothing else leads out of a state that can't be read.
        return not claim.deleting
    return not view.pool.mirror and view.is_state(ClaimState.PENDING)


def _mirrored(view: View) -> bool:
    return view.surging and view.pool.mirror and view.is_state(ClaimState.PENDING)


def _drains(view: View) -> bool:
    held = view.frozen or view.aborted
    return _mirrored(view) and not held and view.unready is None


def _mirrors(view: View) -> bool:
    waiting = view.surging and not view.pool.mirror and view.is_state(ClaimState.PENDING)
    return waiting and not view.frozen and view.runs and view.unready is None


def _waits(view: View) -> bool:
    fresh = view.is_state(None, ClaimState.PENDING)
    return view.surging and not view.pool.mirror and fresh


def _failed(view: View) -> bool:
    return view.surging and view.is_state(ClaimState.FAILED)


TABLE: Final[tuple[Row, ...]] = (
    Row("0", lambda v: v.pool.deleting, endings.pool_is_going),
    Row("9", lambda v: v.gone and v.pool.mirror, endings.succeeded),
    Row("10", lambda v: v.gone, endings.vanished),
    Row(
        "8",
        lambda v: v.is_state(ClaimState.DRAINING) and v.anchored.deleting,
        endings.draining,
    ),
    Row("11", _expiring, endings.expiring),
    Row("16", lambda v: v.is_state(ClaimState.EXPIRED), endings.expired),
    Row("17", lambda v: v.claim is not None and v.policy is None, endings.governance_lost),
    Row("7", _resumes, surging.resumed_delete),
    Row(
        "7b",
        lambda v: _steps_back(v) and v.aborted and not v.surging,
        failing.aborted_between_its_writes,
    ),
    Row("7b", _steps_back, surging.step_back),
    Row("15", lambda v: _falls_back(v) and _already_failed(v), failing.failed_already),
    Row("6", lambda v: _falls_back(v) and v.aborted, failing.aborted_before_it_began),
    Row("6", _fallback_holds, surging.fallback_delete),
    Row("6", _falls_back, surging.fallback_withdrawn),
    Row("12", _times_out, failing.rolled_back),
    Row("5", _drains, surging.drain),
    Row("5b", _mirrored, surging.not_yet),
    Row(
        "5c",
        lambda v: v.surging and v.pool.mirror and v.is_state(None),
        surging.begins_again,
    ),
    Row("4", _mirrors, surging.mirror),
    Row("3", _waits, surging.wait),
    Row("14", lambda v: _failed(v) and may_retry(v), failing.retry),
    Row("15", _failed, failing.rests),
)
"""All rows of a pool with an anchor (row 0 also without one). Rows 2 and 1 follow in `decide`."""


def decide(obs: Observation, reader: Reader) -> Decision:
    """The decision of one pass: of the first row that matches, with row 18 beside it.

    Pure but for ``reader``, which is asked only where a row needs to know what is so now.
    Errors: whatever the reader raises; nothing is decided then.
    """
    view = View(obs, reader)
    decision = _first_match(view)
    undoing, forgotten = orphans(view)
    lines, malformed = unreadable(obs)
    short = short_leads(view)
    return replace(
        decision,
        writes=undoing + decision.writes,
        reports=lines + forgotten + decision.reports,
        announcements=(*decision.announcements, *malformed, *conditions(view, decision, short)),
        figures=figures(view, decision, short),
    )


def _first_match(view: View) -> Decision:
    for row in TABLE:
        if row.matches(view):
            return row.answer(view)
    if view.pool.anchor is not None:
        return stop(_unmatched(view), view.pool.anchor)
    beginning = Start(view)
    chosen = beginning.chosen
    return start(beginning, chosen) if chosen is not None else idle(beginning)


def _unmatched(view: View) -> Reason:
    if view.is_state(ClaimState.DRAINING):
        return view.refusal or Reason.UNKNOWN_STATE
    return Reason.UNKNOWN_STATE
