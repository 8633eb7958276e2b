"""What becomes of attachments: deleted, created, left alone, refused (design/rotation.md section 1)."""

from __future__ import annotations

import json

import pytest

from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.world import PODS, POOLS, FakeHook, World, controller, pod, pool


def lists(*names: str) -> Obj:
    return {"attachments": [pod(name) for name in names]}


def with_pods(*names: str, parent: Obj | None = None) -> World:
    """A world in which the controller created these attachments; writes are counted from now."""
    world = World(parent or pool(), sync=FakeHook(lists(*names)))
    world.settle()
    world.api.writes.clear()
    return world


def test_left_out_attachments_are_deleted_before_new_ones_are_created() -> None:
    world = with_pods("old-1", "old-2")
    world.sync_hook.answers = [lists("new")]
    world.engine.resync()
    world.settle()
    assert world.api.writes == [
        ("delete", "Pod", "old-1"),
        ("delete", "Pod", "old-2"),
        ("create", "Pod", "new"),
    ]


@pytest.mark.parametrize("answer", [{}, {"attachments": None}, {"attachments": []}])
def test_absent_null_and_empty_attachments_all_delete_every_attachment(answer: Obj) -> None:
    world = with_pods("a", "b")
    world.sync_hook.answers = [answer]
    world.engine.resync()
    world.settle()
    assert world.api.names("pods") == []


def test_an_existing_attachment_is_never_changed_whatever_its_phase() -> None:
    world = with_pods("a")
    stored = world.api.get(PODS, "ns", "a")
    world.api.put(stored | {"status": {"phase": "Failed"}})
    world.sync_hook.answers = [{"attachments": [pod("a") | {"spec": {"a": "other"}}]}]
    world.settle()
    assert world.api.writes == []
    assert world.api.get(PODS, "ns", "a")["spec"] == {"a": "<b>"}


