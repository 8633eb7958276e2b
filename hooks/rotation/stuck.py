"""What is told of a drain that takes too long, or can't end: who blocks it, and how far it is.

Owns the live reads for that, which no normal drain makes. They decide nothing: one that gets no
answer is told as such, and never fails the pass. Leaves the judgement to
:mod:`hooks.rotation.blockers`. Source: design/rotation.md section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar

from hooks.rotation.blockers import blockers, endless, listed, progress
from hooks.rotation.decision import Report
from hooks.rotation.durations import format_stamp
from hooks.rotation.model import Claim
from hooks.rotation.reader import Reader, Unanswered
from hooks.rotation.view import View

T = TypeVar("T")

UNREAD: Final = "could not be read"


def drain_reports(view: View, since: datetime, *, stuck: bool) -> tuple[Report, ...]:
    """The lines of row 8: of a drain that is stuck, or else of one that can't end; mostly none.

    ``since`` is when the claim was deleted.
    """
    claim = view.anchored
    if stuck:
        return (_stuck(view.reader.briefly(), claim, since, view.now),)
    if claim.termination_grace_period is None:
        return _cannot_end(view.reader.briefly(), claim, since)
    return ()


def _stuck(reader: Reader, claim: Claim, since: datetime, now: datetime) -> Report:
    # Nothing that changes by the clock alone may stand here: the line is written on each change.
    fields = (
        ("since", format_stamp(since)),
        ("blockers", _blockers(reader, claim.node_name, now)),
        ("progress", _progress(reader, claim)),
    )
    return Report("drain stuck", fields, on_change=True, warning=True)


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
    held = listed(blockers(pods, budgets or (), now))
    unread = f"the budgets {UNREAD}" if budgets is None else ""
    return "; ".join(part for part in (held, unread) if part) or "no Pod is held"


def _progress(reader: Reader, claim: Claim) -> str:
    try:
        live = reader.claim(claim.name)
    except Unanswered:
        return UNREAD
    if live is None or live.uid != claim.uid:
        return "gone by now"
    return progress(live.conditions)


def _told(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Unanswered:
        return None
