from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.protocol.policy_texts import (
    AGE_THRESHOLD,
    DURATION,
    INSTANT,
    ZONE,
    is_label_key,
)
from hooks.rotation.durations import parse_duration, parse_stamp
from hooks.rotation.zones import is_known_zone


def is_duration(text: str) -> bool:
    with suppress(ValueError):
        parse_duration(text)
        return True
    return False


@given(
    st.lists(
        st.sampled_from(
            [
                "0",
                "1",
                "15",
                ".",
                "h",
                "m",
                "s",
                "ms",
                "us",
                "\u00b5s",
                "\u03bcs",
                "ns",
                "+",
                "-",
                " ",
            ]
        ),
        max_size=6,
    )
    .map("".join)
    # Longer numbers of hours are grammar all the same, but no duration that Go could hold.
    .filter(lambda text: re.search("[0-9]{7}", text) is None)
)
def test_the_pattern_is_gos_grammar(text: str) -> None:
    assert (re.fullmatch(DURATION, text) is not None) == is_duration(text)


@given(st.text(max_size=8))
def test_no_other_text_is_a_duration(text: str) -> None:
    assert (re.fullmatch(DURATION, text) is not None) == is_duration(text)


@pytest.mark.parametrize("text", ["auto", "1h", "1h30m", "-1h", "0"])
def test_an_age_threshold_is_auto_or_a_duration(text: str) -> None:
    assert re.fullmatch(AGE_THRESHOLD, text)


@pytest.mark.parametrize("text", ["Auto", "auto1h", "1hauto", "", "autoauto"])
def test_and_nothing_else(text: str) -> None:
    assert not re.fullmatch(AGE_THRESHOLD, text)


@pytest.mark.parametrize(
    "zone",
    [
        "UTC",
        "Etc/GMT+12",
        "Etc/GMT-14",
        "America/Argentina/Buenos_Aires",
        "America/Port-au-Prince",
        "EST5EDT",
        "W-SU",
        "GMT0",
    ],
)
def test_the_pattern_of_zones_lets_real_ones_pass(zone: str) -> None:
    assert re.fullmatch(ZONE, zone)
    assert is_known_zone(zone)


@pytest.mark.parametrize("zone", ["", "../etc/passwd", "/UTC", "UTC/", "+09:00", "Asia/Tokyo\n"])
def test_what_is_spelt_like_no_zone(zone: str) -> None:
    assert not re.fullmatch(ZONE, zone)


@pytest.mark.parametrize(
    "text",
    ["2026-12-24T00:00:00Z", "2026-12-24T00:00:00.123456789+05:30", "2999-12-31T23:59:59-23:59"],
)
def test_the_pattern_of_instants_lets_times_pass(text: str) -> None:
    assert re.fullmatch(INSTANT, text)
    assert parse_stamp(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-24",
        "2026-12-24T00:00:00",
        "2026-12-24 00:00:00Z",
        "2026-12-24t00:00:00z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-23:00",
        "2026-12-24T00:00:00+24:00",
    ],
)
def test_what_is_spelt_like_no_instant(text: str) -> None:
    assert not re.fullmatch(INSTANT, text)


@pytest.mark.parametrize(
    ("key", "can_be"),
    [
        ("workload", True),
        ("topology.kubernetes.io/zone", True),
        ("a" * 253 + "/" + "b" * 63, True),
        ("a", True),
        ("b" * 64, False),
        ("a" * 254 + "/" + "b" * 63, False),
        ("", False),
        ("/a", False),
        ("a/", False),
        ("a/b/c", False),
        ("Example.com/a", False),
        ("-a", False),
        ("a b", False),
        ("a\n", False),
    ],
)
def test_the_key_of_a_label(key: str, *, can_be: bool) -> None:
    assert is_label_key(key) is can_be
