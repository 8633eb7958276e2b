from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hooks.protocol.policy import policy_of
from hooks.rotation.model import (
    BrokenPolicy,
    Exclusion,
    Policy,
    Requirement,
    Selector,
    Window,
)
from tests.protocol.policies import Case, good, refused

Json = dict[str, Any]
WINDOW = {"timezone": "Asia/Tokyo", "days": ["Wed", "Sat"], "start": "02:00", "end": "06:00"}
READ = Window("Asia/Tokyo", frozenset({2, 5}), 120, 360)


def policy(**spec: object) -> Json:
    return {
        "metadata": {"name": "api", "uid": "u", "generation": 3},
        "spec": {"nodePoolSelector": {}, "maintenanceWindows": [WINDOW]} | spec,
    }


def problems(value: Json) -> dict[str, str]:
    read = policy_of(value)
    assert isinstance(read, BrokenPolicy)
    return dict(read.problems)


def test_the_two_required_fields_are_enough() -> None:
    assert policy_of(good()["minimal"]) == Policy(
        name="minimal",
        selector=Selector(),
        windows=(READ,),
        uid="",
        generation=0,
        age_threshold=None,
        chances=2,
        exclusions=(),
        suspend=False,
        dry_run=False,
        ready_timeout=timedelta(minutes=15),
        cooldown_after=timedelta(minutes=10),
        failure_pause=None,
        drain_estimate=None,
        provisioning_estimate=None,
        retry_backoff=timedelta(minutes=30),
        required=(
            "topology.kubernetes.io/zone",
            "kubernetes.io/arch",
            "karpenter.sh/capacity-type",
        ),
        preferred=(),
        fallback=False,
    )


@pytest.mark.parametrize("name", ["empty-parts", "nulls"])
def test_what_says_nothing_changes_nothing(name: str) -> None:
    read = policy_of(good()[name])
    plain = policy_of(good()["minimal"])
    assert isinstance(read, Policy)
    assert isinstance(plain, Policy)
    assert read == policy_of({**good()["minimal"], "metadata": {"name": name}})


def test_the_sample_of_the_seed_says_the_defaults() -> None:
    read = policy_of(good()["seed-sample"])
    assert read == Policy(
        name="seed-sample",
        selector=Selector(match_labels=(("workload", "api"),)),
        windows=(READ,),
    )


def test_every_field_is_read() -> None:
    assert policy_of(good()["everything"]) == Policy(
        name="everything",
        selector=Selector(
            match_labels=(("team.example.com/name", ""), ("workload", "api")),
            match_expressions=(
                Requirement("tier", "In", ("gold", "silver")),
                Requirement("karpenter.sh/capacity-type", "NotIn", ("spot",)),
                Requirement("rotates", "Exists"),
                Requirement("example.com/legacy", "DoesNotExist"),
            ),
        ),
        windows=(
            Window("Europe/Berlin", frozenset({0, 1, 2, 3, 4}), 22 * 60, 4 * 60),
            Window("UTC", frozenset({6}), 0, 24 * 60),
            Window("America/Argentina/Buenos_Aires", frozenset({5}), 20 * 60 + 30, 24 * 60),
        ),
        age_threshold=timedelta(hours=240, minutes=30),
        chances=3,
        exclusions=(
            Exclusion(
                datetime(2026, 12, 24, tzinfo=UTC),
                datetime(2027, 1, 1, 23, tzinfo=UTC),
                "change freeze at the end of the year",
            ),
            Exclusion(
                datetime(2027, 3, 1, 8, 0, 0, 500_000, tzinfo=UTC),
                datetime(2027, 3, 1, 9, tzinfo=UTC),
            ),
        ),
        suspend=True,
        dry_run=True,
        ready_timeout=timedelta(minutes=90),
        cooldown_after=timedelta(0),
        failure_pause=timedelta(0),
        drain_estimate=timedelta(seconds=90),
        provisioning_estimate=timedelta(seconds=90),
        retry_backoff=timedelta(milliseconds=500),
        required=(),
        preferred=("topology.kubernetes.io/zone", "example.com/disk"),
        fallback=True,
    )


@pytest.mark.parametrize("name", good())
def test_a_good_policy_is_read(name: str) -> None:
    assert isinstance(policy_of(good()[name]), Policy)


@pytest.mark.parametrize("case", [*refused("bad"), *refused("invalid")], ids=lambda case: case.name)
def test_a_bad_policy_is_broken_at_the_field(case: Case) -> None:
    found = problems(case.value)
    assert list(found) == [case.field]
    assert found[case.field]


