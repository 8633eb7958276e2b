"""Patches of every kind."""

from __future__ import annotations

import copy

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import CONFIGMAPS, DEPLOYMENTS, NODECLAIMS, NODES
from hooks.sandbox.store.patching import APPLY_PATCH, STRATEGIC_PATCH
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import JSON_PATCH, MERGE_PATCH, World, node, told

BARE = (422, "Invalid", "the server rejected our request due to an error in our request")


def json_patch(world: World, *operations: Obj) -> Obj:
    return world.store.patch(NODES, "", "n1", list(operations), JSON_PATCH)


def test_a_json_patch_goes_through_when_its_tests_hold(world: World) -> None:
    world.store.create(NODES, node("n1", annotations={"a": "1"}))
    patched = json_patch(
        world,
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
        {"op": "add", "path": "/metadata/annotations/example.com~1b", "value": "2"},
        {"op": "remove", "path": "/metadata/annotations/a"},
        {"op": "add", "path": "/spec/unschedulable", "value": True},
    )
    assert patched["metadata"]["annotations"] == {"example.com/b": "2"}
    assert patched["spec"] == {"unschedulable": True}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "0"},
        {"op": "test", "path": "/metadata/annotations/x", "value": "1"},
        {"op": "remove", "path": "/metadata/annotations/x"},
        {"op": "replace", "path": "/spec/taints", "value": []},
        {"op": "add", "path": "/nowhere/a", "value": 1},
        {"op": "nonsense", "path": "/spec", "value": 1},
    ],
    ids=lambda operation: operation["op"] + operation["path"],
)
def test_a_json_patch_that_can_not_be_applied_is_a_bare_422(world: World, operation: Obj) -> None:
    first = world.store.create(NODES, node("n1"))
    with pytest.raises(RefusedError) as caught:
        json_patch(world, {"op": "add", "path": "/spec/a", "value": 1}, operation)
    assert (told(caught.value), caught.value.details) == (BARE, {})
    assert world.store.get(NODES, "", "n1") is first
    assert first["spec"] == {}


def test_a_test_for_null_holds_where_nothing_is(world: World) -> None:
    world.store.create(NODES, node("n1"))
    patched = json_patch(
        world,
        {"op": "test", "path": "/spec/unschedulable", "value": None},
        {"op": "add", "path": "/spec/unschedulable", "value": True},
    )
    assert patched["spec"] == {"unschedulable": True}


