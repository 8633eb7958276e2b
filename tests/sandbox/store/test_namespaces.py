"""Namespaces: places to create in, and their end."""

from __future__ import annotations

import pytest

from hooks.sandbox.store.kinds import CONFIGMAPS, NAMESPACES, PODS
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, bound, pod, told


def with_shop(world: World) -> None:
    world.store.create(NAMESPACES, {"metadata": {"name": "shop"}})
    world.events()


def test_a_small_world_without_namespaces_has_them_all(world: World) -> None:
    world.store.create(PODS, pod("a"))
    assert world.events() == [("ADDED", "Pod", "a")]


def test_nothing_is_created_where_no_namespace_is(world: World) -> None:
    with_shop(world)
    lost = pod("a")
    lost["metadata"]["namespace"] = "nowhere"
    with pytest.raises(RefusedError) as caught:
        world.store.create(PODS, lost)
    assert told(caught.value) == (404, "NotFound", 'namespaces "nowhere" not found')


def test_a_namespace_takes_everything_in_it_along(world: World) -> None:
    with_shop(world)
    world.store.create(PODS, bound("running"))
    world.store.create(CONFIGMAPS, {"metadata": {"name": "cm", "namespace": "shop"}})
    world.store.delete(NAMESPACES, "", "shop")
    ending = world.store.get(NAMESPACES, "", "shop")
    assert ending["status"] == {"phase": "Terminating"}
    with pytest.raises(RefusedError) as caught:
        world.store.create(PODS, pod("late"))
    assert told(caught.value) == (
        403,
        "Forbidden",
        (
            'pods "late" is forbidden: unable to create new content in namespace shop because it is '
            "being terminated"
        ),
    )
    world.store.delete(PODS, "shop", "running", grace_seconds=0)
    assert world.events() == [
        ("ADDED", "Pod", "running"),
        ("ADDED", "ConfigMap", "cm"),
        ("MODIFIED", "Namespace", "shop"),
        ("MODIFIED", "Pod", "running"),
        ("DELETED", "ConfigMap", "cm"),
        ("MODIFIED", "Pod", "running"),
        ("DELETED", "Pod", "running"),
        ("DELETED", "Namespace", "shop"),
    ]


def test_an_empty_namespace_goes_at_once(world: World) -> None:
    with_shop(world)
    world.store.delete(NAMESPACES, "", "shop")
    assert world.events() == [("MODIFIED", "Namespace", "shop"), ("DELETED", "Namespace", "shop")]
