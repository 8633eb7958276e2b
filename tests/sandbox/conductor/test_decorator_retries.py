"""When a parent is synced again: resyncAfterSeconds, backoff, 429."""

from __future__ import annotations

import pytest

from hooks.sandbox.conductor.webhook import Reply
from hooks.sandbox.failures import ApiError, HookCallError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.world import NODES_OF_POOL, FakeHook, World, node, pod, pool


def world_with(*answers: Obj | Reply | HookCallError) -> World:
    return World(pool(), sync=FakeHook(*answers))


def test_resync_after_seconds_brings_a_sync_then_and_not_before() -> None:
    world = world_with({"resyncAfterSeconds": 2.5}, {})
    assert world.settle() == 1
    world.seconds = 2.4
    assert world.settle() == 0
    world.seconds = 2.5
    assert world.settle() == 1


def test_the_earliest_resync_asked_for_wins_and_a_later_one_does_not_postpone_it() -> None:
    world = world_with({"resyncAfterSeconds": 10}, {"resyncAfterSeconds": 60}, {})
    world.settle()
    world.seconds = 4
    world.engine.resync()
    world.settle()
    world.seconds = 10
    assert world.settle() == 1
    world.seconds = 64
    assert world.settle() == 0, "the later time was merged into the earlier one"


def test_an_earlier_resync_overtakes_a_later_one() -> None:
    world = world_with({"resyncAfterSeconds": 60}, {"resyncAfterSeconds": 5}, {})
    world.settle()
    world.engine.resync()
    world.settle()
    world.seconds = 5
    assert world.settle() == 1
    world.seconds = 60
    assert world.settle() == 0


@pytest.mark.parametrize(
    "later",
    [
        pytest.param({}, id="an answer without one"),
        pytest.param({"resyncAfterSeconds": 0}, id="zero"),
        pytest.param({"resyncAfterSeconds": -1}, id="negative"),
        pytest.param({"resyncAfterSeconds": None}, id="null"),
    ],
)
def test_a_resync_that_was_asked_for_is_never_cancelled(later: Obj) -> None:
    world = world_with({"resyncAfterSeconds": 10}, later)
    world.settle()
    world.engine.resync()
    world.settle()
    world.seconds = 10
    assert world.settle() == 1


def test_the_resync_is_scheduled_before_the_update_of_the_parent_can_stop_the_pass() -> None:
    world = world_with({"resyncAfterSeconds": 7, "annotations": {"a": "1"}}, {})
    world.sync_hook.meanwhile = lambda: world.api.put(pool(annotations={"z": "z"}))
    world.deliver()
    world.step()
    assert world.engine.queue.next_due() == 7


def test_the_resync_is_scheduled_before_a_refused_creation_fails_the_pass() -> None:
    world = world_with({"resyncAfterSeconds": 0.001, "attachments": [pod("a")]})
    world.api.refuse("create", "pods", ApiError(403, "Forbidden", "quota"))
    world.deliver()
    world.step()
    assert world.engine.queue.next_due() == 0.001


ERRORS = {
    "unreachable": HookCallError("http error: connection refused"),
    "status 500": Reply(500, b"boom"),
    "status 503": Reply(503, b'{"error": {}}'),
    "status 201": Reply(201, b"{}"),
    "status 204": Reply(204, b""),
    "empty body": Reply(200, b""),
    "no JSON": Reply(200, b"<html>"),
    "no object": Reply(200, b"[]"),
    "more than one document": Reply(200, b"{} {}"),
    "unknown field": {"annotations": {"a": "1"}, "anotations": {}},
    "repeated field": Reply(200, b'{"annotations": {"a": "1"}, "annotations": {}}'),
    "wrong type": {"annotations": {"a": 1}, "attachments": []},
    "attachment without kind": {"annotations": {"a": "1"}, "attachments": [{"apiVersion": "v1"}]},
}


