"""What makes the controller sync a parent, and what doesn't."""

from __future__ import annotations

import pytest

from hooks.sandbox.apiport import Resource
from hooks.sandbox.failures import HookCallError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.world import (
    APPS,
    NODES,
    NODES_OF_POOL,
    PODS,
    POOLS,
    FakeHook,
    World,
    controller,
    node,
    pod,
    pool,
)

POOL_RULE = {"apiVersion": "toy.io/v1", "resource": "pools"}


def at_rest(*objects: Obj, runs: Obj | None = None, sync: FakeHook | None = None) -> World:
    """A world after its first syncs; calls are counted from now."""
    world = World(pool(), *objects, runs=runs, sync=sync, customize=FakeHook(NODES_OF_POOL))
    world.settle_with_related()
    world.sync_hook.requests.clear()
    return world


def test_a_new_a_changed_and_a_told_again_parent_are_synced() -> None:
    world = at_rest()
    world.api.put(pool("q"))
    assert world.settle() == 1
    world.api.put(pool("q", labels={"a": "1"}))
    assert world.settle() == 1
    world.engine.resync()
    assert world.settle() == 2


def test_a_deleted_parent_is_forgotten_without_a_call() -> None:
    world = at_rest()
    world.api.take_away(world.pool())
    assert world.settle() == 1
    assert world.sync_hook.requests == []


def test_many_events_before_a_sync_are_one_sync() -> None:
    world = at_rest()
    for number in range(5):
        world.api.put(pool(labels={"n": str(number)}))
    assert world.settle() == 1
    assert world.sync_hook.last["object"]["metadata"]["labels"] == {"n": "4"}


def test_an_event_while_a_parent_is_synced_brings_one_more_sync_afterwards() -> None:
    world = at_rest()
    world.engine.resync()
    world.deliver()
    key = world.engine.queue.take()
    assert key is not None
    world.api.put(pool(labels={"late": "1"}))
    world.deliver()
    assert world.engine.queue.take() is None, "one sync per parent at a time"
    world.engine.work_on(key)
    assert world.settle() == 1


def test_the_events_of_an_attachment_wake_its_owner() -> None:
    world = at_rest(sync=FakeHook({"attachments": [pod("a")]}))
    world.api.put(world.api.get(world.api.resource_of(pod("a")), "ns", "a") | {"status": {"x": 1}})
    assert world.settle() == 1
    world.sync_hook.answers = [{}]
    world.api.take_away(pod("a"))
    assert world.settle() == 1


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param({"uid": "uid-of-a-namesake"}, id="other UID"),
        pytest.param({"name": "q"}, id="other name"),
        pytest.param({"kind": "Other"}, id="other kind"),
        pytest.param({"apiVersion": "other.io/v1"}, id="other group"),
        pytest.param({"controller": False}, id="not the controller"),
    ],
)
def test_a_pod_that_nobody_here_owns_wakes_nobody(reference: Obj) -> None:
    world = at_rest()
    owner = {"apiVersion": "toy.io/v1", "kind": "Pool", "name": "p", "controller": True}
    owner["uid"] = world.pool()["metadata"]["uid"]
    world.api.put(pod("a", ownerReferences=[owner | reference]))
    assert world.settle() == 0


def test_a_pod_that_a_parent_owns_in_another_version_of_its_group_wakes_it() -> None:
    world = at_rest()
    owner = {"apiVersion": "toy.io/v2", "kind": "Pool", "name": "p", "controller": True}
    owner["uid"] = world.pool()["metadata"]["uid"]
    world.api.put(pod("a", ownerReferences=[owner]))
    assert world.settle() == 1


@pytest.mark.parametrize(
    ("before", "after", "syncs"),
    [
        pytest.param({}, {"pool": "p"}, 1, id="matches by its new labels"),
        pytest.param({"pool": "p"}, {}, 1, id="matches by its old labels"),
        pytest.param({"pool": "p"}, {"pool": "p", "x": "1"}, 1, id="matches by both"),
        pytest.param({"pool": "q"}, {"pool": "r"}, 0, id="matches by neither"),
    ],
)
def test_a_changed_related_object_wakes_by_its_old_and_by_its_new_labels(
    before: dict[str, str], after: dict[str, str], syncs: int
) -> None:
    world = at_rest(node("n", **before))
    world.api.put(node("n", **after))
    assert world.settle() == syncs
    for request in world.sync_hook.requests:
        assert list(request["related"]["Node.v1"]) == (["n"] if "pool" in after else [])


