"""SyncError Events have the shape and the limits of Metacontroller's recorder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hooks.sandbox.conductor.events import EventRecorder
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.memory_api import MemoryApi
from tests.sandbox.conductor.world import EVENTS, SERVED

START = datetime(2026, 1, 1, tzinfo=UTC)
POOL = {
    "apiVersion": "toy.io/v1",
    "kind": "Pool",
    "metadata": {"name": "p", "uid": "u", "resourceVersion": "7"},
}


class Recording:
    def __init__(self) -> None:
        self.now = START
        self.api = MemoryApi(*SERVED)
        self.recorder = EventRecorder(self.api, lambda: self.now)

    def warn(self, message: str, about: Obj = POOL, after: float = 0.001) -> None:
        self.now += timedelta(seconds=after)
        self.recorder.warn(about, "SyncError", message)

    def events(self) -> list[Obj]:
        return self.api.list_all(EVENTS).items


def test_an_event_about_a_cluster_scoped_object_lies_in_default() -> None:
    recording = Recording()
    recording.warn("boom", after=0)
    [event] = recording.events()
    assert (
        event.pop("metadata").items()
        >= {
            "name": "p.18867251edfa0000",
            "namespace": "default",
        }.items()
    )
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "toy.io/v1",
            "kind": "Pool",
            "name": "p",
            "uid": "u",
            "resourceVersion": "7",
        },
        "reason": "SyncError",
        "message": "boom",
        "source": {"component": "metacontroller"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
        "type": "Warning",
        "eventTime": None,
        "reportingComponent": "metacontroller",
        "reportingInstance": "",
    }


def test_an_event_about_a_namespaced_object_lies_in_its_namespace() -> None:
    recording = Recording()
    recording.warn("boom", POOL | {"metadata": {"name": "d", "namespace": "ns", "uid": "u"}})
    [event] = recording.events()
    assert event["metadata"]["namespace"] == event["involvedObject"]["namespace"] == "ns"


def test_the_same_event_again_is_counted_and_another_message_is_another_event() -> None:
    recording = Recording()
    recording.warn("boom")
    recording.warn("boom", after=60)
    recording.warn("bang")
    first, second = recording.events()
    assert (first["message"], first["count"]) == ("boom", 2)
    assert first["firstTimestamp"] == "2026-01-01T00:00:00Z"
    assert first["lastTimestamp"] == "2026-01-01T00:01:00Z"
    assert (second["message"], second["count"]) == ("bang", 1)


def test_two_events_of_one_moment_are_two() -> None:
    recording = Recording()
    recording.warn("boom", after=0)
    recording.warn("bang", after=0)
    assert [event["message"] for event in recording.events()] == ["boom", "bang"]


def test_an_event_that_expired_on_the_server_is_written_anew() -> None:
    recording = Recording()
    recording.warn("boom")
    recording.api.take_away(recording.events()[0])
    recording.warn("boom")
    [event] = recording.events()
    assert event["count"] == 1


def test_an_object_gets_25_at_once_and_one_more_each_five_minutes() -> None:
    recording = Recording()
    for _ in range(40):
        recording.warn("boom", after=0)
    recording.warn("other object", POOL | {"metadata": {"name": "q", "uid": "v"}})
    assert [event["count"] for event in recording.events()] == [25, 1]
    recording.warn("boom", after=300)
    recording.warn("boom", after=0)
    assert recording.events()[0]["count"] == 26


@pytest.mark.parametrize("verb", ["create", "update"])
def test_an_event_that_can_not_be_written_fails_nobody(verb: str) -> None:
    recording = Recording()
    recording.warn("boom")
    recording.api.refuse(verb, "events", ApiError(403, "Forbidden", "no"))
    recording.warn("boom")
    recording.warn("bang")
    assert recording.events()[0]["message"] == "boom"
