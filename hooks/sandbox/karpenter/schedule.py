"""Cron schedules of disruption budgets, in UTC.

Owns when one next hits. Five fields with lists, ranges, steps and names, and the @ words; as
``robfig/cron`` reads them (ParseStandard), which Karpenter uses.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_WORDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAYS: Final = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_FIELDS: Final = 5
_A_MINUTE: Final = timedelta(minutes=1)
_HORIZON: Final = timedelta(days=5 * 366)


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule: allowed values of each field, and whether both day fields were named."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first hit after a moment; None when none comes in five years."""
        at = moment.astimezone(UTC).replace(second=0, microsecond=0) + _A_MINUTE
        end = at + _HORIZON
        while at < end:
            if not self._is_day(at):
                at = at.replace(hour=0, minute=0) + timedelta(days=1)
            elif at.hour not in self.hours:
                at = at.replace(minute=0) + timedelta(hours=1)
            elif at.minute not in self.minutes:
                at += _A_MINUTE
            else:
                return at
        return None

    def _is_day(self, at: datetime) -> bool:
        if at.month not in self.months:
            return False
        by_date, by_weekday = at.day in self.days, at.isoweekday() % 7 in self.weekdays
        return by_date or by_weekday if self.either_day else by_date and by_weekday


@lru_cache(maxsize=64)
def cron_from(text: str) -> Cron:
    """Return the schedule of a cron text; raise ValueError for other text."""
    fields = _WORDS.get(text, text).split()
    if len(fields) != _FIELDS:
        raise ValueError(f"expected exactly 5 fields, found {len(fields)}: [{text}]")
    minutes, hours, days, months, weekdays = fields
    return Cron(
        minutes=_values(minutes, 0, 59, {}),
        hours=_values(hours, 0, 23, {}),
        days=_values(days, 1, 31, {}),
        months=_values(months, 1, 12, _MONTHS),
        weekdays=_values(weekdays, 0, 6, _DAYS),
        either_day=not days.startswith(("*", "?")) and not weekdays.startswith(("*", "?")),
    )


def _values(field: str, first: int, last: int, names: dict[str, int]) -> frozenset[int]:
    values: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        low, dash, high = span.partition("-")
        if low in {"*", "?"}:
            start, end = first, last
        else:
            start = _number(low, names)
            end = _number(high, names) if dash else (last if step else start)
        if not first <= start <= end <= last or (step and int(step) < 1):
            raise ValueError(f"out of range: {part}")
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def _number(text: str, names: dict[str, int]) -> int:
    return names[text.lower()] if text.lower() in names else int(text)
