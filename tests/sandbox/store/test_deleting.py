"""What a delete does to each kind of object, and when it is over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hooks.sandbox.objects import Obj, name_of
from hooks.sandbox.store import kinds
from hooks.sandbox.store.refusals import RefusedError
from hooks.sandbox.store.store import StoreEvent
from tests.sandbox.store.worlds import JSON_PATCH, World, bound, fields_of, node, pod, told

FINALIZER = "karpenter.sh/termination"


def marks(obj: Obj) -> tuple[str | None, int | None]:
    metadata = obj["metadata"]
    return metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")


def test_an_object_without_finalizers_goes_at_once(world: World) -> None:
    world.store.create(kinds.NODES, node("n1"))
    world.store.delete(kinds.NODES, "", "n1")
    assert world.store.find(kinds.NODES, "", "n1") is None
    assert world.events() == [("ADDED", "Node", "n1"), ("DELETED", "Node", "n1")]


def test_a_finalizer_keeps_it_until_it_is_taken_away(world: World) -> None:
    world.store.create(kinds.NODECLAIMS, node("c", finalizers=[FINALIZER]))
    left = world.store.delete(kinds.NODECLAIMS, "", "c")
    assert marks(left) == ("2026-11-01T12:00:00Z", 0)
    assert left["metadata"]["generation"] == 2
    world.clock.advance(timedelta(minutes=5))
    world.store.delete(kinds.NODECLAIMS, "", "c")
    world.store.patch(
        kinds.NODECLAIMS, "", "c", [{"op": "remove", "path": "/metadata/finalizers"}], JSON_PATCH
    )
    assert world.store.find(kinds.NODECLAIMS, "", "c") is None
    assert world.events() == [
        ("ADDED", "NodeClaim", "c"),
        ("MODIFIED", "NodeClaim", "c"),
        ("DELETED", "NodeClaim", "c"),
    ]
    # Seen on kube-apiserver v1.36.3: the event carries the object as it was stored before.
    assert world.store.events_after(2)[0].obj["metadata"]["finalizers"] == [FINALIZER]


def test_one_finalizer_of_two_is_not_the_last(world: World) -> None:
    world.store.create(kinds.NODES, node("n1", finalizers=["a", "b"]))
    world.store.delete(kinds.NODES, "", "n1")
    world.store.modify(kinds.NODES, "", "n1", lambda obj: obj["metadata"].update(finalizers=["b"]))
    assert world.store.get(kinds.NODES, "", "n1")["metadata"]["finalizers"] == ["b"]


def test_no_finalizer_is_added_to_what_is_being_deleted(world: World) -> None:
    world.store.create(kinds.NODES, node("n1", finalizers=["a"]))
    world.store.delete(kinds.NODES, "", "n1")
    with pytest.raises(RefusedError) as caught:
        world.store.modify(
            kinds.NODES, "", "n1", lambda obj: obj["metadata"]["finalizers"].append("b")
        )
    assert (caught.value.status, fields_of(caught.value)) == (422, ["metadata.finalizers"])


def test_a_bound_pod_is_marked_with_the_end_of_its_grace(world: World) -> None:
    world.store.create(kinds.PODS, bound("a"))
    left = world.store.delete(kinds.PODS, "shop", "a")
    assert marks(left) == ("2026-11-01T12:00:30Z", 30)
    assert left["metadata"]["generation"] == 2
    assert world.store.delete(kinds.PODS, "shop", "a", grace_seconds=60) is left
    assert world.events() == [("ADDED", "Pod", "a"), ("MODIFIED", "Pod", "a")]


def test_grace_can_only_become_shorter(world: World) -> None:
    world.store.create(kinds.PODS, bound("a"))
    world.store.delete(kinds.PODS, "shop", "a", grace_seconds=100)
    world.clock.advance(timedelta(seconds=10))
    shorter = world.store.delete(kinds.PODS, "shop", "a", grace_seconds=20)
    assert marks(shorter) == ("2026-11-01T12:00:20Z", 20)
    world.clock.advance(timedelta(seconds=60))
    over = world.store.delete(kinds.PODS, "shop", "a", grace_seconds=15)
    assert marks(over) == ("2026-11-01T12:01:10Z", 1)


def test_less_than_no_grace_is_one_second(world: World) -> None:
    world.store.create(kinds.PODS, bound("a"))
    left = world.store.delete(kinds.PODS, "shop", "a", grace_seconds=-5)
    assert marks(left) == ("2026-11-01T12:00:01Z", 1)


def test_a_kubelet_ends_a_pod_without_grace(world: World) -> None:
    world.store.create(kinds.PODS, bound("a"))
    world.store.delete(kinds.PODS, "shop", "a")
    world.clock.advance(timedelta(seconds=5))
    world.store.delete(kinds.PODS, "shop", "a", grace_seconds=0)
    assert world.store.all(kinds.PODS) == []
    assert world.events() == [
        ("ADDED", "Pod", "a"),
        ("MODIFIED", "Pod", "a"),
        ("MODIFIED", "Pod", "a"),
        ("DELETED", "Pod", "a"),
    ]
    assert marks(world.store.events_after(3)[0].obj) == ("2026-11-01T12:00:05Z", 0)


@pytest.mark.parametrize(
    ("made", "phase", "grace"),
    [
        (pod("a"), "Pending", None),
        (bound("a"), "Failed", None),
        (bound("a"), "Succeeded", 40),
        (bound("a", terminationGracePeriodSeconds=0), "Running", None),
        (bound("a"), "Running", 0),
    ],
)
def test_a_pod_goes_at_once_when_nothing_runs_or_no_grace_is_left(
    world: World, made: Obj, phase: str, grace: int | None
) -> None:
    world.store.create(kinds.PODS, made)
    world.store.modify(
        kinds.PODS, "shop", "a", lambda obj: obj["status"].update(phase=phase), "status"
    )
    world.store.delete(kinds.PODS, "shop", "a", grace_seconds=grace)
    assert world.store.all(kinds.PODS) == []


def test_a_pod_with_a_finalizer_outlives_its_grace(world: World) -> None:
    kept = bound("a")
    kept["metadata"]["finalizers"] = ["example.com/wait"]
    world.store.create(kinds.PODS, kept)
    world.store.delete(kinds.PODS, "shop", "a", grace_seconds=0)
    assert marks(world.store.get(kinds.PODS, "shop", "a")) == ("2026-11-01T12:00:00Z", 0)
    world.store.modify(kinds.PODS, "shop", "a", lambda obj: obj["metadata"].pop("finalizers"))
    assert world.store.all(kinds.PODS) == []


def test_another_uid_is_a_conflict(world: World) -> None:
    uid = world.store.create(kinds.NODES, node("n1"))["metadata"]["uid"]
    with pytest.raises(RefusedError) as caught:
        world.store.delete(kinds.NODES, "", "n1", uid="other")
    assert told(caught.value) == (
        409,
        "Conflict",
        (
            'Operation cannot be fulfilled on Node "n1": the UID in the precondition (other) does not '
            f"match the UID in record ({uid}). The object might have been deleted and then recreated"
        ),
    )
    world.store.delete(kinds.NODES, "", "n1", uid=uid)


def test_another_version_is_a_conflict(world: World) -> None:
    world.store.create(kinds.NODES, node("n1"))
    with pytest.raises(RefusedError) as caught:
        world.store.delete(kinds.NODES, "", "n1", resource_version="9")
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")
    world.store.delete(kinds.NODES, "", "n1", resource_version="1")


def test_a_listener_may_delete_what_is_being_deleted(world: World) -> None:
    world.store.create(kinds.PODS, pod("a"))

    def hurry(event: StoreEvent) -> None:
        world.store.listeners.clear()
        world.store.delete(kinds.PODS, "shop", name_of(event.obj))

    world.store.listeners.append(hurry)
    world.store.delete(kinds.PODS, "shop", "a")
    assert world.events() == [
        ("ADDED", "Pod", "a"),
        ("MODIFIED", "Pod", "a"),
        ("DELETED", "Pod", "a"),
    ]


def test_what_is_gone_is_not_found(world: World) -> None:
    with pytest.raises(RefusedError) as caught:
        world.store.delete(kinds.NODES, "", "n1")
    assert caught.value.is_not_found


@pytest.mark.parametrize("made", [pod("a"), bound("a")])
def test_a_dry_run_deletes_nothing(world: World, made: Obj) -> None:
    world.store.create(kinds.PODS, made)
    world.store.delete(kinds.PODS, "shop", "a", dry_run=True)
    assert (world.store.revision, len(world.store.all(kinds.PODS))) == (1, 1)