@pytest.mark.parametrize("answer", ERRORS.values(), ids=ERRORS)
def test_an_answer_that_is_no_answer_applies_nothing_and_is_a_sync_error(
    answer: Obj | Reply | HookCallError,
) -> None:
    world = world_with({"attachments": [pod("a")], "annotations": {"kept": "1"}})
    world.settle()
    world.api.writes.clear()
    world.sync_hook.answers = [answer]
    world.engine.resync()
    world.settle()
    assert world.api.writes == []
    [(reason, message, count)] = world.warnings()
    assert (reason, count) == ("SyncError", 1)
    assert message.startswith("Sync error: sync hook failed: ")
    assert world.engine.queue.next_due() == 0.005


def test_the_backoff_doubles_from_5_ms_to_1000_s_and_starts_anew_after_a_success() -> None:
    world = world_with(Reply(500, b""))
    world.settle()
    delays = []
    for _ in range(20):
        due = world.engine.queue.next_due()
        assert due is not None
        delays.append(round(due - world.seconds, 6))
        world.seconds = due
        world.settle()
    assert delays == [*(0.005 * 2**n for n in range(18)), 1000, 1000]
    world.sync_hook.answers = [{}, Reply(500, b"")]
    world.engine.resync()
    world.settle()
    world.engine.resync()
    world.deliver()
    now = world.seconds
    world.step()
    assert world.engine.queue.next_due() == pytest.approx(now + 0.005)


def test_events_do_not_wait_for_the_backoff() -> None:
    world = world_with(Reply(500, b""))
    for number in range(3):
        world.api.put(pool(labels={"n": str(number)}))
        assert world.settle() == 1


def test_a_silent_stop_at_a_conflict_counts_as_success() -> None:
    world = world_with(Reply(500, b""), {"annotations": {"a": "1"}}, Reply(500, b""))
    world.settle()
    world.sync_hook.meanwhile = lambda: world.api.put(pool(annotations={"z": "z"}))
    world.seconds = 1
    world.step()
    world.sync_hook.meanwhile = None
    world.settle()
    assert world.engine.queue.next_due() == pytest.approx(1.005)


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        pytest.param("30", 30, id="seconds"),
        pytest.param("Thu, 01 Jan 2026 00:01:00 GMT", 60, id="a date"),
    ],
)
def test_429_is_asked_again_after_retry_after_without_event_or_backoff(
    retry_after: str, seconds: float
) -> None:
    world = world_with(Reply(429, b"", retry_after), {})
    assert world.settle() == 1
    assert world.warnings() == []
    assert world.engine.queue.next_due() == seconds
    world.seconds = seconds
    assert world.settle() == 1


@pytest.mark.parametrize(
    "retry_after", ["", "0", "soon", "1.5", " 3", "-5", "Wed, 31 Dec 2025 23:00:00 GMT"]
)
def test_429_without_a_positive_retry_after_is_asked_again_at_once(retry_after: str) -> None:
    world = world_with(*[Reply(429, b"", retry_after)] * 10, {})
    assert world.settle() == 11
    assert world.seconds == 0
    assert world.warnings() == []


def test_429_does_not_count_as_a_failure() -> None:
    world = world_with(Reply(429, b"", "1"), Reply(429, b"", "1"), Reply(500, b""))
    world.settle()
    world.seconds = 1
    world.settle()
    world.seconds = 2
    world.settle()
    assert world.engine.queue.next_due() == 2.005


def test_429_of_the_customize_hook_is_treated_alike() -> None:
    world = World(pool(), customize=FakeHook(Reply(429, b"", "9"), {}))
    world.settle()
    assert world.engine.queue.next_due() == 9
    assert (world.sync_hook.requests, world.warnings()) == ([], [])


def test_a_failing_customize_hook_keeps_the_sync_hook_from_being_called() -> None:
    world = World(pool(), customize=FakeHook(Reply(500, b"boom")))
    world.settle()
    assert world.sync_hook.requests == []
    assert world.warnings() == [
        ("SyncError", "Sync error: unsupported status code: 500 body: boom", 1)
    ]


def test_a_related_kind_whose_first_list_is_missing_is_a_backoff_without_event() -> None:
    world = World(pool(), node("n", pool="p"), customize=FakeHook(NODES_OF_POOL))
    world.deliver()
    world.step()
    assert (world.sync_hook.requests, world.warnings()) == ([], [])
    assert world.engine.queue.next_due() == 0.005
    world.settle()
    assert list(world.sync_hook.requests[0]["related"]["Node.v1"]) == ["n"]
