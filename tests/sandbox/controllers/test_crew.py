"""All controllers together: at rest, and the same each time."""

from __future__ import annotations

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import CONFIGMAPS, DEPLOYMENTS, EVENTS
from hooks.sandbox.store.store import StoreEvent
from tests.sandbox.controllers.worlds import World


def busy() -> World:
    world = World()
    for index in range(6):
        world.node(f"n{index}", zone="abc"[index % 3])
    world.deployment(6)
    world.stateful_set(2)
    world.daemon_set()
    world.budget("web", maxUnavailable=1)
    world.run(60)

    def changed(it: Obj) -> None:
        it["spec"]["template"]["metadata"]["annotations"] = {"restarted": "yes"}

    world.change(DEPLOYMENTS, "web", changed)
    world.run(60)
    return world


def test_a_world_at_rest_writes_nothing_and_is_due_never() -> None:
    world = busy()
    before = world.store.revision
    world.run(3600)
    assert (world.store.revision, world.next_due()) == (before, None)


def test_the_same_seed_gives_the_same_history() -> None:
    def history(world: World) -> list[StoreEvent]:
        return world.store.events_after(0)

    assert history(busy()) == history(busy())


def test_pods_of_a_deployment_are_spread_over_zones_and_nodes() -> None:
    world = busy()
    nodes = [pod["spec"]["nodeName"] for pod in world.pods("web")]
    assert sorted(nodes) == [f"n{index}" for index in range(6)]


def test_what_concerns_nobody_wakes_nobody() -> None:
    world = busy()
    metadata = {"name": "e", "namespace": "default"}
    world.store.create(EVENTS, {"metadata": metadata, "involvedObject": {}})
    world.store.create(CONFIGMAPS, {"metadata": metadata})
    assert [one.step() for one in world.controllers] == [False] * len(world.controllers)
