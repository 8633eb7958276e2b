"""How many chances to start a rotation are left between two times, exclusions taken out.

A chance is an occurrence of the windows' union with at least a minute outside exclusions; of a
union that never closes, each ``t_rot`` of open time. Owns the counting. Leaves to
:mod:`hooks.rotation.due` and :mod:`hooks.rotation.findings` what follows from too few of them.
Source: design/rotation.md section 5 (*Exclusions*).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, TypeAlias

from hooks.rotation.durations import ZERO, shifted
from hooks.rotation.model import Exclusion, Policy
from hooks.rotation.schedule import times
from hooks.rotation.windows import HORIZON, Occurrence, Windows, is_continuous, occurrences

Exclusions: TypeAlias = tuple[Exclusion, ...]

FARTHEST: Final = 10 * HORIZON
"""Nobody plans exclusions beyond; whatever lies there is left to the ordinary lead time."""
ENOUGH: Final = timedelta(minutes=1)
"""How much of an occurrence must lie outside exclusions."""


@dataclass(frozen=True, slots=True)
class Chances:
    """The chances of windows with pauses; both tuples are in order and of one length."""

    usable: tuple[datetime, ...]
    """When each one has been open outside exclusions for a minute."""
    over: tuple[datetime, ...]
    """When each one closes, or its last time outside exclusions ends."""

    def count(self, after: datetime, until: datetime) -> int:
        """How many aren't over at ``after`` (the open one counts) and are usable by ``until``."""
        return max(0, self.before(until) - self.gone(after))

    def before(self, until: datetime) -> int:
        """How many of all are usable by ``until``: claims that agree in this share their last one."""
        return bisect_right(self.usable, until)

    def gone(self, at: datetime) -> int:
        """How many of all are over at that time."""
        return bisect_right(self.over, at)

    def left(self, until: datetime, wanted: int) -> datetime | None:
        """When at most ``wanted`` are left of those before ``until``; None: already at the start."""
        at = self.before(until) - wanted - 1
        return self.over[at] if at >= 0 else None


def chances_between(policy: Policy, after: datetime, until: datetime, bound: timedelta) -> int:
    """How many chances are left between two times; ``bound`` is the t_rot of the claim."""
    if is_continuous(policy.windows, after):
        return open_time(policy.exclusions, after, until) // bound
    return chances(policy, after, until).count(after, until)


def chances(policy: Policy, after: datetime, until: datetime) -> Chances:
    """The chances of windows with pauses from about ``after`` to at least ``until``."""
    day = _midnight(after)
    pages = max(1, -(-(until - day) // HORIZON))
    return _chances(policy.windows, policy.exclusions, day, pages)


def few_left_from(
    policy: Policy, after: datetime, until: datetime, bound: timedelta
) -> datetime | None:
    """From when on at most K chances are left before ``until``; None when that holds at ``after``."""
    if is_continuous(policy.windows, after):
        return _open_time_left_from(
            policy.exclusions, after, until, times(policy.chances + 1, bound)
        )
    since = chances(policy, after, until).left(until, policy.chances)
    return since if since is not None and since > after else None


def open_time(exclusions: Exclusions, after: datetime, until: datetime) -> timedelta:
    """How much of ``[after, until)`` lies outside the exclusions."""
    parts = _free(Occurrence(after, until), merged(exclusions))
    return sum((part.end - part.start for part in parts), ZERO)


@lru_cache(maxsize=256)
def merged(exclusions: Exclusions) -> tuple[Occurrence, ...]:
    """The exclusions' union: in order, disjoint, without empty ones."""
    spans: list[Occurrence] = []
    for entry in sorted(exclusions, key=lambda entry: (entry.start, entry.end)):
        if entry.start >= entry.end:
            continue
        if spans and entry.start <= spans[-1].end:
            spans[-1] = Occurrence(spans[-1].start, max(spans[-1].end, entry.end))
        else:
            spans.append(Occurrence(entry.start, entry.end))
    return tuple(spans)


def _open_time_left_from(
    exclusions: Exclusions, after: datetime, until: datetime, wanted: timedelta
) -> datetime | None:
    """From when on less than ``wanted`` of open time is left before ``until``; None: already so."""
    for part in reversed(tuple(_free(Occurrence(after, until), merged(exclusions)))):
        length = part.end - part.start
        if length >= wanted:
            # At that very time all of it is still left.
            return part.end - wanted + timedelta.resolution
        wanted -= length
    return None


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


@lru_cache(maxsize=256)
def _chances(windows: Windows, exclusions: Exclusions, day: datetime, pages: int) -> Chances:
    spans = merged(exclusions)
    usable: list[datetime] = []
    over: list[datetime] = []
    for entry in occurrences(windows, day, shifted(day, pages * HORIZON)):
        parts = tuple(_free(entry, spans))
        since = _usable(parts)
        if since is not None:
            usable.append(since)
            over.append(parts[-1].end)
    return Chances(tuple(usable), tuple(over))


def _usable(parts: tuple[Occurrence, ...]) -> datetime | None:
    """When the parts have been open for a minute together; None when they never are."""
    missing = ENOUGH
    for part in parts:
        if part.end - part.start >= missing:
            return part.start + missing
        missing -= part.end - part.start
    return None


def _free(entry: Occurrence, spans: tuple[Occurrence, ...]) -> Iterator[Occurrence]:
    """The parts of an occurrence outside disjoint spans, in order."""
    start = entry.start
    first = bisect_right(spans, start, key=lambda span: span.end)
    for span in spans[first:]:
        if span.start >= entry.end:
            break
        if span.start > start:
            yield Occurrence(start, span.start)
        start = span.end
    if start < entry.end:
        yield Occurrence(start, entry.end)
