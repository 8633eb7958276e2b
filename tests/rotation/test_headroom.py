"""Room for one more node under a NodePool's limits."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hooks.rotation.headroom import headroom
from hooks.rotation.model import Pool, Resources
from hooks.rotation.quantity import parse_quantity


def amounts(values: Mapping[str, str]) -> Resources:
    return {name: parse_quantity(text) for name, text in values.items()}


ROWS: list[tuple[str, dict[str, str], dict[str, str], dict[str, str], tuple[str, ...]]] = [
    ("no limits", {}, {"cpu": "1000"}, {"cpu": "8"}, ()),
    ("room", {"cpu": "100"}, {"cpu": "90"}, {"cpu": "8"}, ()),
    ("exactly room", {"cpu": "100"}, {"cpu": "92"}, {"cpu": "8"}, ()),
    ("a nano too much", {"cpu": "100"}, {"cpu": "92"}, {"cpu": "8000000001n"}, ("cpu",)),
    ("no room", {"cpu": "100"}, {"cpu": "95"}, {"cpu": "8"}, ("cpu",)),
    ("other units", {"memory": "10Gi"}, {"memory": "9Gi"}, {"memory": "1025Mi"}, ("memory",)),
    (
        "one of two",
        {"cpu": "100", "memory": "10Gi"},
        {"cpu": "1", "memory": "9Gi"},
        {"cpu": "1", "memory": "4Gi"},
        ("memory",),
    ),
    (
        "both, in one order",
        {"memory": "1", "cpu": "1"},
        {"memory": "1", "cpu": "1"},
        {"memory": "1", "cpu": "1"},
        ("cpu", "memory"),
    ),
    ("unlimited resource", {"cpu": "100"}, {"cpu": "10"}, {"memory": "999Gi"}, ()),
    ("nothing used yet", {"cpu": "10"}, {}, {"cpu": "10"}, ()),
    ("nothing used yet, too much", {"cpu": "10"}, {}, {"cpu": "11"}, ("cpu",)),
    ("nothing wanted of a full one", {"memory": "1Gi"}, {"memory": "1Gi"}, {"cpu": "1"}, ()),
    ("over the limit already", {"memory": "1Gi"}, {"memory": "2Gi"}, {"cpu": "1"}, ("memory",)),
    ("a node more", {"nodes": "5"}, {"nodes": "4"}, {}, ()),
    ("no node more", {"nodes": "5"}, {"nodes": "5"}, {}, ("nodes",)),
    ("no nodes at all", {"nodes": "0"}, {}, {}, ("nodes",)),
    (
        "an extended resource",
        {"nvidia.com/gpu": "8"},
        {"nvidia.com/gpu": "8"},
        {"nvidia.com/gpu": "1"},
        ("nvidia.com/gpu",),
    ),
]


@pytest.mark.parametrize(
    ("limits", "used", "requests", "expected"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_headroom(
    limits: dict[str, str],
    used: dict[str, str],
    requests: dict[str, str],
    expected: tuple[str, ...],
) -> None:
    pool = Pool("api", limits=amounts(limits), used=amounts(used))
    assert headroom(pool, amounts(requests)) == expected
