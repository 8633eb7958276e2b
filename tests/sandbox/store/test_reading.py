"""What reads hand out."""

from __future__ import annotations

import threading

import pytest

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import name_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODES, PODS
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import START, World, node, pod, told


def test_a_read_hands_out_the_stored_object_itself(world: World) -> None:
    created = world.store.create(NODES, node("n1"))
    assert world.store.get(NODES, "", "n1") is created
    assert world.store.find(NODES, "", "n1") is created
    assert world.store.all(NODES)[0] is created


def test_what_a_client_sent_is_not_what_is_stored(world: World) -> None:
    sent = node("n1", labels={"a": "b"})
    world.store.create(NODES, sent)
    sent["metadata"]["labels"]["a"] = "changed"
    assert world.store.get(NODES, "", "n1")["metadata"]["labels"] == {"a": "b"}


def test_lists_come_by_namespace_and_name(world: World) -> None:
    for namespace, name in (("b", "x"), ("a", "z"), ("a-b", "y"), ("a", "c")):
        lone = pod(name)
        lone["metadata"]["namespace"] = namespace
        world.store.create(PODS, lone)
    assert [name_of(obj) for obj in world.store.all(PODS)] == ["c", "z", "y", "x"]
    assert [name_of(obj) for obj in world.store.all(PODS, "a")] == ["c", "z"]
    assert world.store.all(PODS, "none") == []


@pytest.mark.parametrize(
    ("resource", "details", "message"),
    [
        (NODES, {"name": "x", "kind": "nodes"}, 'nodes "x" not found'),
        (
            NODECLAIMS,
            {"name": "x", "group": "karpenter.sh", "kind": "nodeclaims"},
            'nodeclaims.karpenter.sh "x" not found',
        ),
    ],
)
def test_what_is_not_there_is_named(
    world: World, resource: Resource, details: dict[str, str], message: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        world.store.get(resource, "", "x")
    assert told(caught.value) == (404, "NotFound", message)
    assert caught.value.details == details


def test_a_kind_that_is_not_served_has_no_objects(world: World) -> None:
    leases = Resource("coordination.k8s.io/v1", "leases", "Lease", namespaced=True)
    with pytest.raises(RefusedError) as caught:
        world.store.all(leases)
    assert (caught.value.status, caught.value.details) == (404, {})


def test_the_log_keeps_every_state(world: World) -> None:
    world.store.create(NODES, node("n1"))
    world.store.modify(NODES, "", "n1", lambda obj: obj["spec"].update(unschedulable=True))
    world.store.delete(NODES, "", "n1")
    events = world.store.events_after(0)
    assert [(event.revision, event.type, event.at) for event in events] == [
        (1, "ADDED", START),
        (2, "MODIFIED", START),
        (3, "DELETED", START),
    ]
    assert [event.obj["spec"] for event in events] == [
        {},
        {"unschedulable": True},
        {"unschedulable": True},
    ]
    assert [event.obj["metadata"]["resourceVersion"] for event in events] == ["1", "2", "3"]
    assert world.store.events_after(2) == events[2:]
    assert world.store.revision == 3


def test_a_write_wakes_who_waits_for_it(world: World) -> None:
    woken = threading.Event()

    def wait() -> None:
        world.store.wait_for_change(0, 30)
        woken.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    world.store.create(NODES, node("n1"))
    assert woken.wait(30)
    world.store.wait_for_change(0, 30)


def test_waiting_ends_when_the_time_is_over(world: World) -> None:
    world.store.wait_for_change(0, 0.001)
    assert world.store.revision == 0
