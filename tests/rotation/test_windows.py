"""When windows are open. The cases by name are those of neighbouring projects' trackers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.rotation.model import Window
from hooks.rotation.windows import (
    HORIZON,
    Occurrence,
    WindowFigures,
    is_continuous,
    next_opening,
    occurrences,
    open_occurrence,
    window_figures,
)

MON, TUE, WED, THU, FRI, SAT, SUN = range(7)
ALL = frozenset(range(7))
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def clock(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def window(zone: str, days: set[int] | frozenset[int], start: str, end: str) -> Window:
    return Window(zone, frozenset(days), clock(start), clock(end))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def span(start: str, end: str) -> Occurrence:
    return Occurrence(utc(start), utc(end))


SEED = (window("Asia/Tokyo", {WED, SAT}, "02:00", "06:00"),)
NIGHTS = (window("America/Los_Angeles", {MON, TUE, WED, THU, FRI}, "21:00", "05:00"),)
BERLIN = (window("Europe/Berlin", {SUN}, "02:00", "03:00"),)
NOW = utc("2026-11-29T22:00:00")


@pytest.mark.parametrize(
    ("windows", "now", "is_open"),
    [
        pytest.param(NIGHTS, "2026-12-03T08:49:00", True, id="kured 204: Thursday 00:49"),
        pytest.param(NIGHTS, "2026-12-04T06:49:00", True, id="kured 204: Thursday 22:49"),
        pytest.param(NIGHTS, "2026-12-05T08:30:00", True, id="kured 204: Saturday, Friday's tail"),
        pytest.param(NIGHTS, "2026-12-07T08:30:00", False, id="kured 204: Monday 00:30"),
        pytest.param(SEED, "2026-12-01T17:00:00", True, id="rebootmgr 10: exactly at start"),
        pytest.param(SEED, "2026-12-01T16:59:59.999999", False, id="rebootmgr 10: just before"),
        pytest.param(SEED, "2026-12-01T20:59:59.999999", True, id="rebootmgr 10: just before end"),
        pytest.param(SEED, "2026-12-01T21:00:00", False, id="rebootmgr 10: exactly at end"),
        pytest.param(BERLIN, "2026-03-29T00:59:59", False, id="karpenter 3074: before the gap"),
        pytest.param(BERLIN, "2026-03-29T01:00:00", True, id="karpenter 3074: moved to 03:00"),
        pytest.param(BERLIN, "2026-10-25T00:00:00", True, id="karpenter 3074: the first 02:00"),
        pytest.param(BERLIN, "2026-10-25T01:30:00", True, id="karpenter 3074: the second 02:30"),
        pytest.param(BERLIN, "2026-10-25T02:00:00", False, id="karpenter 3074: 03:00"),
        pytest.param((), "2026-12-01T17:00:00", False, id="no windows"),
    ],
)
def test_open_or_closed(windows: tuple[Window, ...], now: str, *, is_open: bool) -> None:
    assert (open_occurrence(windows, utc(now)) is not None) == is_open


@pytest.mark.parametrize(
    ("windows", "after", "until", "expected"),
    [
        pytest.param(
            SEED,
            "2026-11-29T22:00:00",
            "2026-12-08T22:00:00",
            [
                span("2026-12-01T17:00:00", "2026-12-01T21:00:00"),
                span("2026-12-04T17:00:00", "2026-12-04T21:00:00"),
                span("2026-12-08T17:00:00", "2026-12-08T21:00:00"),
            ],
            id="the seed's union",
        ),
        pytest.param(
            SEED,
            "2026-12-01T20:59:00",
            "2026-12-04T17:00:00",
            [span("2026-12-01T17:00:00", "2026-12-01T21:00:00")],
            id="the open one is whole; one that starts at the end isn't in",
        ),
        pytest.param(SEED, "2026-12-01T21:00:00", "2026-12-04T17:00:00", [], id="between"),
        pytest.param(SEED, "2026-12-05T00:00:00", "2026-12-01T00:00:00", [], id="backwards"),
        pytest.param(
            (window("UTC", {MON}, "22:00", "04:00"),),
            "2026-12-07T00:00:00",
            "2026-12-10T00:00:00",
            [span("2026-12-07T22:00:00", "2026-12-08T04:00:00")],
            id="across midnight, on the day of its start",
        ),
        pytest.param(
            (window("UTC", {MON}, "22:00", "24:00"),),
            "2026-12-07T00:00:00",
            "2026-12-10T00:00:00",
            [span("2026-12-07T22:00:00", "2026-12-08T00:00:00")],
            id="until 24:00",
        ),
        pytest.param(
            (window("UTC", {MON}, "00:00", "24:00"),),
            "2026-12-07T00:00:00",
            "2026-12-10T00:00:00",
            [span("2026-12-07T00:00:00", "2026-12-08T00:00:00")],
            id="a whole day",
        ),
        pytest.param(
            (
                window("UTC", {MON}, "22:00", "24:00"),
                window("UTC", {TUE}, "00:00", "02:00"),
                window("Asia/Tokyo", {TUE}, "10:30", "12:00"),
                window("UTC", {TUE}, "05:00", "06:00"),
            ),
            "2026-12-07T00:00:00",
            "2026-12-09T00:00:00",
            [
                span("2026-12-07T22:00:00", "2026-12-08T03:00:00"),
                span("2026-12-08T05:00:00", "2026-12-08T06:00:00"),
            ],
            id="touching and overlapping ones are one",
        ),
        pytest.param(
            (
                window("UTC", {MON}, "01:00", "08:00"),
                window("UTC", {MON}, "02:00", "03:00"),
            ),
            "2026-12-07T00:00:00",
            "2026-12-08T00:00:00",
            [span("2026-12-07T01:00:00", "2026-12-07T08:00:00")],
            id="one inside the other",
        ),
        pytest.param(
            BERLIN,
            "2026-03-20T00:00:00",
            "2026-04-06T00:00:00",
            [
                span("2026-03-22T01:00:00", "2026-03-22T02:00:00"),
                span("2026-03-29T01:00:00", "2026-03-29T02:00:00"),
                span("2026-04-05T00:00:00", "2026-04-05T01:00:00"),
            ],
            id="spring: a swallowed one keeps its nominal hour",
        ),
        pytest.param(
            BERLIN,
            "2026-10-17T00:00:00",
            "2026-11-02T00:00:00",
            [
                span("2026-10-18T00:00:00", "2026-10-18T01:00:00"),
                span("2026-10-25T00:00:00", "2026-10-25T02:00:00"),
                span("2026-11-01T01:00:00", "2026-11-01T02:00:00"),
            ],
            id="autumn: one occurrence of two real hours",
        ),
        pytest.param(
            (window("Europe/Berlin", {SUN}, "02:15", "02:45"),),
            "2026-10-25T00:00:00",
            "2026-10-26T00:00:00",
            [span("2026-10-25T00:15:00", "2026-10-25T01:45:00")],
            id="autumn: ambiguous start first, ambiguous end second",
        ),
        pytest.param(
            (window("Europe/Berlin", {SUN}, "02:15", "02:45"),),
            "2026-03-29T00:00:00",
            "2026-03-30T00:00:00",
            [span("2026-03-29T01:15:00", "2026-03-29T01:45:00")],
            id="spring: start and end both move by the gap",
        ),
        pytest.param(
            (window("Europe/Berlin", {SUN}, "01:30", "02:30"),),
            "2026-03-29T00:00:00",
            "2026-03-30T00:00:00",
            [span("2026-03-29T00:30:00", "2026-03-29T01:30:00")],
            id="spring: an end inside the gap moves",
        ),
        pytest.param(
            (window("Europe/Berlin", {SUN}, "02:30", "03:15"),),
            "2026-03-29T00:00:00",
            "2026-03-30T00:00:00",
            [span("2026-03-29T01:30:00", "2026-03-29T02:15:00")],
            id="spring: one that would end before it starts keeps its nominal length",
        ),
        pytest.param(
            (window("Europe/Berlin", {SAT}, "22:00", "04:00"),),
            "2026-03-28T12:00:00",
            "2026-03-29T12:00:00",
            [span("2026-03-28T21:00:00", "2026-03-29T02:00:00")],
            id="spring: a night across it is an hour shorter",
        ),
    ],
)
def test_occurrences(
    windows: tuple[Window, ...], after: str, until: str, expected: list[Occurrence]
) -> None:
    assert occurrences(windows, utc(after), utc(until)) == tuple(expected)


@pytest.mark.parametrize("weeks", [1, 53, 54, 55, 108, 200])
def test_occurrences_are_found_however_far_away_the_end_is(weeks: int) -> None:
    mondays = (window("UTC", {MON}, "02:00", "04:00"),)
    after = utc("2026-11-30T23:00:00")  # a Monday, its window is over
    found = occurrences(mondays, after, utc("2026-11-30T02:01:00") + timedelta(weeks=weeks))
    assert len(found) == weeks
    assert found[-1].end - found[-1].start == 2 * HOUR


@pytest.mark.parametrize(
    ("now", "opens"),
    [
        ("2026-11-29T22:00:00", "2026-12-01T17:00:00"),
        ("2026-12-01T16:59:59", "2026-12-01T17:00:00"),
        ("2026-12-01T17:00:00", "2026-12-04T17:00:00"),
        ("2026-12-01T21:00:00", "2026-12-04T17:00:00"),
    ],
)
def test_next_opening(now: str, opens: str) -> None:
    assert next_opening(SEED, utc(now)) == utc(opens)


ALWAYS = (window("Europe/Berlin", ALL, "00:00", "24:00"),)
HALVES = (window("UTC", ALL, "00:00", "12:00"), window("UTC", ALL, "12:00", "00:00"))


@pytest.mark.parametrize("windows", [ALWAYS, HALVES])
def test_a_union_that_never_closes(windows: tuple[Window, ...]) -> None:
    assert is_continuous(windows, NOW)
    assert next_opening(windows, NOW) is None
    assert window_figures(windows, NOW) == WindowFigures(
        timedelta(minutes=1), DAY, timedelta(0), continuous=True
    )


@pytest.mark.parametrize(
    ("windows", "period", "shortest", "gap"),
    [
        pytest.param(SEED, 4 * DAY, 4 * HOUR, 3 * DAY - 4 * HOUR, id="the seed's"),
        pytest.param(
            (window("Asia/Tokyo", {SAT}, "02:00", "06:00"),),
            7 * DAY,
            4 * HOUR,
            7 * DAY - 4 * HOUR,
            id="the seed's weekly one",
        ),
        pytest.param(
            (window("UTC", {MON, TUE, WED, THU, FRI}, "21:00", "05:00"),),
            3 * DAY,
            8 * HOUR,
            DAY - 8 * HOUR,
            id="weekdays",
        ),
        pytest.param(
            (window("Europe/Berlin", ALL, "01:00", "04:00"),),
            DAY + HOUR,
            2 * HOUR,
            DAY - 3 * HOUR,
            id="real occurrences: DST stretches and shrinks them",
        ),
        pytest.param(
            BERLIN,
            # From 01:00Z in winter to the first 02:00 of autumn or back, an hour more or less.
            7 * DAY + HOUR,
            HOUR,
            7 * DAY - 2 * HOUR,
            id="a weekly window doesn't lose the week of spring",
        ),
        pytest.param((), timedelta(0), timedelta(0), timedelta(0), id="none"),
    ],
)
def test_figures(
    windows: tuple[Window, ...], period: timedelta, shortest: timedelta, gap: timedelta
) -> None:
    assert window_figures(windows, NOW) == WindowFigures(period, shortest, gap)


def test_the_ends_of_the_calendar_bring_nothing_down() -> None:
    for now in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        assert open_occurrence(SEED, now) is None
        assert occurrences(SEED, now, now) == ()
        assert window_figures(SEED, now).period > timedelta(0)


# --- Properties ---

FIXED = {"UTC": 0, "Asia/Tokyo": 540, "Asia/Kolkata": 330, "Etc/GMT+12": -720}
MOVING = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"]
STEP = 30
EDGES = st.tuples(st.integers(0, 47), st.integers(1, 48)).filter(lambda edges: edges[0] != edges[1])
INSTANTS = st.integers(0, 20 * 365 * 24 * 60).map(
    lambda minutes: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)


@st.composite
def windows_of(draw: st.DrawFn, zones: list[str], most: int = 4) -> tuple[Window, ...]:
    made = []
    for _ in range(draw(st.integers(1, most))):
        start, end = draw(EDGES)
        days = draw(st.frozensets(st.integers(0, 6), min_size=1))
        made.append(Window(draw(st.sampled_from(zones)), days, start * STEP, end * STEP))
    return tuple(made)


def reads_open(windows: tuple[Window, ...], at: datetime) -> bool:
    """Reads the wall clock of each zone, minute by minute, as an operator would."""
    for entry in windows:
        local = at + timedelta(minutes=FIXED[entry.timezone])
        minute, today = local.hour * 60 + local.minute, local.weekday()
        if entry.end > entry.start:
            if today in entry.days and entry.start <= minute < entry.end:
                return True
        elif (today in entry.days and minute >= entry.start) or (
            (today - 1) % 7 in entry.days and minute < entry.end
        ):
            return True
    return False


@given(windows_of(list(FIXED)), st.integers(0, 365 * 24 * 60))
def test_open_means_what_the_wall_clock_says(windows: tuple[Window, ...], minutes: int) -> None:
    at = utc("2026-01-01T00:00:00") + timedelta(minutes=minutes)
    assert (open_occurrence(windows, at) is not None) == reads_open(windows, at)


@settings(max_examples=40)
@given(windows_of(list(FIXED)))
def test_p_is_the_largest_gap_between_openings_of_the_wall_clock(
    windows: tuple[Window, ...],
) -> None:
    begin = utc("2026-11-30T00:00:00")
    steps = [begin + timedelta(minutes=STEP * step) for step in range(22 * 48)]
    opening = [
        after
        for before, after in pairwise(steps)
        if reads_open(windows, after) and not reads_open(windows, before)
    ]
    figures = window_figures(windows, begin)
    if opening:
        assert figures.period == max(b - a for a, b in pairwise(opening))
    else:
        assert figures.continuous


@settings(max_examples=40)
@given(windows_of([*FIXED, *MOVING]), INSTANTS)
def test_the_union_is_ordered_and_disjoint_whatever_the_order_of_the_windows(
    windows: tuple[Window, ...], after: datetime
) -> None:
    found = occurrences(windows, after, after + 30 * DAY)
    assert all(entry.start < entry.end for entry in found)
    assert all(a.end < b.start for a, b in pairwise(found))
    assert occurrences(windows[::-1], after, after + 30 * DAY) == found
    assert window_figures(windows[::-1], after) == window_figures(windows, after)


@settings(max_examples=40)
@given(windows_of(MOVING, most=1), st.integers(0, 6))
def test_no_dst_change_loses_a_week(windows: tuple[Window, ...], day: int) -> None:
    weekly = (Window(windows[0].timezone, frozenset({day}), windows[0].start, windows[0].end),)
    found = occurrences(weekly, NOW, NOW + HORIZON)
    assert len(found) in {54, 55}
    assert all(6.9 * DAY < b.start - a.start < 7.1 * DAY for a, b in pairwise(found))
