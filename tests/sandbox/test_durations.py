"""Go durations in a hook's timeout."""

from __future__ import annotations

import pytest

from hooks.sandbox.durations import canonical, nanoseconds


@pytest.mark.parametrize(
    ("text", "value", "again"),
    [
        ("10s", 10_000_000_000, "10s"),
        ("60s", 60_000_000_000, "1m0s"),
        ("1m30s", 90_000_000_000, "1m30s"),
        ("1.5s", 1_500_000_000, "1.5s"),
        (".5s", 500_000_000, "500ms"),
        ("1.s", 1_000_000_000, "1s"),
        ("90m", 5_400_000_000_000, "1h30m0s"),
        ("1h", 3_600_000_000_000, "1h0m0s"),
        ("1h0.25s", 3_600_250_000_000, "1h0m0.25s"),
        ("250ms", 250_000_000, "250ms"),
        ("1500us", 1_500_000, "1.5ms"),
        ("7µs", 7_000, "7µs"),
        ("3ns", 3, "3ns"),
        ("0", 0, "0s"),
        ("0s", 0, "0s"),
        ("-1m", -60_000_000_000, "-1m0s"),
        ("+2s", 2_000_000_000, "2s"),
    ],
)
def test_go_durations_are_read_and_written_as_go_does(text: str, value: int, again: str) -> None:
    assert nanoseconds(text) == value
    assert canonical(value) == again


@pytest.mark.parametrize(
    "text", ["", "10", "s", "1d", "1 s", "1s ", "--1s", "1s-1s", "\u0661s", ".s"]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid duration"):
        nanoseconds(text)
