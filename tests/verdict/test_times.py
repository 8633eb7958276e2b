"""Times and durations as Kubernetes writes them, and the wall clock of a history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hooks.verdict.history import Change
from hooks.verdict.times import parse_duration, parse_time, wall_clock
from hooks.verdict.windows import is_open, parse_clock


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("720h", 2592000), ("1h30m", 5400), ("1.5h", 5400), ("10s", 10), ("250ms", 0.25), ("0s", 0)],
)
def test_a_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


def test_never_is_no_duration() -> None:
    assert parse_duration("Never") is None


@pytest.mark.parametrize("text", ["", "h", "10", "10d", "1h x", "-1h", "99999999999h", "never"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"no duration|longer|no time|Invalid isoformat"):
        parse_duration(text)


@pytest.mark.parametrize(
    "text", ["", "now", "2026-01-03", "2026-01-03T01:00:00", "0001-01-01T00:00:00Z", "٣"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"no duration|longer|no time|Invalid isoformat"):
        parse_time(text)


def test_the_wall_clock_is_that_of_what_was_created_while_it_was_recorded() -> None:
    def added(at: float, created: str) -> Change:
        thing = {"metadata": {"name": "x", "creationTimestamp": created}}
        return Change(at, 1, "Pod", "ADDED", thing)

    old, new = added(7, "2025-12-01T00:00:00Z"), added(9.5, "2026-01-03T01:00:09Z")
    clock = wall_clock([old, new])
    assert clock is not None
    assert clock.of(old) == datetime(2026, 1, 3, 1, 0, 6, 500_000, tzinfo=UTC)
    assert wall_clock([]) is None


@pytest.mark.parametrize(
    ("zone", "start", "end", "utc", "expected"),
    [
        ("UTC", "01:00", "05:00", "2026-01-03T01:00:00Z", True),
        ("UTC", "01:00", "05:00", "2026-01-03T00:59:59Z", True),
        ("UTC", "01:00", "05:00", "2026-01-03T00:59:58Z", False),
        ("UTC", "01:00", "05:00", "2026-01-03T05:00:00Z", False),
        ("UTC", "01:00", "05:00", "2026-01-04T01:00:00Z", False),
        ("UTC", "22:00", "02:00", "2026-01-04T01:59:59Z", True),
        ("UTC", "22:00", "02:00", "2026-01-04T02:00:00Z", False),
        ("UTC", "22:00", "02:00", "2026-01-03T01:00:00Z", False),
        ("UTC", "22:00", "24:00", "2026-01-03T23:59:00Z", True),
        ("UTC", "22:00", "00:00", "2026-01-04T00:00:00Z", False),
        ("Asia/Tokyo", "01:00", "05:00", "2026-01-02T16:00:00Z", True),
        ("Asia/Tokyo", "01:00", "05:00", "2026-01-03T01:00:00Z", False),
    ],
)
def test_a_window_of_saturdays(
    zone: str, start: str, end: str, utc: str, *, expected: bool
) -> None:
    window = {"timezone": zone, "days": ["Sat"], "start": start, "end": end}
    policy = {"metadata": {"name": "p"}, "spec": {"maintenanceWindows": [window]}}
    assert is_open(policy, parse_time(utc)) is expected


@pytest.mark.parametrize("text", ["", "1:00", "24:01", "25:00", "01:60", "01:00:00"])
def test_what_is_no_time_of_day(text: str) -> None:
    with pytest.raises(ValueError, match="no time of day"):
        parse_clock(text)