def test_a_new_and_a_deleted_related_object_wake_the_parent() -> None:
    world = at_rest()
    world.api.put(node("n", pool="p"))
    assert world.settle() == 1
    world.api.take_away(node("n"))
    assert world.settle() == 1
    assert world.sync_hook.last["related"] == {"Node.v1": {}}


@pytest.mark.parametrize(
    ("resource", "syncs"),
    [
        pytest.param(NODES, 0, id="related"),
        pytest.param(PODS, 0, id="attachments"),
        pytest.param(POOLS, 1, id="parents"),
    ],
)
def test_a_relist_that_brings_the_same_versions_wakes_parents_only(
    resource: Resource, syncs: int
) -> None:
    world = at_rest(node("n", pool="p"), sync=FakeHook({"attachments": [pod("a")]}))
    world.relist(resource)
    assert world.settle() == syncs


def test_a_related_event_asks_the_customize_hook_of_parents_that_have_no_answer_yet() -> None:
    world = at_rest()
    world.seconds += 1200
    world.api.put(node("n", pool="p"))
    asked = len(world.customize_hook.requests)
    assert world.settle() == 1
    assert len(world.customize_hook.requests) == asked + 1


def test_a_customize_hook_that_fails_during_a_related_event_wakes_nobody() -> None:
    world = at_rest()
    world.seconds += 1200
    world.customize_hook.answers = [HookCallError("down")]
    world.api.put(node("n", pool="p"))
    assert world.settle() == 0
    assert world.warnings() == []


@pytest.mark.parametrize(
    ("rule", "metadata", "syncs"),
    [
        pytest.param({"labelSelector": {"matchLabels": {"a": "1"}}}, {"labels": {"a": "1"}}, 1),
        pytest.param({"labelSelector": {"matchLabels": {"a": "1"}}}, {"labels": {"a": "2"}}, 0),
        pytest.param({"labelSelector": {"matchLabels": {"a": "1"}}}, {}, 0),
        pytest.param(
            {"annotationSelector": {"matchAnnotations": {"a": "1"}}}, {"annotations": {"a": "1"}}, 1
        ),
        pytest.param(
            {"annotationSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
            {"annotations": {"b": "1"}},
            0,
        ),
        pytest.param(
            {
                "labelSelector": {"matchLabels": {"a": "1"}},
                "annotationSelector": {"matchAnnotations": {"b": "1"}},
            },
            {"labels": {"a": "1"}},
            0,
            id="both must match",
        ),
    ],
)
def test_only_objects_that_the_selectors_choose_are_parents(
    rule: Obj, metadata: Obj, syncs: int
) -> None:
    runs = controller(resources=[POOL_RULE | rule])
    world = World(pool(**metadata), runs=runs)
    assert world.settle() == syncs


def test_a_parent_that_stops_matching_before_its_sync_is_not_synced() -> None:
    runs = controller(resources=[POOL_RULE | {"labelSelector": {"matchLabels": {"a": "1"}}}])
    world = World(pool(labels={"a": "1"}), runs=runs)
    world.settle()
    world.sync_hook.requests.clear()
    world.engine.resync()
    world.deliver()
    world.api.put(pool())
    world.deliver()
    world.settle()
    assert world.sync_hook.requests == []


@pytest.mark.parametrize(
    ("change", "syncs"),
    [
        pytest.param({"status": {"x": 2}}, 0, id="status"),
        pytest.param({"metadata": {"name": "p", "labels": {"a": "1"}}}, 1, id="labels"),
        pytest.param({"metadata": {"name": "p", "annotations": {"a": "1"}}}, 1, id="annotations"),
        pytest.param({"metadata": {"name": "p", "generation": 2}}, 1, id="generation"),
        pytest.param(
            {"metadata": {"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
            1,
            id="deleting",
        ),
    ],
)
def test_ignore_status_changes_leaves_out_changes_of_the_status_alone(
    change: Obj, syncs: int
) -> None:
    world = at_rest(runs=controller(resources=[POOL_RULE | {"ignoreStatusChanges": True}]))
    world.api.put(pool() | change)
    assert world.settle() == syncs


def test_a_controller_of_two_kinds_syncs_parents_of_both_and_finds_the_owners_among_both() -> None:
    app = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "p", "namespace": "ns"},
    }
    rules = [POOL_RULE, {"apiVersion": "apps/v1", "resource": "deployments"}]
    world = at_rest(app, runs=controller(resources=rules))
    stored = world.api.get(APPS, "ns", "p")
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "p", "controller": True}
    world.api.put(pod("a", ownerReferences=[owner | {"uid": stored["metadata"]["uid"]}]))
    assert world.settle() == 1
    assert world.sync_hook.last["object"] == stored
    world.engine.resync()
    assert world.settle() == 2
