"""Status conditions follow operatorpkg's rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hooks.sandbox.karpenter.conditions import OF_CLAIMS, Conditions
from hooks.sandbox.objects import Obj

CREATED = datetime(2026, 11, 29, 19, 58, tzinfo=UTC)
LATER = CREATED + timedelta(seconds=5)


def claim() -> Obj:
    return {"metadata": {"creationTimestamp": "2026-11-29T19:58:00Z", "generation": 1}}


def at(obj: Obj, now: datetime = LATER) -> Conditions:
    return Conditions(obj, OF_CLAIMS, now)


def told(obj: Obj) -> list[tuple[str, str, str, str]]:
    return [
        (one["type"], one["status"], one["reason"], one["lastTransitionTime"][17:19])
        for one in obj["status"]["conditions"]
    ]


def test_what_must_be_there_begins_unknown_at_the_creation() -> None:
    obj = claim()
    at(obj).begin()
    waiting = ("Unknown", "AwaitingReconciliation", "00")
    assert told(obj) == [
        ("Launched", *waiting),
        ("Registered", *waiting),
        ("Initialized", *waiting),
        ("Ready", "Unknown", "ReconcilingDependents", "00"),
    ]


def test_ready_is_last_and_says_what_is_missing_newest_first() -> None:
    obj = claim()
    at(obj).begin()
    at(obj).set_true("Launched")
    assert told(obj)[-2:] == [
        ("Launched", "True", "Launched", "05"),
        ("Ready", "Unknown", "ReconcilingDependents", "00"),
    ]
    assert obj["status"]["conditions"][-1]["message"] == "Registered=Unknown, Initialized=Unknown"


def test_ready_is_true_when_all_are_and_false_when_one_is() -> None:
    obj = claim()
    at(obj).begin()
    for kind in OF_CLAIMS:
        at(obj).set_true(kind)
    assert told(obj)[-1] == ("Ready", "True", "Ready", "05")
    at(obj).set_false("Registered", "MultipleNodesFound", "two of them")
    assert told(obj)[-1] == ("Ready", "False", "UnhealthyDependents", "05")


def test_another_reason_of_the_same_state_is_no_transition() -> None:
    obj = claim()
    at(obj, CREATED).begin()
    at(obj, LATER).set_unknown("Registered", "NodeNotFound", "Node not registered with cluster")
    assert ("Registered", "Unknown", "NodeNotFound", "00") in told(obj)


def test_an_older_generation_of_what_it_depends_on_makes_ready_unknown() -> None:
    obj = claim()
    at(obj).begin()
    for kind in OF_CLAIMS:
        at(obj).set_true(kind)
    obj["metadata"]["generation"] = 2
    at(obj).set_true("Launched")
    assert told(obj)[-1][:2] == ("Ready", "Unknown")
    for kind in OF_CLAIMS:
        at(obj).set_true(kind)
    assert told(obj)[-1][:2] == ("Ready", "True")


def test_on_a_deleted_object_every_condition_is_of_the_latest_generation() -> None:
    obj = claim()
    at(obj).begin()
    obj["metadata"] |= {"deletionTimestamp": "2026-11-29T20:00:00Z", "generation": 2}
    at(obj).set_unknown("Drained", "Draining", "Draining")
    assert {one["observedGeneration"] for one in obj["status"]["conditions"]} == {2}


def test_clearing_leaves_the_others_sorted_by_type() -> None:
    obj = claim()
    at(obj).begin()
    at(obj).set_true("Drifted", "NodePoolDrifted", "NodePoolDrifted")
    at(obj).clear("Drifted")
    assert [one[0] for one in told(obj)] == ["Initialized", "Launched", "Ready", "Registered"]
    before = obj["status"]["conditions"]
    at(obj).clear("Drifted")
    assert obj["status"]["conditions"] is before
