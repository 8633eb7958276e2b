"""Quantities: Kubernetes' grammar, exact sums, one way of writing, and no patience for hostility."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.rotation.quantity import format_quantity, parse_quantity

READ_AND_WRITTEN = [
    # cases.md, "Sizing".
    ("129e6", "129000000"),
    ("1e3", "1000"),
    ("1E", "1000000000000000000"),
    ("0.5", "500m"),
    (".5", "500m"),
    ("128974848000m", "128974848"),
    ("1Ki", "1024"),
    ("100n", "100n"),
    # Every suffix.
    ("7n", "7n"),
    ("7u", "7u"),
    ("7m", "7m"),
    ("7", "7"),
    ("7k", "7000"),
    ("7M", "7000000"),
    ("7G", "7000000000"),
    ("7T", "7000000000000"),
    ("7P", "7000000000000000"),
    ("7Mi", "7340032"),
    ("7Gi", "7516192768"),
    ("7Ti", "7696581394432"),
    ("7Pi", "7881299347898368"),
    ("7Ei", "8070450532247928832"),
    # Every way to write a number.
    ("5.", "5"),
    ("5.Ki", "5120"),
    ("+1.5Gi", "1610612736"),
    ("-250m", "-250m"),
    ("-.5", "-500m"),
    ("007", "7"),
    ("0", "0"),
    ("-0", "0"),
    ("1E3", "1000"),
    ("1e+3", "1000"),
    ("1e-3", "1m"),
    ("1.5e-4", "150u"),
    ("0.1Ki", "102400m"),
    # Finer than nano: up, away from zero.
    ("0.1n", "1n"),
    ("-0.1n", "-1n"),
    ("1.0000000001", "1000000001n"),
    ("1e-300", "1n"),
    # Only a binary amount is capped.
    ("8Ei", "9223372036854775807"),
    ("-16Ei", "-9223372036854775807"),
    ("10E", "10000000000000000000"),
    # JSON numbers.
    (3, "3"),
    (-3, "-3"),
    (0.5, "500m"),
    (1e21, "1000000000000000000000"),
    (1e-07, "100n"),
]


@pytest.mark.parametrize(("text", "written"), READ_AND_WRITTEN)
def test_a_quantity_is_read_exactly_and_written_in_one_form(
    text: str | float, written: str
) -> None:
    assert format_quantity(parse_quantity(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1\n",
        "1 Gi",
        "NaN",
        "inf",
        "Infinity",
        "-",
        "+",
        ".",
        "m",
        "Gi",
        "--1",
        "1.2.3",
        "1,5",
        "1_000",
        "0x10",
        "1i",
        "1ki",
        "1KI",
        "1mi",
        "1Kim",
        "1K",
        "1e",
        "1e1.5",
        "1e3Ki",
        "1e 3",
        "1ee3",
        "\u0661",
        "1\u00b5",
        float("nan"),
        float("inf"),
        float("-inf"),
        True,
        None,
        [],
        {},
        b"1",
    ],
)
def test_anything_else_is_an_error(text: object) -> None:
    with pytest.raises(ValueError, match="quantity"):
        parse_quantity(text)


HOSTILE: dict[str, object] = {
    "digits": "9" * 10**6,
    "decimals": "0." + "0" * 10**6 + "1",
    "zeros of an exponent": "1e" + "0" * 10**6,
    "exponent": "1e999999999",
    "negative exponent": "1e-999999999",
    "just too large": "1E301",
    "number": 10**100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_input_is_refused_at_once(text: object) -> None:
    # The time of this thread alone: what others do on the machine doesn't count.
    before = time.thread_time()
    with pytest.raises(ValueError, match=r"too long|out of bounds"):
        parse_quantity(text)
    assert time.thread_time() - before < 0.5


def test_sums_are_exact_where_floating_point_is_not() -> None:
    assert sum((parse_quantity("100m") for _ in range(10)), Fraction(0)) == 1
    assert parse_quantity("0.1") + parse_quantity("0.2") == parse_quantity("300m")


def test_an_amount_finer_than_nano_is_written_rounded_away_from_zero() -> None:
    assert format_quantity(Fraction(1, 3)) == "333333334n"
    assert format_quantity(Fraction(-1, 3)) == "-333333334n"
    assert format_quantity(Fraction(10**10 - 1, 10**10)) == "1"


@given(st.fractions(min_value=-(10**20), max_value=10**20, max_denominator=10**9))
def test_what_is_written_reads_as_the_same_or_the_next_nano(amount: Fraction) -> None:
    read = parse_quantity(format_quantity(amount))
    assert abs(amount) <= abs(read) < abs(amount) + Fraction(1, 10**9)
    assert parse_quantity(format_quantity(read)) == read


@given(st.text(alphabet="0123456789.eEinumkKMGTP+-", max_size=12))
def test_every_text_is_a_quantity_or_a_value_error(text: str) -> None:
    try:
        amount = parse_quantity(text)
    except ValueError:
        return
    assert (amount * 10**9).denominator == 1