@pytest.mark.parametrize("answer", [lists("a"), {}], ids=["listed", "left out"])
def test_a_terminating_attachment_is_left_alone(answer: Obj) -> None:
    world = with_pods("a")
    stored = world.api.get(PODS, "ns", "a")
    stored["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}
    world.api.put(stored)
    world.sync_hook.answers = [answer]
    world.settle()
    assert world.api.writes == []


def test_an_attachment_that_went_is_created_again_if_an_answer_still_lists_it() -> None:
    world = with_pods("a")
    world.api.take_away(pod("a"))
    world.settle()
    assert world.api.writes == [("create", "Pod", "a")]


def test_attachments_of_a_deleting_parent_are_not_managed_but_it_is_still_synced() -> None:
    world = with_pods("a", parent=pool(finalizers=["x"]))
    world.api.delete(POOLS, world.pool())
    world.api.writes.clear()
    world.sync_hook.answers = [{"annotations": {"seen": "yes"}} | lists("new")]
    calls = len(world.sync_hook.requests)
    world.settle()
    assert world.sync_hook.requests[calls]["object"]["metadata"]["deletionTimestamp"]
    assert world.sync_hook.requests[calls]["finalizing"] is False
    assert world.annotations() == {"seen": "yes"}
    assert world.api.names("pods") == ["a"]


def test_a_created_attachment_carries_owner_and_annotations_of_metacontroller() -> None:
    world = World(pool(), sync=FakeHook(lists("a")))
    world.settle()
    asked_for = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"metacontroller.k8s.io/decorator-controller": "toy"},
            "name": "a",
            "namespace": "ns",
        },
        "spec": {"a": "<b>"},
    }
    created = world.api.get(PODS, "ns", "a")["metadata"]
    text = created["annotations"].pop("metacontroller.k8s.io/last-applied-configuration")
    assert created["annotations"] == {"metacontroller.k8s.io/decorator-controller": "toy"}
    assert json.loads(text) == asked_for
    assert '"spec":{"a":"\\u003cb\\u003e"}' in text, "escaped as Go does"
    assert created["ownerReferences"] == [
        {
            "apiVersion": "toy.io/v1",
            "kind": "Pool",
            "name": "p",
            "uid": world.pool()["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_only_pods_that_this_controller_created_for_this_parent_are_attachments() -> None:
    world = with_pods("mine")
    mine = world.api.get(PODS, "ns", "mine")["metadata"]
    other_owner = [mine["ownerReferences"][0] | {"uid": "uid-of-another"}]
    not_controller = [mine["ownerReferences"][0] | {"controller": False}]
    other_decorator = {"metacontroller.k8s.io/decorator-controller": "another"}
    owned = {"ownerReferences": mine["ownerReferences"], "annotations": mine["annotations"]}
    world.api.put(pod("a", **owned | {"ownerReferences": other_owner}))
    world.api.put(pod("b", **owned | {"ownerReferences": not_controller}))
    world.api.put(pod("c", **owned | {"annotations": other_decorator}))
    world.api.put(pod("d"))
    world.engine.resync()
    world.settle()
    assert list(world.sync_hook.last["attachments"]["Pod.v1"]) == ["ns/mine"]


def test_a_refused_creation_is_a_sync_error_with_backoff_and_the_hook_is_not_told() -> None:
    world = World(pool(), sync=FakeHook(lists("a", "b")))
    world.api.refuse("create", "pods", ApiError(403, "Forbidden", "exceeded quota"))
    world.settle()
    message = "Sync error: can't reconcile children for Pool /p: [exceeded quota, exceeded quota]"
    assert world.warnings() == [("SyncError", message, 1)]
    assert world.engine.queue.next_due() == 0.005
    world.seconds = 0.005
    world.settle()
    first, second = world.sync_hook.requests
    assert first == second
    assert world.warnings() == [("SyncError", message, 2)]


def test_one_failing_deletion_does_not_keep_the_others_and_the_creations_from_being_tried() -> None:
    world = with_pods("a", "b")
    world.api.refuse("delete", "pods", ApiError(500, "InternalError", "boom"))
    world.sync_hook.answers = [lists("new")]
    world.engine.resync()
    world.deliver()
    world.step()
    assert world.api.writes == [
        ("delete", "Pod", "a"),
        ("delete", "Pod", "b"),
        ("create", "Pod", "new"),
    ]
    assert world.warnings()[0][1] == (
        "Sync error: can't reconcile children for Pool /p: "
        "[can't delete Pod ns/a: boom, can't delete Pod ns/b: boom]"
    )


@pytest.mark.parametrize(
    ("verb", "error"),
    [
        pytest.param("create", ApiError(409, "AlreadyExists", "there"), id="created by a namesake"),
        pytest.param("delete", ApiError(404, "NotFound", "gone"), id="deleted meanwhile"),
    ],
)
def test_creating_what_exists_and_deleting_what_is_gone_is_no_error(
    verb: str, error: ApiError
) -> None:
    world = with_pods("old")
    world.api.refuse(verb, "pods", error)
    world.sync_hook.answers = [lists("new")]
    world.engine.resync()
    world.settle()
    assert world.warnings() == []


def test_deleting_a_namesake_with_another_uid_is_an_error() -> None:
    world = with_pods("a")
    world.api.refuse("delete", "pods", ApiError(409, "Conflict", "the UID does not match"))
    world.sync_hook.answers = [{}]
    world.engine.resync()
    world.settle()
    assert world.warnings()[0][1] == (
        "Sync error: can't reconcile children for Pool /p: "
        "can't delete Pod ns/a: the UID does not match"
    )


def test_an_attachment_of_a_kind_that_is_not_served_is_an_error_and_the_others_are_created() -> (
    None
):
    alien = {"apiVersion": "v9", "kind": "Alien", "metadata": {"name": "x"}}
    world = World(pool(), sync=FakeHook({"attachments": [alien, pod("a")]}))
    world.settle()
    assert world.api.names("pods") == ["a"]
    assert world.warnings()[0][1].endswith("can't find kind 'Alien' in apiVersion 'v9'")


def test_a_namespaced_parent_has_attachments_in_its_own_namespace_only() -> None:
    parent = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "ns"},
    }
    runs = controller(resources=[{"apiVersion": "apps/v1", "resource": "deployments"}])
    world = World(parent, runs=runs, sync=FakeHook(lists("a")))
    world.settle()
    copied = world.api.get(PODS, "ns", "a")
    copied["metadata"] |= {"namespace": "elsewhere", "uid": "uid-elsewhere"}
    world.api.put(copied)
    world.engine.resync()
    world.settle()
    assert list(world.sync_hook.last["attachments"]["Pod.v1"]) == ["ns/a"]
    assert world.sync_hook.last["object"]["kind"] == "Deployment"
