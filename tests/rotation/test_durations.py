"""Texts to durations and times, and back. Expected values come from Go's documentation and RFC 3339."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.rotation.durations import (
    format_go,
    format_people,
    format_stamp,
    parse_duration,
    parse_flag_duration,
    parse_span,
    parse_stamp,
    shifted,
)
from hooks.rotation.model import Malformed


def span(days: float = 0, **parts: float) -> timedelta:
    return timedelta(days=days, **parts)


GO = [
    ("0", span()),
    ("-0", span()),
    ("15m", span(minutes=15)),
    ("1h17m", span(hours=1, minutes=17)),
    ("336h", span(14)),
    ("1.5h", span(minutes=90)),
    ("-1.5h", span(minutes=-90)),
    ("+5s", span(seconds=5)),
    (".5s", span(milliseconds=500)),
    ("1.s", span(seconds=1)),
    ("2m1h", span(hours=1, minutes=2)),
    ("1ms2us3ns", span(microseconds=1002)),
    ("4µs", span(microseconds=4)),
    ("4\u03bcs", span(microseconds=4)),  # the Greek letter
    ("1500ns", span(microseconds=1)),
    (
        "2562047h47m16.854775807s",
        span(106751, hours=23, minutes=47, seconds=16, microseconds=854775),
    ),
]


@pytest.mark.parametrize(("text", "expected"), GO)
def test_go_durations(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a duration such as 15m or 1h30m"),
        ("-", "'-' is not a duration such as 15m or 1h30m"),
        (".s", "'.s' is not a duration such as 15m or 1h30m"),
        ("h", "'h' is not a duration such as 15m or 1h30m"),
        ("--5s", "'--5s' is not a duration such as 15m or 1h30m"),
        ("\u0665m", "'\u0665m' is not a duration such as 15m or 1h30m"),
        ("Never", "'Never' is not a duration such as 15m or 1h30m"),
        ("5", "duration '5' lacks a unit (known: h, m, s, ms, us, ns)"),
        ("1h5", "duration '1h5' lacks a unit (known: h, m, s, ms, us, ns)"),
        ("14d", "duration '14d' has the unknown unit 'd' (known: h, m, s, ms, us, ns)"),
        ("1h 5m", "duration '1h 5m' has the unknown unit 'h ' (known: h, m, s, ms, us, ns)"),
        ("1H", "duration '1H' has the unknown unit 'H' (known: h, m, s, ms, us, ns)"),
        ("2562048h", "duration '2562048h' is out of range"),
        ("9" * 63 + "h", f"duration '{'9' * 63}h' is out of range"),
        ("9" * 400 + "h", "a duration of 401 characters is too long"),
    ],
)
def test_what_go_refuses_is_refused_with_a_clear_message(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("30d", span(30)), ("1d12h", span(1.5)), ("0.5d", span(0.5)), ("15m", span(minutes=15))],
)
def test_flags_also_take_days(text: str, expected: timedelta) -> None:
    assert parse_flag_duration(text) == expected


@pytest.mark.parametrize("text", ["d", "1w", "3", "9" * 400 + "d", "106752d"])
def test_flags_refuse_the_rest(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_flag_duration(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("Never", None),
        ("336h", span(14)),
        ("0s", span()),
        ("never", Malformed("never")),
        ("", Malformed("")),
        ("-1h", Malformed("-1h")),
        ("14d", Malformed("14d")),
        ("9" * 400 + "h", Malformed("9" * 400 + "h")),
    ],
)
def test_never_absent_and_unreadable_are_told_apart(
    text: str | None, expected: timedelta | Malformed | None
) -> None:
    assert parse_span(text) == expected


NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("2026-11-29T12:00:00Z", NOON),
        ("2026-11-29t12:00:00z", NOON),
        ("2026-11-29T21:00:00+09:00", NOON),
        ("2026-11-29T12:00:00-00:00", NOON),
        ("2026-11-29T12:00:00.5Z", NOON + span(milliseconds=500)),
        ("2026-11-29T12:00:00.123456789Z", NOON + span(microseconds=123456)),
        ("2028-02-29T00:00:00Z", datetime(2028, 2, 29, tzinfo=UTC)),
    ],
)
def test_rfc_3339(text: str | None, expected: datetime | None) -> None:
    assert parse_stamp(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-11-29",
        "2026-11-29T12:00:00",
        "2026-11-29 12:00:00Z",
        "2026-11-29T12:00Z",
        "2026-11-29T12:00:00.Z",
        "2026-11-29T12:00:00,5Z",
        "2026-11-29T12:00:00+0900",
        "2026-11-29T12:00:00+24:00",
        "2026-11-29T12:00:00+09:60",
        "2026-11-29T12:00:00Z\n",
        " 2026-11-29T12:00:00Z",
        "2026-02-29T12:00:00Z",
        "2026-11-29T24:00:00Z",
        "2026-11-29T23:59:60Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+05:00",
        "9999-12-31T23:59:59-05:00",
        "\u0662026-11-29T12:00:00Z",
        "2026-11-29T12:00:00." + "1" * 10_000 + "Z",
    ],
)
def test_everything_else_is_malformed(text: str) -> None:
    assert parse_stamp(text) == Malformed(text)


@pytest.mark.parametrize(
    ("duration", "go", "people"),
    [
        (span(), "0s", "0s"),
        (span(seconds=25), "25s", "25s"),
        (span(hours=1, minutes=17), "1h17m0s", "1h17m"),
        (span(hours=-1, minutes=-17), "-1h17m0s", "-1h17m"),
        (span(minutes=10), "10m0s", "10m"),
        (span(4), "96h0m0s", "4d"),
        (span(5, hours=22, minutes=43), "142h43m0s", "5d22h43m"),
        (span(1, seconds=1), "24h0m1s", "1d1s"),
        (span(seconds=1.5), "1.5s", "1s"),
        (span(milliseconds=1.5), "1.5ms", "1.5ms"),
        (span(milliseconds=20), "20ms", "20ms"),
        (span(microseconds=7), "7µs", "7µs"),
        (span(microseconds=-7), "-7µs", "-7µs"),
        (span(minutes=1, microseconds=1), "1m0.000001s", "1m"),
    ],
)
def test_durations_as_text(duration: timedelta, go: str, people: str) -> None:
    assert (format_go(duration), format_people(duration)) == (go, people)


@given(st.timedeltas(min_value=span(-100_000), max_value=span(100_000)))
def test_go_text_reads_back_as_the_same_duration(duration: timedelta) -> None:
    assert parse_duration(format_go(duration)) == duration


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (NOON, "2026-11-29T12:00:00Z"),
        (NOON + span(milliseconds=999), "2026-11-29T12:00:00Z"),
        (NOON.astimezone(timezone(span(hours=9))), "2026-11-29T12:00:00Z"),
        (datetime(33, 1, 2, tzinfo=UTC), "0033-01-02T00:00:00Z"),
    ],
)
def test_stamps_as_text(at: datetime, text: str) -> None:
    assert format_stamp(at) == text


@given(st.datetimes(timezones=st.just(UTC)))
def test_stamps_read_back(at: datetime) -> None:
    assert parse_stamp(format_stamp(at)) == at.replace(microsecond=0)


@given(st.text(max_size=80))
def test_no_text_brings_the_parsers_down(text: str) -> None:
    assert isinstance(parse_stamp(text), datetime | Malformed)
    assert isinstance(parse_span(text), timedelta | Malformed | None)


def test_adding_stops_at_the_ends_of_the_calendar() -> None:
    assert shifted(NOON, span(1)) == datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert shifted(NOON, span(10**7)) == datetime.max.replace(tzinfo=UTC)
    assert shifted(NOON, span(-(10**7))) == datetime.min.replace(tzinfo=UTC)
