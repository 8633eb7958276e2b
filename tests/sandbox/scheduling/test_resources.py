"""Amounts, and what a Pod takes of a Node."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.scheduling.resources import (
    add,
    fits,
    format_quantity,
    lacking,
    parse_quantity,
    requests_of,
    subtract,
    total_of,
)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("500m", "0.5"),
        ("2", "2"),
        (2, "2"),
        (0.5, "0.5"),
        ("1.5Gi", "1610612736"),
        ("1e3", "1000"),
        ("1E-3", "0.001"),
        ("1E", "1000000000000000000"),
        ("100u", "0.0001"),
        ("7n", "7E-9"),
        ("+.5k", "500"),
        ("-1", "-1"),
        ("1.", "1"),
        ("0.1Ki", "102.4"),
        # Finer than nano is rounded up, away from zero.
        ("0.1n", "1E-9"),
        ("-0.1n", "-1E-9"),
    ],
)
def test_quantities_are_read_exactly(text: object, amount: str) -> None:
    assert parse_quantity(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "m", "1 Gi", "1gi", "0x1", "1e1000", "\u0661", "1e3m", None])
def test_other_text_is_no_quantity(text: object) -> None:
    with pytest.raises(ValueError, match="quantities must match"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("2", "2"),
        ("0.5", "500m"),
        ("0.0001", "100u"),
        ("7E-9", "7n"),
        ("-0.25", "-250m"),
        ("1E3", "1k"),
        ("2000000", "2M"),
        ("1500", "1500"),
        ("0.0", "0"),
    ],
)
def test_amounts_are_written_with_the_largest_suffix_that_is_exact(amount: str, text: str) -> None:
    assert format_quantity(Decimal(amount)) == text


def container(cpu: str, **more: object) -> Obj:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


SIDECAR = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container("1"), container("500m")]}, "1.5"),
        # The peak while it initializes counts where it is more.
        ({"containers": [container("1")], "initContainers": [container("3")]}, "3"),
        # Sidecars run to the end, and beside those init containers that come after them.
        ({"containers": [container("1")], "initContainers": [container("2", **SIDECAR)]}, "3"),
        (
            {
                "containers": [container("1")],
                "initContainers": [container("2", **SIDECAR), container("3")],
            },
            "5",
        ),
        (
            {
                "containers": [container("1")],
                "initContainers": [container("4"), container("2", **SIDECAR)],
            },
            "4",
        ),
        ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, "1.25"),
        # What the Pod asks for as a whole replaces what its containers ask for.
        ({"containers": [container("1")], "resources": {"requests": {"cpu": "4"}}}, "4"),
        ({"containers": [container("1")], "resources": {"limits": {"cpu": "4"}}}, "1"),
        ({"containers": [{}], "resources": {"limits": {"cpu": "4"}}}, "4"),
        # A limit alone is a request.
        ({"containers": [{"resources": {"limits": {"cpu": "2"}}}]}, "2"),
    ],
)
def test_requests_are_the_effective_ones(spec: Obj, cpu: str) -> None:
    assert requests_of({"spec": spec}) == {"cpu": Decimal(cpu), "pods": Decimal(1)}


def test_huge_pages_may_be_limited_for_the_pod_and_other_resources_may_not() -> None:
    resources = {"limits": {"hugepages-2Mi": "4Mi", "example.com/gpu": "1"}}
    asked = {"resources": {"requests": {"hugepages-2Mi": "2Mi"}}}
    assert requests_of({"spec": {"containers": [asked], "resources": resources}}) == {
        "hugepages-2Mi": Decimal(4 * 1024 * 1024),
        "pods": Decimal(1),
    }


def test_amounts_are_added_compared_and_taken_away_by_name() -> None:
    one, two = {"cpu": Decimal(1)}, {"cpu": Decimal(2), "memory": Decimal(5)}
    assert add(one, two) == total_of([one, two]) == {"cpu": Decimal(3), "memory": Decimal(5)}
    assert subtract(one, two) == {"cpu": Decimal(-1), "memory": Decimal(-5)}
    assert (fits(one, two), fits(two, one)) == (True, False)
    assert lacking(two, one) == ["cpu", "memory"]
    # Nothing is never too much, even where there is less than nothing.
    assert fits({"cpu": Decimal(0)}, {"cpu": Decimal(-1)})