def test_all_problems_are_collected() -> None:
    value = policy(
        maintenanceWindows=[
            WINDOW,
            WINDOW | {"timezone": "Europe/Berln", "start": "2:00"},
            WINDOW | {"days": ["Mon", "Monday"], "ends": "06:00"},
        ],
        minRotationChances=0,
        surge={"readyTimeout": "0s", "retryBackoff": "soon", "maxUnavailable": 2},
        prePull={"enabled": True},
        suspend="yes",
        exclusions=[{"start": "2026-12-24T00:00:00Z"}],
    )
    assert problems(value) == {
        "spec.maintenanceWindows[1].timezone": (
            "'Europe/Berln' is no time zone of the IANA database, such as Europe/Berlin"
        ),
        "spec.maintenanceWindows[1].start": ('must be HH:MM from "00:00" to "23:59", in quotes'),
        "spec.maintenanceWindows[2].days[1]": (
            "must be 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat' or 'Sun'"
        ),
        "spec.maintenanceWindows[2].ends": (
            "is not a known field: remove it, or check its spelling"
        ),
        "spec.minRotationChances": "must be at least 1",
        "spec.surge.readyTimeout": "must be greater than zero, for example 15m",
        "spec.surge.retryBackoff": "must be a Go duration such as 15m or 1h30m",
        "spec.surge.maxUnavailable": "must be 1",
        "spec.prePull.enabled": "must be false: it doesn't exist yet",
        "spec.suspend": "must be true or false",
        "spec.exclusions[0].end": "must be given",
    }


def test_one_is_no_truth_and_nothing_is_no_number() -> None:
    value = policy(surge={"maxUnavailable": True}, prePull={"enabled": 0}, suspend=0)
    assert problems(value) == {
        "spec.suspend": "must be true or false",
        "spec.surge.maxUnavailable": "must be a whole number",
        "spec.prePull.enabled": "must be true or false",
    }


def test_a_label_that_is_null_is_dropped() -> None:
    value = policy_of(policy(nodePoolSelector={"matchLabels": {"a": None, "b": "c"}}))
    assert isinstance(value, Policy)
    assert value.selector == Selector(match_labels=(("b", "c"),))


@pytest.mark.parametrize(
    ("start", "end", "read"),
    [
        ("00:00", "24:00", (0, 1440)),
        ("22:00", "00:00", (1320, 1440)),
        ("22:00", "04:00", (1320, 240)),
        ("23:59", "24:00", (1439, 1440)),
        ("00:01", "00:00", (1, 1440)),
    ],
)
def test_the_clock_of_a_window(start: str, end: str, read: tuple[int, int]) -> None:
    value = policy_of(policy(maintenanceWindows=[WINDOW | {"start": start, "end": end}]))
    assert isinstance(value, Policy)
    (window,) = value.windows
    assert (window.start, window.end) == read


@pytest.mark.parametrize(
    ("start", "end"),
    [("00:00", "00:00"), ("02:00", "02:00")],
)
def test_a_window_that_ends_where_it_starts_is_refused(start: str, end: str) -> None:
    value = policy(maintenanceWindows=[WINDOW | {"start": start, "end": end}])
    assert problems(value) == {
        "spec.maintenanceWindows[0].end": (
            "must differ from start: a whole day is from 00:00 to 24:00"
        )
    }


@pytest.mark.parametrize(
    ("selector", "read"),
    [
        ({"matchLabels": {"a": "b"}}, Selector(match_labels=(("a", "b"),))),
        ({}, Selector()),
        (None, None),
        ("all", None),
        ({"matchLabelz": {"a": "b"}}, None),
        ({"matchLabels": {"a": 1}}, None),
    ],
)
def test_a_broken_policy_keeps_the_selector_that_can_be_read(
    selector: object, read: Selector | None
) -> None:
    value = policy_of(policy(nodePoolSelector=selector, minRotationChances=0))
    assert isinstance(value, BrokenPolicy)
    assert (value.name, value.uid, value.generation) == ("api", "u", 3)
    assert value.selector == read
    assert ("spec.minRotationChances", "must be at least 1") in value.problems


@pytest.mark.parametrize("spec", [None, [], "x", 7, True])
def test_a_spec_that_is_none_has_no_selector(spec: object) -> None:
    value = policy_of({"metadata": {"name": "api"}, "spec": spec})
    assert isinstance(value, BrokenPolicy)
    assert [field for field, _ in value.problems] == ["spec"]
    assert value.selector is None


@pytest.mark.parametrize(
    ("metadata", "name"), [(None, ""), ("api", ""), ({}, ""), ({"name": 7}, ""), ({"name": ""}, "")]
)
def test_a_policy_has_a_name(metadata: object, name: str) -> None:
    value = policy_of(policy() | {"metadata": metadata})
    assert value == BrokenPolicy(name, (("metadata.name", "must be given"),), Selector())


def test_a_misspelt_field_beside_the_spec_is_found_with_the_rest() -> None:
    value = policy(suspend=1) | {"Spec": {}, "status": {"observedGeneration": 1}}
    assert problems(value) == {
        "Spec": "is not a known field: remove it, or check its spelling",
        "spec.suspend": "must be true or false",
    }


def test_identity_comes_from_the_metadata() -> None:
    value = policy_of(policy())
    assert isinstance(value, Policy)
    assert (value.name, value.uid, value.generation) == ("api", "u", 3)


def test_odd_metadata_of_a_file_is_no_problem() -> None:
    value = policy_of(policy() | {"metadata": {"name": "api", "uid": 1, "generation": "x"}})
    assert isinstance(value, Policy)
    assert (value.uid, value.generation) == ("", 0)
