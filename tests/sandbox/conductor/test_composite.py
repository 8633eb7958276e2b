"""A CompositeController without children, step by step: when its hook is asked, how a status is kept."""

from __future__ import annotations

import pytest
from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.webhook import Reply
from hooks.sandbox.failures import ApiError, HookCallError, InvalidControllerError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.memory_api import MemoryApi
from tests.sandbox.conductor.world import (
    NODES_OF_POOL,
    POOLS,
    SERVED,
    FakeHook,
    World,
    composite,
    node,
    pool,
)

STATUS = ("update status", "Pool", "p")
TELLS = {"status": {"x": 1}, "children": []}


def world_with(*answers: Obj | Reply | HookCallError, parent: Obj | None = None) -> World:
    return World(parent or pool(generation=3), runs=composite(), sync=FakeHook(*answers))


def change(world: World, **metadata: object) -> None:
    """Let somebody else change the parent; its status stays."""
    stored = world.pool()
    stored["metadata"] |= metadata
    world.api.put(stored)


def test_a_request_has_the_parent_no_children_and_what_the_customize_hook_asks_for() -> None:
    customize = FakeHook(NODES_OF_POOL)
    world = World(pool(), node("n", pool="p"), runs=composite(), customize=customize)
    world.settle_with_related()
    request = world.sync_hook.requests[0]
    related = request.pop("related")
    parent = {key: value for key, value in world.pool().items() if key != "status"}
    parent["metadata"] |= {"resourceVersion": request["parent"]["metadata"]["resourceVersion"]}
    assert request == {
        "controller": composite() | {"status": {}},
        "parent": parent,
        "children": {},
        "finalizing": False,
    }
    assert list(related) == ["Node.v1"]
    assert list(related["Node.v1"]) == ["n"]
    assert [list(request) for request in customize.requests] == [["controller", "parent"]]


def test_a_status_is_written_through_the_subresource_with_the_generation_that_was_seen() -> None:
    world = world_with(TELLS)
    world.settle()
    assert world.pool()["status"] == {"x": 1, "observedGeneration": 3}
    assert world.api.writes == [STATUS]


def test_the_observed_generation_is_metacontroller_s_whatever_the_hook_says() -> None:
    world = world_with({"status": {"observedGeneration": 99}})
    world.settle()
    assert world.pool()["status"] == {"observedGeneration": 3}


def test_a_parent_without_generation_is_observed_at_0() -> None:
    world = world_with({}, parent=pool())
    world.settle()
    assert world.pool()["status"] == {"observedGeneration": 0}


def test_the_own_status_write_brings_one_more_sync_and_then_it_is_quiet() -> None:
    world = world_with(TELLS)
    assert world.settle() == 2
    world.seconds = 10_000
    assert world.settle() == 0
    assert world.api.writes == [STATUS]


def test_with_ignored_status_changes_it_brings_none_and_a_resync_period_none_either() -> None:
    rule = {"apiVersion": "toy.io/v1", "resource": "pools", "ignoreStatusChanges": True}
    world = World(pool(), runs=composite(parentResource=rule), sync=FakeHook(TELLS))
    assert world.settle() == 1
    world.engine.resync()
    assert world.settle() == 0


def test_a_status_that_is_answered_otherwise_replaces_the_old_one_whole() -> None:
    world = world_with({"status": {"x": 1, "y": 1}}, {"status": {"x": 2}})
    world.settle()
    assert world.pool()["status"] == {"x": 2, "observedGeneration": 3}
    assert world.api.writes == [STATUS] * 2


@pytest.mark.parametrize("answer", [{}, {"status": None}, {"status": {}}])
def test_an_answer_without_status_empties_it(answer: Obj) -> None:
    world = world_with(TELLS, answer)
    world.settle()
    assert world.pool()["status"] == {"observedGeneration": 3}


def test_a_parent_that_changed_during_the_call_gets_its_status_and_keeps_the_change() -> None:
    world = world_with(TELLS)
    world.sync_hook.meanwhile = lambda: change(world, labels={"l": "1"}, generation=4)
    world.deliver()
    world.step()
    stored = world.pool()
    assert stored["status"] == {"x": 1, "observedGeneration": 3}
    assert stored["metadata"]["labels"] == {"l": "1"}
    world.sync_hook.meanwhile = None
    world.settle()
    assert world.pool()["status"] == {"x": 1, "observedGeneration": 4}


