"""How many chances are left when exclusions take some away."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hooks.rotation.chances import chances_between, few_left_from, merged, open_time
from hooks.rotation.model import Exclusion, Policy, Selector, Window
from hooks.rotation.windows import Occurrence


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def exclude(*spans: tuple[str, str]) -> tuple[Exclusion, ...]:
    return tuple(Exclusion(utc(start), utc(end)) for start, end in spans)


BOUND = timedelta(hours=1, minutes=17)
SATURDAYS = Policy("p", Selector(), (Window("UTC", frozenset({5}), 120, 360),))
"""02:00-06:00 on 5, 12, 19 and 26 December 2026, among others."""
ALWAYS = replace(SATURDAYS, windows=(Window("UTC", frozenset(range(7)), 0, 1440),))


def test_exclusions_are_merged_and_sorted() -> None:
    found = merged(
        exclude(
            ("2026-12-20", "2026-12-24"),
            ("2026-12-01", "2026-12-02"),
            ("2026-12-22", "2026-12-23"),
            ("2026-12-24", "2026-12-26"),
            ("2026-12-10", "2026-12-10"),
        )
    )
    assert found == (
        Occurrence(utc("2026-12-01"), utc("2026-12-02")),
        Occurrence(utc("2026-12-20"), utc("2026-12-26")),
    )


@pytest.mark.parametrize(
    ("exclusions", "after", "until", "expected"),
    [
        pytest.param((), "2026-11-30", "2026-12-28", 4, id="all four"),
        pytest.param((), "2026-12-05T05:59", "2026-12-28", 4, id="the open one counts"),
        pytest.param((), "2026-12-05T06:00", "2026-12-28", 3, id="a closed one doesn't"),
        pytest.param(
            (), "2026-11-30", "2026-12-26T02:01", 4, id="a minute before the end is enough"
        ),
        pytest.param((), "2026-11-30", "2026-12-26T02:00:59", 3, id="less than a minute isn't"),
        pytest.param((), "2026-12-28", "2026-12-01", 0, id="backwards"),
        pytest.param(
            exclude(("2026-12-18", "2026-12-28")), "2026-11-30", "2026-12-28", 2, id="two excluded"
        ),
        pytest.param(
            exclude(("2026-12-19T02:00", "2026-12-19T05:59")),
            "2026-11-30",
            "2026-12-28",
            4,
            id="a minute outside is a chance",
        ),
        pytest.param(
            exclude(("2026-12-19T01:00", "2026-12-19T05:59:01")),
            "2026-11-30",
            "2026-12-28",
            3,
            id="less isn't",
        ),
        pytest.param(
            exclude(("2026-12-19T02:00:30", "2026-12-19T05:59:30")),
            "2026-11-30",
            "2026-12-28",
            4,
            id="two halves make a minute",
        ),
        pytest.param(
            exclude(("2026-12-19T04:00", "2026-12-20")),
            "2026-12-19T04:00",
            "2026-12-28",
            1,
            id="what is left of the open one is excluded",
        ),
    ],
)
def test_chances_of_windows(
    exclusions: tuple[Exclusion, ...], after: str, until: str, expected: int
) -> None:
    policy = replace(SATURDAYS, exclusions=exclusions)
    assert chances_between(policy, utc(after), utc(until), BOUND) == expected


@pytest.mark.parametrize("weeks", [1, 53, 54, 55, 108, 200])
def test_chances_are_counted_however_far_away_the_end_is(weeks: int) -> None:
    mondays = replace(SATURDAYS, windows=(Window("UTC", frozenset({0}), 120, 360),))
    after = utc("2026-11-30T23:00")  # a Monday, its window is over
    until = utc("2026-11-30T02:01") + timedelta(weeks=weeks)
    assert chances_between(mondays, after, until, BOUND) == weeks
    assert chances_between(mondays, after, until - timedelta(minutes=1), BOUND) == weeks - 1


@pytest.mark.parametrize(
    ("exclusions", "after", "until", "expected"),
    [
        pytest.param((), "2026-12-01T00:00", "2026-12-01T07:42", 6, id="six times t_rot"),
        pytest.param((), "2026-12-01T00:00", "2026-12-01T07:41", 5, id="a minute less"),
        pytest.param((), "2026-12-02T00:00", "2026-12-01T00:00", 0, id="backwards"),
        pytest.param(
            exclude(("2026-12-01T01:00", "2026-12-01T05:00"), ("2026-12-01T06:00", "2026-12-09")),
            "2026-12-01T00:00",
            "2026-12-05T00:00",
            1,  # two hours of open time
            id="exclusions don't count",
        ),
    ],
)
def test_chances_of_a_union_that_never_closes(
    exclusions: tuple[Exclusion, ...], after: str, until: str, expected: int
) -> None:
    policy = replace(ALWAYS, exclusions=exclusions)
    assert chances_between(policy, utc(after), utc(until), BOUND) == expected


def test_open_time() -> None:
    spans = exclude(("2026-11-30", "2026-12-01T01:00"), ("2026-12-01T03:00", "2026-12-01T04:00"))
    assert open_time(spans, utc("2026-12-01"), utc("2026-12-01T05:00")) == timedelta(hours=3)


@pytest.mark.parametrize(
    ("policy", "until", "expected"),
    [
        pytest.param(SATURDAYS, "2026-12-20", "2026-12-05T06:00", id="after the third last"),
        pytest.param(SATURDAYS, "2026-12-14", None, id="from the start"),
        pytest.param(
            replace(SATURDAYS, exclusions=exclude(("2026-12-12T04:00", "2026-12-13"))),
            "2026-12-28",
            "2026-12-12T04:00",
            id="a chance is over with its last time outside exclusions",
        ),
        pytest.param(
            # (K + 1) * t_rot = 3h51m: at that time three chances are left, after it two.
            ALWAYS,
            "2026-12-02T03:51",
            "2026-12-02T00:00:00.000001",
            id="never closed: open time counts",
        ),
        pytest.param(
            replace(ALWAYS, exclusions=exclude(("2026-12-02T00:00", "2026-12-02T10:00"))),
            "2026-12-02T12:51",
            "2026-12-01T23:00:00.000001",
            id="never closed: excluded time doesn't count",
        ),
        pytest.param(ALWAYS, "2026-11-30T03:00", None, id="never closed: from the start"),
    ],
)
def test_from_when_on_few_chances_are_left(
    policy: Policy, until: str, expected: str | None
) -> None:
    found = few_left_from(policy, utc("2026-11-30"), utc(until), BOUND)
    assert found == (None if expected is None else utc(expected))
