"""Kubernetes' times and durations, and what time it was when something happened.

Owns the two grammars, and the reading of wall time off a history, whose own clock may have begun
anywhere. Objects carry whole seconds, so every comparison allows for :data:`SLACK`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hooks.verdict.history import Change

SLACK = timedelta(seconds=1)
"""What is lost where a time is cut to whole seconds."""
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Outside of these a time is a mistake, and sums of several could not be written down."""
LONGEST = timedelta(days=200 * 365)
NEVER = "Never"
UNTIMED = "nothing in the history tells what time it was"
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(h|ms|m|s|us|µs|ns)")


def parse_time(text: str) -> datetime:
    """An RFC 3339 time; raises ValueError for anything else, and for times out of all bounds."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None or not EARLIEST <= found <= LATEST:
        raise ValueError(f"{text!r} is no time from 1970 to 2200 with its zone")
    return found


def parse_duration(text: str) -> timedelta | None:
    """A Go duration; None for Never. Raises ValueError for anything else."""
    if text == NEVER:
        return None
    parts = list(_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text:
        raise ValueError(f"{text!r} is no duration")
    seconds = sum(float(part[1]) * _UNITS[part[2]] for part in parts)
    if seconds > LONGEST.total_seconds():
        raise ValueError(f"{text!r} is longer than two hundred years")
    return timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class WallClock:
    """Tells what time it was; ``origin`` is when the history's own clock showed nought."""

    origin: datetime

    def of(self, change: Change) -> datetime:
        """When it happened, within :data:`SLACK`."""
        return self.origin + timedelta(seconds=change.at)


def wall_clock(changes: Sequence[Change]) -> WallClock | None:
    """The clock by which all objects were created; None when none was.

    What had been there before the recording began was created earlier than it was seen, and what
    was told late likewise: the latest of all origins is the true one.
    """
    origins = [
        parse_time(created) - timedelta(seconds=change.at)
        for change in changes
        if change.type == "ADDED"
        and (created := change.object["metadata"].get("creationTimestamp"))
    ]
    return WallClock(max(origins)) if origins else None
