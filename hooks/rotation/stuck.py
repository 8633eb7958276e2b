"""What is told of a drain that takes too long, or can't end: who blocks it, and how far it is.

Owns the live reads for that, which no normal drain makes. They decide nothing: one that gets no
answer is told as such, and never fails the pass. Leaves the judgement to
:mod:`hooks.rotation.blockers`. Source: design/rotation.md section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar

from hooks.rotation.announcements import drain_stuck
from hooks.rotation.blockers import blockers as blocking
from hooks.rotation.blockers import endless, listed
from hooks.rotation.blockers import progress as progress_of
from hooks.rotation.decision import Report
from hooks.rotation.durations import format_stamp
from hooks.rotation.model import Claim
from hooks.rotation.reader import Reader, Unanswered
from hooks.rotation.view import View
from hooks.rotation.writes import Announce

T = TypeVar("T")

UNREAD: Final = "could not be read"


def told_of_drain(
    view: View, since: datetime, *, stuck: bool
) -> tuple[tuple[Report, ...], tuple[Announce, ...]]:
    """What row 8 tells of a drain that is stuck, or else of one that can't end; mostly nothing.

    ``since`` is when the claim was deleted. The line is written anew when other Pods block it, the
    Event names those that did so first.
    """
    claim = view.anchored
    if stuck:
        return _stuck(view, since)
    if claim.termination_grace_period is None:
        return _cannot_end(view.reader.briefly(), claim, since), ()
    return (), ()


def _stuck(view: View, since: datetime) -> tuple[tuple[Report, ...], tuple[Announce, ...]]:
    reader, claim = view.reader.briefly(), view.anchored
    blockers = _blockers(reader, claim.node_name, view.now)
    progress = _progress(reader, claim)
    if progress is None:
        # The request is old: it may have come again long after the drain was over.
        return (), ()
    # Nothing that changes by the clock alone may stand here: the line is written on each change.
    fields = (("since", format_stamp(since)), ("blockers", blockers), ("progress", progress))
    line = Report("drain stuck", fields, on_change=True, warning=True)
    return (line,), (drain_stuck(view, since, blockers, progress),)


def _cannot_end(reader: Reader, claim: Claim, since: datetime) -> tuple[Report, ...]:
    pods = _told(lambda: reader.pods_on(claim.node_name))
    held = endless(pods or ())
    if not held:
        return ()
    fields = (("since", format_stamp(since)), ("blockers", listed(held)))
    return (Report("drain can't end", fields, on_change=True, warning=True),)


def _blockers(reader: Reader, node: str, now: datetime) -> str:
    pods = _told(lambda: reader.pods_on(node))
    if pods is None:
        return f"the Pods {UNREAD}"
    budgets = _told(reader.budgets)
    held = listed(blocking(pods, budgets or (), now))
    unread = f"the budgets {UNREAD}" if budgets is None else ""
    return "; ".join(part for part in (held, unread) if part) or "no Pod is held"


def _progress(reader: Reader, claim: Claim) -> str | None:
    """How far it is; None when the claim is gone by now."""
    try:
        live = reader.claim(claim.name)
    except Unanswered:
        return UNREAD
    if live is None or live.uid != claim.uid:
        return None
    return progress_of(live.conditions)


def _told(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Unanswered:
        return None
