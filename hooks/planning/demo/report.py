"""What the demo says at the end: the verdict, and each rotation with its times.

Owns the figures and their JSON. Source: design/product.md (Commands).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hooks.planning.demo.sentences import SYNC_ERROR
from hooks.planning.demo.world import Window
from hooks.rotation.durations import format_stamp
from hooks.verdict.checks import Verdict
from hooks.verdict.history import Change
from hooks.verdict.rotations import Rotation

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Course:
    """One rotation as it went; a part that never came is None. Spans are whole seconds."""

    claim: str
    node: str
    successor: str
    start: datetime
    end: datetime | None
    surge: timedelta | None
    """From the anchor until the successor was up, and stayed so."""
    drain: timedelta | None
    """From the deletion of the claim until it was gone."""
    total: timedelta | None
    window: Window | None

    def as_json(self) -> dict[str, Any]:
        """One entry of ``rotations``."""
        return {
            "nodeClaim": self.claim,
            "node": self.node,
            "successor": self.successor or None,
            "start": format_stamp(self.start),
            "end": None if self.end is None else format_stamp(self.end),
            "surgeSeconds": _seconds(self.surge),
            "drainSeconds": _seconds(self.drain),
            "totalSeconds": _seconds(self.total),
            "window": None if self.window is None else format_stamp(self.window.start),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The end of a demo."""

    verdict: Verdict
    courses: tuple[Course, ...]
    failed_syncs: int = 0
    """How often the controller got no good answer from the hooks."""
    first_failure: str = ""

    @property
    def replaced(self) -> int:
        """How many nodes were replaced; one whose rotation was begun again counts once."""
        return len({one.claim for one in self.courses if one.end is not None})

    def as_json(self) -> dict[str, Any]:
        """What ``--output json`` prints."""
        return {
            "verdict": "pass" if self.verdict.is_pass else "fail",
            "violations": [str(one) for one in self.verdict.violations],
            "failedSyncs": self.failed_syncs,
            "rotations": [course.as_json() for course in self.courses],
        }


def report(
    verdict: Verdict, start: datetime, windows: Sequence[Window], changes: Sequence[Change] = ()
) -> Report:
    """Put the rotations of a verdict into time; ``start`` is when the history's clock showed nought.

    ``changes`` may tell of calls of the hooks that failed.
    """
    courses = tuple(_course(one, start, windows) for one in verdict.rotations)
    failures: dict[str, int] = {}
    first = ""
    for change in changes:
        if change.kind == "Event" and change.object.get("reason") == SYNC_ERROR:
            failures[change.name] = max(failures.get(change.name, 0), change.object.get("count", 1))
            first = first or change.object.get("message", "")
    return Report(verdict, courses, sum(failures.values()), first)


def _course(rotation: Rotation, start: datetime, windows: Sequence[Window]) -> Course:
    begun = start + timedelta(seconds=rotation.anchored.at)
    total = _between(rotation.anchored, rotation.gone)
    return Course(
        claim=rotation.claim,
        node=rotation.node,
        successor=rotation.host or rotation.successor,
        start=begun,
        end=None if total is None else begun + total,
        surge=_between(rotation.anchored, rotation.held or rotation.ready),
        drain=_between(rotation.deleted, rotation.gone),
        total=total,
        window=next((one for one in windows if one.start <= begun < one.end), None),
    )


def _between(earlier: Change | None, later: Change | None) -> timedelta | None:
    if earlier is None or later is None:
        return None
    return timedelta(seconds=later.at - earlier.at) // _SECOND * _SECOND


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else span // _SECOND
