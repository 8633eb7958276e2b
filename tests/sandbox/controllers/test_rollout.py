"""The arithmetic of rollouts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hooks.sandbox.controllers.rollout import (
    Family,
    first_size,
    is_scaled,
    recreated,
    rescaled,
    rolled,
)
from hooks.sandbox.controllers.shares import Fenceposts, IntOrPercent, fenceposts, scaled
from hooks.sandbox.objects import Obj


@pytest.mark.parametrize(
    ("share", "total", "up", "down"),
    [(2, 10, 2, 2), ("25%", 10, 3, 2), ("50%", 3, 2, 1), ("0%", 3, 0, 0), ("100%", 3, 3, 3)],
)
def test_percentages_are_rounded_as_asked(
    share: IntOrPercent, total: int, up: int, down: int
) -> None:
    assert (scaled(share, total, round_up=True), scaled(share, total, round_up=False)) == (up, down)


@pytest.mark.parametrize(
    ("surge", "unavailable", "desired", "posts"),
    [
        ("25%", "25%", 10, Fenceposts(3, 2)),
        ("25%", "25%", 1, Fenceposts(1, 0)),
        (0, "25%", 3, Fenceposts(0, 1)),
        (0, 0, 3, Fenceposts(0, 1)),
        (1, 0, 3, Fenceposts(1, 0)),
    ],
)
def test_a_rollout_may_always_move(
    surge: IntOrPercent, unavailable: IntOrPercent, desired: int, posts: Fenceposts
) -> None:
    assert fenceposts(surge, unavailable, desired) == posts


def replica_set(name: str, size: int, available: int, age: int = 0, **noted: int) -> Obj:
    annotations = {
        f"deployment.kubernetes.io/{key}-replicas": str(count) for key, count in noted.items()
    }
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": f"2026-11-30T00:00:{59 - age:02}Z",
            "annotations": annotations,
        },
        "spec": {"replicas": size, "template": {"metadata": {"labels": {"of": name}}}},
        "status": {"availableReplicas": available, "replicas": size},
    }


def family(
    desired: int, *owned: Obj, surge: IntOrPercent = 1, unavailable: IntOrPercent = 0
) -> Family:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    deployment: Obj = {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": desired,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": bounds},
            "template": {"metadata": {"labels": {"of": "new"}}},
        },
    }
    return Family.of(deployment, owned)


@pytest.mark.parametrize(
    ("world", "sizes"),
    [
        # Nothing to do.
        (family(3, replica_set("new", 3, 3)), {}),
        # One more, because there is room for one more than desired.
        (family(3, replica_set("old", 3, 3), replica_set("new", 0, 0)), {"new": 1}),
        # It isn't available yet, and nobody may be missing.
        (family(3, replica_set("old", 3, 3), replica_set("new", 1, 0)), {}),
        (family(3, replica_set("old", 3, 3), replica_set("new", 1, 1)), {"old": 2}),
        (family(3, replica_set("old", 2, 2), replica_set("new", 1, 1)), {"new": 2}),
        (family(3, replica_set("old", 1, 1), replica_set("new", 3, 3)), {"old": 0}),
        (family(3, replica_set("new", 5, 5)), {"new": 3}),
        # Old Pods that aren't available go first, and hide nobody who is.
        (
            family(
                3,
                replica_set("old", 3, 2),
                replica_set("new", 1, 0),
                unavailable=1,
            ),
            {"old": 2},
        ),
        # The oldest go first.
        (
            family(
                3,
                replica_set("oldest", 1, 1, age=9),
                replica_set("older", 2, 2, age=5),
                replica_set("new", 1, 1),
            ),
            {"oldest": 0},
        ),
        (family(0, replica_set("old", 2, 2), replica_set("new", 0, 0)), {"old": 0}),
    ],
)
def test_a_rolling_update_goes_one_step(world: Family, sizes: Mapping[str, int]) -> None:
    assert rolled(world) == sizes


def test_a_new_replica_set_begins_with_what_there_is_room_for() -> None:
    assert first_size(family(3, replica_set("old", 3, 3))) == 1
    assert first_size(family(3)) == 3
    assert first_size(family(3, replica_set("old", 4, 3))) == 0


def test_recreate_takes_all_old_ones_down_first() -> None:
    world = family(3, replica_set("old", 3, 3), replica_set("gone", 0, 0))
    world.deployment["spec"]["strategy"] = {"type": "Recreate"}
    assert (recreated(world), world.bounds, first_size(world)) == ({"old": 0}, Fenceposts(0, 0), 3)


def test_the_default_strategy_is_a_quarter_each() -> None:
    world = family(8)
    del world.deployment["spec"]["strategy"]
    assert world.bounds == Fenceposts(2, 2)


@pytest.mark.parametrize(
    ("world", "sizes"),
    [
        (family(5, replica_set("new", 3, 3, desired=3)), {"new": 5}),
        (family(5, replica_set("new", 0, 0), replica_set("old", 3, 3, desired=3)), {"old": 5}),
        (family(5), {}),
        # The new one has all there is to be: the others can go.
        (
            family(3, replica_set("new", 3, 3, desired=3), replica_set("old", 1, 1, desired=3)),
            {"old": 0},
        ),
        # Shared out in proportion to their sizes; the largest gets what is left over.
        (
            family(
                20,
                replica_set("old", 8, 8, age=9, desired=10, max=11),
                replica_set("new", 3, 3, desired=10, max=11),
            ),
            {"new": 6, "old": 15},
        ),
        (
            family(
                5,
                replica_set("old", 8, 8, age=9, desired=10, max=11),
                replica_set("new", 3, 3, desired=10, max=11),
            ),
            {"new": 2, "old": 4},
        ),
        (
            family(
                0,
                replica_set("old", 8, 8, age=9, desired=10, max=11),
                replica_set("new", 3, 3, desired=10, max=11),
            ),
            {"new": 0, "old": 0},
        ),
    ],
)
def test_scaling_in_the_middle_of_a_rollout(world: Family, sizes: Mapping[str, int]) -> None:
    assert rescaled(world) == sizes


def test_another_size_is_noticed_by_what_was_noted() -> None:
    assert is_scaled(family(5, replica_set("new", 3, 3, desired=3)))
    assert not is_scaled(family(3, replica_set("new", 3, 3, desired=3)))
    assert not is_scaled(family(5, replica_set("new", 3, 3), replica_set("old", 0, 0, desired=3)))
