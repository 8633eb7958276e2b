"""What one sync does with the parent, and whether it goes on to the attachments (rotation.md section 1)."""

from __future__ import annotations

import pytest

from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.world import CONFIGMAPS, FakeHook, World, controller, pod, pool

UPDATE = ("update", "Pool", "p")


def lists(*names: str) -> Obj:
    return {"attachments": [pod(name) for name in names]}


@pytest.mark.parametrize(
    ("before", "answer", "after", "writes"),
    [
        pytest.param({"a": "1"}, {"annotations": {"b": "2"}}, {"a": "1", "b": "2"}, 1, id="added"),
        pytest.param({"a": "1"}, {"annotations": {"a": "2"}}, {"a": "2"}, 1, id="changed"),
        pytest.param(
            {"a": "1", "b": "2"}, {"annotations": {"a": None}}, {"b": "2"}, 1, id="null deletes"
        ),
        pytest.param(
            {"a": "1"}, {"annotations": {"x": None}}, {"a": "1"}, 0, id="null of a missing key"
        ),
        pytest.param({"a": "1"}, {"annotations": {"a": "1"}}, {"a": "1"}, 0, id="same value"),
        pytest.param({"a": "1"}, {"annotations": None}, {"a": "1"}, 0, id="null annotations"),
        pytest.param({"a": "1"}, {}, {"a": "1"}, 0, id="empty answer"),
    ],
)
def test_the_parent_is_updated_only_if_something_changes(
    before: dict[str, str], answer: Obj, after: dict[str, str], writes: int
) -> None:
    world = World(pool(annotations=before), sync=FakeHook(answer))
    world.settle()
    assert world.annotations() == after
    assert world.api.writes == [UPDATE] * writes


def test_labels_are_written_like_annotations_and_in_the_same_update() -> None:
    answer = {"labels": {"l": "1", "old": None}, "annotations": {"a": "1"}}
    world = World(pool(labels={"old": "x"}), sync=FakeHook(answer))
    world.settle()
    metadata = world.pool()["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"l": "1"}, {"a": "1"})
    assert world.api.writes == [UPDATE]


def test_a_status_goes_through_the_subresource_before_the_update_of_the_object() -> None:
    world = World(pool(), sync=FakeHook({"status": {"x": 1}, "annotations": {"a": "1"}}))
    world.settle()
    assert world.pool()["status"] == {"x": 1}
    assert world.annotations() == {"a": "1"}
    assert world.api.writes == [("update status", "Pool", "p"), UPDATE]


def test_a_status_of_a_kind_without_subresource_is_part_of_the_one_update() -> None:
    parent = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}}
    runs = controller(resources=[{"apiVersion": "v1", "resource": "configmaps"}], attachments=[])
    world = World(parent, runs=runs, sync=FakeHook({"status": {"x": 1}}))
    world.settle()
    assert world.api.get(CONFIGMAPS, "ns", "c")["status"] == {"x": 1}
    assert world.api.writes == [("update", "ConfigMap", "c")]


def test_a_conflict_on_the_parent_stops_silently_before_the_attachments() -> None:
    world = World(pool(), sync=FakeHook({"annotations": {"a": "1"}} | lists("new")))
    world.sync_hook.meanwhile = lambda: world.api.put(pool(annotations={"z": "z"}))
    world.deliver()
    assert world.step()
    assert world.api.writes == [UPDATE]
    assert (world.api.names("pods"), world.warnings()) == ([], [])
    assert not world.step(), "no retry of its own: only the newer parent's event brings the next"


def test_after_a_conflict_the_newer_parent_is_synced_and_then_the_attachments_come() -> None:
    world = World(pool(), sync=FakeHook({"annotations": {"a": "1"}} | lists("new")))
    world.sync_hook.meanwhile = lambda: world.api.put(pool(annotations={"z": "z"}))
    world.deliver()
    world.step()
    world.sync_hook.meanwhile = None
    world.settle()
    assert world.annotations() == {"a": "1", "z": "z"}
    assert world.api.names("pods") == ["new"]


def test_a_parent_that_is_gone_stops_silently_before_the_attachments() -> None:
    world = World(pool(), sync=FakeHook({"annotations": {"a": "1"}} | lists("new")))
    world.sync_hook.meanwhile = lambda: world.api.take_away(pool())
    world.settle()
    assert world.api.writes == [UPDATE]
    assert (world.api.names("pods"), world.warnings()) == ([], [])


def test_an_answer_without_changes_applies_its_attachments_though_the_parent_is_newer() -> None:
    world = World(pool(annotations={"a": "1"}))
    world.sync_hook.answers = [{"annotations": {"a": "1"}} | lists("new")]
    world.sync_hook.meanwhile = lambda: world.api.put(pool(annotations={"a": "2"}))
    world.deliver()
    world.step()
    assert world.api.names("pods") == ["new"]
    assert world.annotations() == {"a": "2"}


def test_an_update_refused_for_another_reason_is_an_error_and_attachments_wait() -> None:
    world = World(pool(), sync=FakeHook({"annotations": {"a": "1"}} | lists("new")))
    world.api.refuse("update", "pools", ApiError(403, "Forbidden", "no"))
    world.deliver()
    world.step()
    assert world.api.names("pods") == []
    assert world.warnings() == [("SyncError", "Sync error: can't update Pool /p: no", 1)]
