"""When maintenance windows are open: their union's real occurrences, and figures about them.

Owns the calendar: days, midnight, 24:00, DST, merging. Leaves exclusions to
:mod:`hooks.rotation.chances`, and what P and D are good for to :mod:`hooks.rotation.schedule`.
All times are aware UTC; an occurrence is ``[start, end)`` and belongs to the local day on which it
starts. Everything is cached by the windows and a UTC date, so that a pass costs microseconds.
Source: seed 002 section 3.1, design/rotation.md section 5.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from hooks.rotation.model import Window
from hooks.rotation.zones import first_reading, is_known_zone, last_reading, zone

__all__ = [
    "HORIZON",
    "NO_TIME",
    "Occurrence",
    "WindowFigures",
    "Windows",
    "is_continuous",
    "is_known_zone",
    "next_opening",
    "occurrences",
    "open_occurrence",
    "window_figures",
]

Windows: TypeAlias = tuple[Window, ...]

HORIZON: Final = timedelta(weeks=54)
"""How far ahead the figures look: a year with all its DST changes, and a bit."""
NO_TIME: Final = timedelta(0)
TICK: Final = timedelta(minutes=1)
"""What P collapses to when the union never closes."""
DAY: Final = timedelta(days=1)

_HORIZON_DAYS: Final = HORIZON.days
_MARGIN: Final = 9
"""Days enumerated before and after: more than a week, so that what is open there is seen whole."""
_MINUTES: Final = 24 * 60
_FIRST_DAY: Final = date.min.toordinal() + 2
_LAST_DAY: Final = date.max.toordinal() - 2


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One span ``[start, end)`` in which the union of the windows is open."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class WindowFigures:
    """What the coming 54 weeks of a union look like; all zero when it never opens."""

    period: timedelta
    """P: largest gap between two starts; one minute when the union never closes."""
    shortest: timedelta
    """D: shortest occurrence; 24 hours when the union never closes."""
    gap: timedelta
    """Shortest closed time between two occurrences; zero when the union never closes."""
    continuous: bool = False
    """Whether the union never closes."""


def occurrences(windows: Windows, after: datetime, until: datetime) -> tuple[Occurrence, ...]:
    """All occurrences of the union that reach into ``[after, until)``, in order and disjoint.

    Overlapping and touching ones are merged. They aren't cut at ``after`` and ``until``; one that
    has been open for more than a week before may seem to start later than it did, and one that is
    open for more than a week beyond may seem to end sooner.
    """
    pages = max(1, -(-(until - after) // HORIZON))
    line = _line(windows, after.toordinal(), pages)
    return tuple(entry for entry in line if entry.end > after and entry.start < until)


def open_occurrence(windows: Windows, now: datetime) -> Occurrence | None:
    """The occurrence that is open now; None when the union is closed."""
    line = _line(windows, now.toordinal(), 1)
    at = bisect_right(line, now, key=_start) - 1
    return line[at] if at >= 0 and now < line[at].end else None


def next_opening(windows: Windows, now: datetime) -> datetime | None:
    """When the union opens next after now (one that is open now must close first), or None."""
    line = _line(windows, now.toordinal(), 1)
    at = bisect_right(line, now, key=_start)
    return line[at].start if at < len(line) else None


def is_continuous(windows: Windows, now: datetime) -> bool:
    """Whether the union doesn't close in the coming 54 weeks."""
    return window_figures(windows, now).continuous


def window_figures(windows: Windows, now: datetime) -> WindowFigures:
    """P, D and the shortest gap over the coming 54 weeks, counted from the UTC date of now."""
    return _figures(windows, now.toordinal())


def _start(entry: Occurrence) -> datetime:
    return entry.start


@lru_cache(maxsize=256)
def _figures(windows: Windows, day: int) -> WindowFigures:
    line = _line(windows, day, 1)
    if not line:
        return WindowFigures(NO_TIME, NO_TIME, NO_TIME)
    begin = datetime.fromordinal(day).replace(tzinfo=UTC)
    finish = begin + timedelta(days=min(_HORIZON_DAYS, _LAST_DAY - day))
    if any(entry.start <= begin and entry.end >= finish for entry in line):
        return WindowFigures(TICK, DAY, NO_TIME, continuous=True)
    coming = [entry for entry in line if begin <= entry.start <= finish]
    return WindowFigures(
        period=max((b.start - a.start for a, b in pairwise(coming)), default=HORIZON),
        shortest=min((entry.end - entry.start for entry in coming), default=DAY),
        gap=min((b.start - a.end for a, b in pairwise(coming)), default=HORIZON),
    )


@lru_cache(maxsize=256)
def _line(windows: Windows, day: int, pages: int) -> tuple[Occurrence, ...]:
    """The union from nine days before ``day`` to nine days after ``pages`` horizons, merged."""
    first = max(day - _MARGIN, _FIRST_DAY)
    last = min(day + pages * _HORIZON_DAYS + _MARGIN, _LAST_DAY)
    found = sorted(span for window in set(windows) for span in _spans(window, first, last))
    merged: list[tuple[datetime, datetime]] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(
        Occurrence(start.replace(tzinfo=UTC), end.replace(tzinfo=UTC)) for start, end in merged
    )


def _spans(window: Window, first: int, last: int) -> Iterator[tuple[datetime, datetime]]:
    """Each occurrence of one window that starts on a local day of ``[first, last)``, in naive UTC."""
    place = zone(window.timezone)
    until = window.end if window.end > window.start else window.end + _MINUTES
    start, end = timedelta(minutes=window.start), timedelta(minutes=until)
    for ordinal in range(first, last):
        if (ordinal - 1) % 7 not in window.days:  # 0001-01-01, ordinal 1, was a Monday
            continue
        midnight = datetime.fromordinal(ordinal)
        opens = first_reading(place, midnight + start)
        closes = last_reading(place, midnight + end)
        # A DST gap may swallow all of it; a weekly window must not lose its week.
        yield opens, closes if closes > opens else opens + (end - start)
