"""What a ResourceQuota says of itself."""

from __future__ import annotations

from hooks.sandbox.store.kinds import PODS, RESOURCEQUOTAS
from tests.sandbox.controllers.worlds import World


def limit(world: World, **hard: str) -> None:
    named = {key.replace("_", "."): value for key, value in hard.items()}
    quota = {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": named}}
    world.store.create(RESOURCEQUOTAS, quota)
    world.settle()


def test_a_quota_says_what_is_limited_and_used() -> None:
    world = World()
    limit(world, pods="3", requests_cpu="2", services="5")
    hard = {"pods": "3", "requests.cpu": "2", "services": "5"}
    assert world.status(RESOURCEQUOTAS, "q") == {
        "hard": hard,
        "used": {"pods": "0", "requests.cpu": "0"},
    }
    world.pod("a", cpu="500m")
    world.pod("b", cpu="500m")
    world.settle()
    assert world.status(RESOURCEQUOTAS, "q") == {
        "hard": hard,
        "used": {"pods": "2", "requests.cpu": "1"},
    }
    world.store.delete(PODS, "default", "a")
    world.settle()
    assert world.status(RESOURCEQUOTAS, "q")["used"] == {"pods": "1", "requests.cpu": "500m"}


def test_a_quota_that_limits_nothing_says_nothing() -> None:
    world = World()
    limit(world)
    assert world.status(RESOURCEQUOTAS, "q") == {}
