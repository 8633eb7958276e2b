from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.drain.model import Span, Stamp, Unreadable
from hooks.drain.tracking import (
    LONGEST_TIMEOUT,
    State,
    Tracking,
    findings,
    format_span,
    format_stamp,
    timeout_of,
    tracking,
)
from hooks.drain.writes import Code, Finding
from hooks.rotation.durations import format_go, parse_stamp
from hooks.settings import SettingsError, read_settings
from tests.drain.things import DEPLOYMENT, NOW, SECOND, TERMS, TIMEOUT

MINUTE = timedelta(minutes=1)
MICRO = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("since", "state"),
    [
        (None, State.NONE),
        (Unreadable("yesterday"), State.UNUSABLE),
        (Unreadable(""), State.UNUSABLE),
        (NOW + 5 * MINUTE + MICRO, State.UNUSABLE),
        (datetime.max.replace(tzinfo=UTC), State.UNUSABLE),
        (NOW + 5 * MINUTE, State.LIVE),
        (NOW, State.LIVE),
        (NOW - TIMEOUT + MICRO, State.LIVE),
        (NOW - TIMEOUT, State.TIMED_OUT),
        (datetime.min.replace(tzinfo=UTC), State.TIMED_OUT),
    ],
)
def test_a_tracking_value_has_a_state(since: Stamp, state: State) -> None:
    found = tracking(replace(DEPLOYMENT, restarted_at=since), TERMS)
    is_usable = state in {State.LIVE, State.TIMED_OUT}
    assert isinstance(since, datetime) or not is_usable
    expected = (
        Tracking(state, since, since + TIMEOUT)
        if is_usable and isinstance(since, datetime)
        else Tracking(state)
    )
    assert found == expected


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (None, TIMEOUT),
        (MINUTE, MINUTE),
        (timedelta(days=1), timedelta(days=1)),
        (timedelta(days=1, microseconds=1), timedelta(days=1)),
        (timedelta(days=100_000), timedelta(days=1)),
        (timedelta(0), TIMEOUT),
        (-MINUTE, TIMEOUT),
        (Unreadable("ten minutes"), TIMEOUT),
    ],
)
def test_a_timeout_of_its_own_is_positive_and_as_long_as_the_setting_may_be(
    own: Span, expected: timedelta
) -> None:
    assert timeout_of(replace(DEPLOYMENT, rollout_timeout=own), TERMS) == expected


def test_its_own_timeout_decides_when_tracking_is_over() -> None:
    mine = replace(DEPLOYMENT, restarted_at=NOW - MINUTE, rollout_timeout=MINUTE)
    assert tracking(mine, TERMS) == Tracking(State.TIMED_OUT, NOW - MINUTE, NOW)
    longer = replace(mine, rollout_timeout=MINUTE + SECOND)
    assert tracking(longer, TERMS) == Tracking(State.LIVE, NOW - MINUTE, NOW + SECOND)


@pytest.mark.parametrize(("own", "text"), [(timedelta(0), "'0s'"), (Unreadable("ten"), "'ten'")])
def test_an_invalid_timeout_is_told(own: Span, text: str) -> None:
    assert findings(replace(DEPLOYMENT, rollout_timeout=own), TERMS) == (
        Finding(
            Code.TIMEOUT_INVALID,
            f"annotation graceful-drain.stonal.com/rollout-timeout ({text}) is no positive"
            " duration such as 15m: 10m0s counts",
        ),
    )


def test_a_timeout_that_is_too_long_is_cut_and_told() -> None:
    assert findings(replace(DEPLOYMENT, rollout_timeout=timedelta(hours=25)), TERMS) == (
        Finding(
            Code.TIMEOUT_INVALID,
            "annotation graceful-drain.stonal.com/rollout-timeout ('25h0m0s') is longer than 24h:"
            " 24h0m0s counts",
        ),
    )


def test_the_longest_is_that_of_the_setting() -> None:
    def given(text: str) -> dict[str, str]:
        return {"NODEROTATION_TOKEN_FILE": "token", "NODEROTATION_ROLLOUT_TIMEOUT": text}

    assert read_settings(given("24h")).rollout_timeout == LONGEST_TIMEOUT
    with pytest.raises(SettingsError, match="at most 24h"):
        read_settings(given("24h1s"))


def test_of_what_stands_there_no_more_is_quoted_than_helps() -> None:
    long = Unreadable("x" * 250_000)
    both = findings(replace(DEPLOYMENT, rollout_timeout=long, restarted_at=long), TERMS)
    assert len(both) == 2
    for finding in both:
        assert f"('{'x' * 64}...')" in finding.message
    (whole,) = findings(replace(DEPLOYMENT, restarted_at=Unreadable("x" * 64)), TERMS)
    assert f"('{'x' * 64}')" in whole.message


def test_a_tracking_value_that_is_no_good_is_told() -> None:
    assert findings(replace(DEPLOYMENT, restarted_at=Unreadable("now")), TERMS) == (
        Finding(
            Code.TRACKING_UNREADABLE,
            "annotation graceful-drain.stonal.com/restarted-at ('now') is no time: it is removed",
        ),
    )
    ahead = replace(DEPLOYMENT, restarted_at=NOW + timedelta(hours=1))
    assert findings(ahead, TERMS) == (
        Finding(
            Code.TRACKING_AHEAD,
            "annotation graceful-drain.stonal.com/restarted-at (2026-11-29T21:00:49Z) lies too far"
            " ahead of 2026-11-29T20:00:49Z: it is removed",
        ),
    )


@pytest.mark.parametrize("own", [None, MINUTE, TIMEOUT])
@pytest.mark.parametrize("since", [None, NOW, NOW - timedelta(days=1)])
def test_nothing_is_told_of_what_is_right(own: Span, since: Stamp) -> None:
    mine = replace(DEPLOYMENT, rollout_timeout=own, restarted_at=since)
    assert findings(mine, TERMS) == ()


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(0), "0s"),
        (timedelta(minutes=10), "10m0s"),
        (timedelta(hours=26, seconds=70.5), "26h1m10.5s"),
        (timedelta(hours=1), "1h0m0s"),
        (timedelta(seconds=59), "59s"),
        (-timedelta(minutes=1, seconds=1), "-1m1s"),
    ],
)
def test_a_duration_reads_as_go_writes_it(span: timedelta, text: str) -> None:
    assert format_span(span) == text
    assert format_go(span) == text


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_instant_is_read_as_the_same(moment: datetime) -> None:
    assert parse_stamp(format_stamp(moment)) == moment
