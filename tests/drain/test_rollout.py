"""The arithmetic of a rollout, also held against the embedded cluster's own."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from hooks.drain.model import Share, Strategy
from hooks.drain.rollout import (
    ADVICE,
    Bounds,
    Obstacle,
    bounds,
    is_complete,
    is_settled,
    obstacle,
)
from hooks.sandbox.controllers.shares import fenceposts
from tests.drain.things import DEPLOYMENT

SHARES: tuple[int | str, ...] = (0, 1, 2, "0%", "1%", "25%", "50%", "99%", "100%", "101%", "200%")
UNREADABLE: tuple[Share, ...] = (-1, "", "%", "1", "x%", "-5%", "1.5%", " 1%", "9" * 5000 + "%")


def strategy(surge: Share, unavailable: Share) -> Strategy:
    return Strategy("RollingUpdate", surge, unavailable)


@pytest.mark.parametrize("replicas", [1, 2, 3, 10])
def test_the_bounds_are_those_of_the_deployment_controller(replicas: int) -> None:
    for surge, unavailable in product(SHARES, SHARES):
        found = bounds(strategy(surge, unavailable), replicas)
        assert found == Bounds(*fenceposts(surge, unavailable, replicas)), (surge, unavailable)


def test_by_default_both_are_a_quarter() -> None:
    assert bounds(strategy(None, None), 1) == Bounds(1, 0)
    assert bounds(strategy(None, None), 10) == Bounds(3, 2)


def test_both_zero_means_that_one_may_be_missing() -> None:
    assert bounds(strategy(0, "99%"), 1) == Bounds(0, 1)


@pytest.mark.parametrize("share", UNREADABLE, ids=lambda share: str(share)[:6])
def test_what_cannot_be_read_has_no_bounds(share: Share) -> None:
    assert bounds(strategy(share, 0), 1) is None
    assert bounds(strategy(1, share), 1) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"strategy": Strategy()}, None),
        ({"strategy": strategy("25%", "25%")}, None),
        ({"strategy": strategy("1%", "99%")}, None),
        ({"strategy": strategy(3, 0)}, None),
        ({"paused": True}, Obstacle.PAUSED),
        ({"strategy": Strategy("Recreate")}, Obstacle.TYPE),
        ({"strategy": Strategy("")}, Obstacle.TYPE),
        ({"strategy": strategy(0, 0)}, Obstacle.SURGE),
        ({"strategy": strategy(0, 1)}, Obstacle.SURGE),
        ({"strategy": strategy("0%", "25%")}, Obstacle.SURGE),
        ({"strategy": strategy("one", 0)}, Obstacle.SURGE),
        ({"strategy": strategy(1, 1)}, Obstacle.UNAVAILABLE),
        ({"strategy": strategy(1, "100%")}, Obstacle.UNAVAILABLE),
        ({"strategy": strategy(1, "none")}, Obstacle.UNAVAILABLE),
    ],
    ids=str,
)
def test_what_keeps_a_successor_from_coming_first(
    changes: dict[str, Any], expected: Obstacle | None
) -> None:
    assert obstacle(replace(DEPLOYMENT, **changes)) == expected


def test_there_is_advice_for_each_field() -> None:
    assert set(ADVICE) == set(Obstacle)
    assert [field.value for field in Obstacle] == [
        "spec.paused",
        "spec.strategy.type",
        "spec.strategy.rollingUpdate.maxSurge",
        "spec.strategy.rollingUpdate.maxUnavailable",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"observed_generation": 3}, True),
        ({"ready": 0, "unavailable": 1}, True),
        ({"observed_generation": 1}, False),
        ({"total": 2}, False),
        ({"updated": 0}, False),
        ({"total": 2, "updated": 2}, True),
    ],
    ids=str,
)
def test_settled_means_that_no_pod_has_an_older_template(
    changes: dict[str, Any], *, expected: bool
) -> None:
    assert is_settled(replace(DEPLOYMENT, **changes)) is expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"observed_generation": 1}, False),
        ({"updated": 0}, False),
        ({"ready": 0}, False),
        ({"ready": 2}, False),
        ({"total": 2}, False),
        ({"unavailable": 1}, False),
        ({"replicas": 2}, False),
        ({"updated": 0, "ready": 0, "total": 0}, False),
    ],
    ids=str,
)
def test_complete_means_one_pod_updated_and_ready(
    changes: dict[str, Any], *, expected: bool
) -> None:
    assert is_complete(replace(DEPLOYMENT, **changes)) is expected