class Contested(MemoryApi):
    """Somebody else is quicker with the parent, so many times."""

    def __init__(self, times: int) -> None:
        super().__init__(*SERVED)
        self.times = times

    @override
    def get(self, resource: Resource, namespace: str, name: str) -> Obj:
        found = super().get(resource, namespace, name)
        if resource == POOLS and self.times > 0:
            self.times -= 1
            self.put(found)
        return found


@pytest.mark.parametrize(("times", "written"), [(1, True), (3, True), (4, False)])
def test_a_conflict_is_tried_again_four_times_in_all_then_given_up_silently(
    times: int, written: object
) -> None:
    world = World(pool(), runs=composite(), sync=FakeHook(TELLS), api=Contested(times))
    world.deliver()
    world.step()
    assert world.api.writes == [STATUS] * (times + 1 if written else times)
    assert ("x" in (world.pool().get("status") or {})) is written
    assert world.warnings() == []
    assert not world.step(), "no retry of its own: only the newer parent's event brings the next"


def test_a_parent_that_is_gone_or_another_by_now_gets_no_status() -> None:
    for uid in (None, "uid-of-another"):
        world = world_with(TELLS)

        def replace(world: World = world, uid: str | None = uid) -> None:
            world.api.take_away(pool())
            if uid is not None:
                world.api.put(pool(uid=uid))

        world.sync_hook.meanwhile = replace
        world.deliver()
        world.step()
        assert (world.api.writes, world.warnings()) == ([], [])


def test_a_status_that_is_refused_is_an_error_with_an_event_and_a_backoff() -> None:
    world = world_with(TELLS | {"resyncAfterSeconds": 60})
    world.api.refuse("update status", "pools", ApiError(422, "Invalid", "status.x: no"))
    world.deliver()
    world.step()
    assert world.warnings() == [
        ("SyncError", "Sync error: can't update status for Pool /p: status.x: no", 1)
    ]
    assert world.engine.queue.next_due() == 0.005


def test_a_hook_that_fails_leaves_the_status_as_it_is() -> None:
    world = world_with(TELLS, Reply(503, b"later"))
    world.settle()
    assert world.pool()["status"] == {"x": 1, "observedGeneration": 3}
    assert world.warnings() == [
        (
            "SyncError",
            "Sync error: sync hook failed for Pool /p: unsupported status code: 503 body: later",
            1,
        )
    ]


def test_children_are_refused_rather_than_forgotten() -> None:
    world = world_with({"children": [{"apiVersion": "v1", "kind": "Pod"}]})
    world.settle()
    assert world.api.writes == []
    assert [reason for reason, *_ in world.warnings()] == ["SyncError"]


def test_resync_after_seconds_brings_a_sync_then_and_is_scheduled_before_the_write() -> None:
    world = world_with(TELLS | {"resyncAfterSeconds": 7}, TELLS)
    world.api.refuse("update status", "pools", ApiError(404, "NotFound", "gone"))
    world.deliver()
    world.step()
    assert world.engine.queue.next_due() == 7
    world.seconds = 6.9
    assert world.settle() == 0
    world.seconds = 7
    assert world.settle() == 1


def test_events_of_the_parent_and_of_related_objects_bring_a_sync() -> None:
    customize = FakeHook(NODES_OF_POOL)
    world = World(pool(), runs=composite(), customize=customize, sync=FakeHook(TELLS))
    world.settle_with_related()
    for changed in (pool(labels={"l": "1"}), node("n", pool="p"), node("n", pool="q")):
        world.api.put(changed)
        # A new pool object has no status, which is written again: one sync more.
        assert world.settle() == (2 if changed["kind"] == "Pool" else 1)
    world.engine.resync()
    assert world.settle() == 1


def test_only_parents_with_its_labels_are_synced() -> None:
    rule = {
        "apiVersion": "toy.io/v1",
        "resource": "pools",
        "labelSelector": {"matchLabels": {"mine": "yes"}},
    }
    world = World(
        pool("p", labels={"mine": "yes"}),
        pool("q"),
        runs=composite(parentResource=rule),
        sync=FakeHook(TELLS),
    )
    world.settle()
    assert {request["parent"]["metadata"]["name"] for request in world.sync_hook.requests} == {"p"}


def test_a_parent_that_is_being_deleted_still_gets_its_status() -> None:
    world = world_with(TELLS, parent=pool(deletionTimestamp="2026-01-01T00:00:00Z"))
    world.settle()
    assert world.pool()["status"] == {"x": 1, "observedGeneration": 0}


def test_parents_must_have_a_status_subresource() -> None:
    rule = {"apiVersion": "v1", "resource": "configmaps"}
    with pytest.raises(InvalidControllerError, match="ConfigMap does not have subresource"):
        World(runs=composite(parentResource=rule))