def test_a_json_patch_of_the_version_is_an_optimistic_lock(world: World) -> None:
    world.store.create(NODES, node("n1"))
    with pytest.raises(RefusedError) as caught:
        json_patch(world, {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"})
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


def test_a_merge_patch_sets_merges_and_removes(world: World) -> None:
    world.store.create(
        NODES, node("n1", labels={"a": "1", "b": "2"}) | {"spec": {"taints": [1, 2]}}
    )
    patched = world.store.patch(
        NODES,
        "",
        "n1",
        {"metadata": {"labels": {"a": None, "c": "3"}}, "spec": {"taints": [3], "gone": None}},
        MERGE_PATCH,
    )
    assert patched["metadata"]["labels"] == {"b": "2", "c": "3"}
    assert patched["spec"] == {"taints": [3]}


def test_a_merge_patch_that_names_an_old_version_is_a_conflict(world: World) -> None:
    world.store.create(NODECLAIMS, node("c"))
    old: Obj = {"metadata": {"resourceVersion": "9", "labels": {"a": "b"}}}
    with pytest.raises(RefusedError) as caught:
        world.store.patch(NODECLAIMS, "", "c", old, MERGE_PATCH)
    assert caught.value.is_conflict


def test_a_strategic_patch_merges_lists_by_their_keys(world: World) -> None:
    containers = [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:1"}]
    template = {"spec": {"containers": containers, "tolerations": [{"key": "t"}]}}
    made: Obj = {"metadata": {"name": "web"}, "spec": {"template": template}}
    world.store.create(DEPLOYMENTS, made)
    changes: Obj = {
        "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
        "containers": [{"name": "b", "image": "y:2"}, {"name": "a", "$patch": "delete"}],
        "tolerations": [{"key": "u"}],
    }
    patch: Obj = {"spec": {"template": {"spec": changes}}}
    patched = world.store.patch(DEPLOYMENTS, "default", "web", patch, STRATEGIC_PATCH)
    spec = patched["spec"]["template"]["spec"]
    assert [(one["name"], one["image"]) for one in spec["containers"]] == [("b", "y:2")]
    assert spec["tolerations"] == [{"key": "u"}]


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        (
            [{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"a": "b"}}],
            JSON_PATCH,
        ),
        ({"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}, MERGE_PATCH),
        ({"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}, STRATEGIC_PATCH),
        ({"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}, APPLY_PATCH),
    ],
)
def test_no_patch_changes_what_was_stored_before(
    world: World, patch: Obj | list[Obj], kind: str
) -> None:
    containers = [{"name": "a", "image": "x:1"}]
    template = {"spec": {"containers": containers}}
    stored = world.store.create(
        DEPLOYMENTS,
        {"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {"template": template}},
    )
    before = copy.deepcopy(stored)
    patched = world.store.patch(DEPLOYMENTS, "default", "web", patch, kind)
    assert patched["metadata"]["generation"] == 2
    assert stored == before
    assert world.store.events_after(0)[0].obj == before


def test_finalizers_are_added_to_and_taken_from_by_a_strategic_patch(world: World) -> None:
    world.store.create(NODES, node("n1", finalizers=["a", "b"]))
    patch: Obj = {
        "metadata": {"finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["a"]},
    }
    patched = world.store.patch(NODES, "", "n1", patch, STRATEGIC_PATCH)
    assert sorted(patched["metadata"]["finalizers"]) == ["b", "c"]


def test_a_strategic_patch_may_replace_what_it_would_merge(world: World) -> None:
    stored = node("n1", labels={"a": "1"}) | {"spec": {"taints": [{"key": "t"}], "podCIDR": "x"}}
    world.store.create(NODES, stored)
    patch: Obj = {
        "metadata": {"labels": {"$patch": "replace", "b": "2"}},
        "spec": {"taints": [{"$patch": "replace"}, {"key": "u"}], "podCIDR": None},
    }
    patched = world.store.patch(NODES, "", "n1", patch, STRATEGIC_PATCH)
    assert patched["metadata"]["labels"] == {"b": "2"}
    assert patched["spec"] == {"taints": [{"key": "u"}]}


def test_custom_kinds_take_no_strategic_patch(world: World) -> None:
    world.store.create(NODECLAIMS, node("c"))
    with pytest.raises(RefusedError) as caught:
        world.store.patch(NODECLAIMS, "", "c", {}, STRATEGIC_PATCH)
    assert (caught.value.status, caught.value.reason) == (415, "UnsupportedMediaType")


def test_a_server_side_apply_creates_and_changes(world: World) -> None:
    wanted: Obj = {"metadata": {"name": "cm", "namespace": "shop"}, "data": {"a": "1"}}
    world.store.patch(CONFIGMAPS, "shop", "cm", wanted, APPLY_PATCH)
    changed = world.store.patch(
        CONFIGMAPS, "shop", "cm", wanted | {"data": {"b": "2"}}, APPLY_PATCH
    )
    assert changed["data"] == {"a": "1", "b": "2"}
    assert world.events() == [("ADDED", "ConfigMap", "cm"), ("MODIFIED", "ConfigMap", "cm")]


def test_other_patches_of_what_is_gone_are_not_found(world: World) -> None:
    with pytest.raises(RefusedError) as caught:
        json_patch(world, {"op": "add", "path": "/spec", "value": {}})
    assert caught.value.is_not_found


@pytest.mark.parametrize(
    ("patch", "kind"), [({}, JSON_PATCH), ([], MERGE_PATCH), ([1], JSON_PATCH)]
)
def test_a_patch_of_the_wrong_shape_is_a_bad_request(
    world: World, patch: Obj | list[Obj], kind: str
) -> None:
    world.store.create(NODES, node("n1"))
    with pytest.raises(RefusedError) as caught:
        world.store.patch(NODES, "", "n1", patch, kind)
    assert (caught.value.status, caught.value.reason) == (400, "BadRequest")
