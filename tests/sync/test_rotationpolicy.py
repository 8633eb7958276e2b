"""The sync hook of RotationPolicies: every fixture whole, and what holds for all of them."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hooks import names
from hooks.protocol.errors import ShapeError
from hooks.sync.rotationpolicy import sync
from tests.protocol.policies import FORMATS, schema
from tests.support.policyfolders import PolicyCase, StoredCall, answer, load, names_of_folders
from tests.support.world import Json
from tests.sync.catalogue.policies import CASES

FOLDERS = names_of_folders()
RECORDING = Path(__file__).parents[1] / "fixtures" / "metacontroller" / "policy-status.jsonl"
ACCEPTED = "valid and uncontested"
STATUS = schema()["properties"]["status"]
VALID = Draft202012Validator(STATUS, format_checker=FORMATS)


def case_id(case: PolicyCase) -> str:
    return case.name


@pytest.mark.parametrize("name", FOLDERS)
def test_a_call(name: str) -> None:
    stored = load(name)
    assert answer(stored.request, stored.now) == stored.response, stored.why


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_stored_answer_says_what_people_expected(case: PolicyCase) -> None:
    stored = load(case.name)
    status = stored.response["status"]
    (condition,) = status["conditions"]
    assert (condition["reason"], condition["status"]) == (
        case.reason,
        "True" if case.reason == "Accepted" else "False",
    )
    assert (
        status["matchedNodePools"],
        status["rotatingNodePools"],
        status["observedGeneration"],
        stored.response["resyncAfterSeconds"],
    ) == (case.matched, case.rotating, case.parent["metadata"]["generation"], case.look_again)
    assert stored.response.keys() == {"status", "children", "resyncAfterSeconds"}
    assert stored.response["children"] == []


def test_each_folder_is_a_case() -> None:
    assert sorted(case.name for case in CASES) == FOLDERS


def unknown(value: Any, part: Json, where: str = "status") -> list[str]:
    """Fields that the API server would prune, and nulls that it would drop."""
    if value is None:
        return [where]
    if isinstance(value, list):
        return [one for item in value for one in unknown(item, part["items"], f"{where}[]")]
    if not isinstance(value, dict):
        return []
    known = part["properties"]
    return [
        one
        for key, inner in value.items()
        for one in (unknown(inner, known[key], f"{where}.{key}") if key in known else [key])
    ]


@pytest.mark.parametrize("name", FOLDERS)
def test_the_api_server_stores_a_status_as_it_is_answered(name: str) -> None:
    status = load(name).response["status"]
    assert list(VALID.iter_errors(status)) == []
    assert unknown(status, STATUS) == []


def with_status(request: Json, status: Json) -> Json:
    """What Metacontroller sends once the status is written."""
    later = copy.deepcopy(request)
    later["parent"]["status"] = status
    later["parent"]["metadata"]["resourceVersion"] = "later"
    own = later["parent"]["metadata"]["name"]
    later["related"][names.ROTATIONPOLICY_GROUP][own] = later["parent"]
    return later


@pytest.mark.parametrize("name", FOLDERS)
def test_the_own_status_write_brings_one_call_whose_answer_is_the_same(name: str) -> None:
    stored = load(name)
    later = with_status(stored.request, stored.response["status"])
    assert answer(later, stored.now) == stored.response


@pytest.mark.parametrize("name", FOLDERS)
def test_until_the_time_that_the_answer_names_only_that_time_gets_nearer(name: str) -> None:
    stored = load(name)
    later = with_status(stored.request, stored.response["status"])
    wait = timedelta(seconds=stored.response["resyncAfterSeconds"])
    for part in (wait / 3, wait - timedelta(microseconds=1)):
        assert answer(later, stored.now + part)["status"] == stored.response["status"]


def days_of_edges(stored: StoredCall) -> list[datetime]:
    """When the status of the base policy changes within three days, going by its answers alone."""
    now, changes, status = stored.now, [], stored.response["status"]
    while now < stored.now + timedelta(days=3):
        told = answer(with_status(stored.request, status), now)
        if told["status"] != status:
            changes.append(now)
            status = told["status"]
        now += timedelta(seconds=told["resyncAfterSeconds"])
    return changes


def test_a_status_changes_when_its_window_opens_and_closes_and_not_in_between() -> None:
    edges = [edge.strftime("%d %H:%M:%S") for edge in days_of_edges(load("idle"))]
    assert edges == [
        "29 22:00:00",
        "30 18:00:00",
        "30 22:00:00",
        "01 18:00:00",
        "01 22:00:00",
        "02 18:00:00",
    ]


def body(name: str = "tie") -> Json:
    return copy.deepcopy(load(name).request)


def test_the_same_world_gives_the_same_bytes_in_whatever_order_it_comes() -> None:
    now = load("tie-on-one-of-two").now
    request = body("tie-on-one-of-two")
    turned = body("tie-on-one-of-two")
    turned["related"] = {
        group: dict(reversed(things.items()))
        for group, things in reversed(turned["related"].items())
    }
    assert sync(json.dumps(request).encode(), now) == sync(json.dumps(turned).encode(), now)


def test_the_parent_counts_where_the_related_copy_of_it_is_older_or_missing() -> None:
    stored = load("idle")
    older: tuple[Json, ...] = (
        {},
        {"api": load("invalid-time-zone").request["parent"]},
    )
    for related in older:
        request = copy.deepcopy(stored.request)
        request["related"][names.ROTATIONPOLICY_GROUP] = related
        assert answer(request, stored.now) == stored.response


def test_the_recorded_request_is_understood_once_it_has_the_policies_too() -> None:
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        request = json.loads(line)["request"]
        with pytest.raises(ShapeError, match=r"^related\.RotationPolicy\..*: is missing$"):
            answer(request, load("idle").now)
        policies = {"all": request["parent"]}
        request["related"][names.ROTATIONPOLICY_GROUP] = policies
        status = answer(request, datetime(2026, 11, 29, 20, 18, 30, tzinfo=UTC))["status"]
        recorded = request["parent"]["status"]
        assert status.keys() >= recorded.keys()
        assert status["conditions"] == [recorded["conditions"][0] | {"message": ACCEPTED}]
        assert [(pool["name"], pool["phase"], pool["nodeClaim"]) for pool in status["pools"]] == [
            ("api", "Draining", "api-dz5l4")
        ]


def without(path: str) -> Json:
    request = body()
    *steps, last = path.split("/")
    holder = request
    for step in steps:
        holder = holder[step]
    del holder[last]
    return request


@pytest.mark.parametrize(
    ("request_body", "field"),
    [
        ({}, "parent"),
        ([], "body"),
        (without("parent"), "parent"),
        (without("parent/metadata"), "parent.metadata"),
        (without("parent/metadata/name"), "parent.metadata.name"),
        (without("related"), "related"),
        (
            {**body(), "related": {names.ROTATIONPOLICY_GROUP: {}}},
            f"related.{names.NODEPOOL_GROUP}",
        ),
        (
            {**body(), "related": {names.NODEPOOL_GROUP: {}}},
            f"related.{names.ROTATIONPOLICY_GROUP}",
        ),
        (
            {
                **body(),
                "related": {names.ROTATIONPOLICY_GROUP: {}, names.NODEPOOL_GROUP: {"a": {}}},
            },
            f"related.{names.NODEPOOL_GROUP}.a.metadata",
        ),
    ],
)
def test_a_malformed_request_names_its_field(request_body: object, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        sync(json.dumps(request_body).encode(), load("tie").now)
    assert caught.value.field == field


def test_empty_and_null_groups_are_none() -> None:
    stored = load("selects-nothing")
    nothing: tuple[Json | None, ...] = ({}, None)
    for empty in nothing:
        request = copy.deepcopy(stored.request)
        request["related"][names.NODEPOOL_GROUP] = empty
        assert answer(request, stored.now) == stored.response
