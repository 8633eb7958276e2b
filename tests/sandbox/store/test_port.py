"""The store as the conductor's API server."""

from __future__ import annotations

import threading

import pytest

from hooks.sandbox.apiport import Resource, WatchEvent
from hooks.sandbox.objects import name_of
from hooks.sandbox.store.doors import NEW_EVENTS
from hooks.sandbox.store.kinds import DEPLOYMENTS, NODECLAIMS, NODEPOOLS, NODES, PODS
from hooks.sandbox.store.port import StorePort
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, node, pod


@pytest.fixture
def port(world: World) -> StorePort:
    return StorePort(world.store)


def test_discovery_tells_what_is_served(port: StorePort) -> None:
    assert port.resources("karpenter.sh/v1") == [NODEPOOLS, NODECLAIMS]
    assert port.resources("events.k8s.io/v1") == [NEW_EVENTS]
    assert DEPLOYMENTS in port.resources("apps/v1")
    with pytest.raises(RefusedError) as caught:
        port.resources("nobody.example/v1")
    assert caught.value.is_not_found


def test_what_it_hands_out_may_be_changed(world: World, port: StorePort) -> None:
    port.create(NODES, node("n1"))["spec"]["mine"] = 1
    port.get(NODES, "", "n1")["spec"]["mine"] = 2
    port.list_all(NODES).items[0]["spec"]["mine"] = 3
    assert world.store.get(NODES, "", "n1")["spec"] == {}


def test_a_list_names_its_version(port: StorePort) -> None:
    made = port.create(NODES, node("n1"))
    listing = port.list_all(NODES)
    assert (listing.items, listing.resource_version) == ([made], "1")


def test_updates_and_deletes_go_through(world: World, port: StorePort) -> None:
    made = port.create(NODEPOOLS, node("p"))
    updated = port.update(NODEPOOLS, made | {"status": {"nodes": 1}}, "status")
    assert updated["status"] == {"nodes": 1}
    with pytest.raises(RefusedError) as caught:
        port.delete(NODEPOOLS, {"metadata": {"name": "p", "uid": "other"}})
    assert caught.value.is_conflict
    port.delete(NODEPOOLS, updated)
    assert world.store.all(NODEPOOLS) == []


def watched(port: StorePort, resource: Resource, since: str, wanted: int) -> list[WatchEvent]:
    """The next events of a watch, read in a thread of its own so that nothing hangs."""
    found: list[WatchEvent] = []
    watch = port.watch(resource, since)

    def read() -> None:
        for event in watch:
            found.append(event)
            if len(found) == wanted:
                watch.close()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(30)
    return found


def test_a_watch_tells_what_happened_after_a_version(port: StorePort) -> None:
    first = port.create(NODES, node("n1"))
    port.create(PODS, pod("a"))
    port.update(NODES, first | {"spec": {"unschedulable": True}})
    port.delete(NODES, first)
    events = watched(port, NODES, "1", 2)
    assert [(event.type, name_of(event.obj)) for event in events] == [
        ("MODIFIED", "n1"),
        ("DELETED", "n1"),
    ]


def test_a_watch_that_is_closed_ends(port: StorePort) -> None:
    watch = port.watch(NODES, "0")
    watch.close()
    assert list(watch) == []


def test_a_version_of_another_life_is_expired(port: StorePort) -> None:
    with pytest.raises(RefusedError) as caught:
        port.watch(NODES, "7")
    assert caught.value.is_expired
