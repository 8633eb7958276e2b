from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from hooks import names
from hooks.protocol.errors import ShapeError
from hooks.protocol.karpenter import claim_of, pool_of
from hooks.rotation.model import (
    Claim,
    ClaimState,
    Malformed,
    Mode,
    Pool,
    Requirement,
    Taint,
)

Json = dict[str, Any]
AT = datetime(2026, 11, 29, 20, tzinfo=UTC)


def pool(annotations: dict[str, str] | None = None, **parts: object) -> Json:
    meta = {"name": "api", "uid": "p-1", "annotations": annotations or {}}
    return {"metadata": meta} | copy.deepcopy(parts)


def claim(annotations: dict[str, str] | None = None, **parts: object) -> Json:
    meta = {
        "name": "api-1",
        "uid": "c-1",
        "creationTimestamp": "2026-11-29T20:00:00Z",
        "annotations": annotations or {},
    }
    return {"metadata": meta} | copy.deepcopy(parts)


PLAIN = Claim(name="api-1", uid="c-1", created=AT)


def test_a_whole_claim() -> None:
    full = claim(
        {
            names.STATE: "failed",
            names.STARTED_AT: "2026-11-29T21:00:00+01:00",
            names.FAILED_AT: "2026-11-29T20:15:00.25Z",
            names.RETRY_COUNT: "3",
            names.SURGE_CLAIM: "api-2",
            names.DUE: "true",
            "example.com/theirs": "x",
        },
        spec={
            "expireAfter": "336h",
            "terminationGracePeriod": "1h0m0s",
            "requirements": [
                {"key": "a", "operator": "In", "values": ["x", "y"], "minValues": 1},
                {"key": "b", "operator": "Exists"},
                {"key": "c", "operator": "Gt", "values": ["4"]},
            ],
        },
        status={
            "nodeName": "node-1",
            "allocatable": {"cpu": "3900m", "memory": "8182Mi", "nvidia.com/gpu": 1},
            "conditions": [
                {"type": "Registered", "status": "True", "reason": "Registered"},
                {"type": "Ready", "status": "Unknown", "reason": "NotYet", "message": "m"},
                {"type": "Drained", "status": "False"},
            ],
        },
    )
    full["metadata"] |= {
        "resourceVersion": "12",
        "deletionTimestamp": "2026-11-29T20:30:00Z",
        "labels": {"karpenter.sh/nodepool": "api", "kubernetes.io/hostname": "host-1"},
    }
    assert claim_of(full) == Claim(
        name="api-1",
        uid="c-1",
        created=AT,
        resource_version="12",
        deleting_since=datetime(2026, 11, 29, 20, 30, tzinfo=UTC),
        ready=False,
        registered=True,
        node_name="node-1",
        hostname="host-1",
        pool="api",
        expire_after=timedelta(days=14),
        termination_grace_period=timedelta(hours=1),
        state=ClaimState.FAILED,
        started_at=AT,
        failed_at=datetime(2026, 11, 29, 20, 15, 0, 250_000, tzinfo=UTC),
        retry_count=3,
        surge_claim="api-2",
        due_requested=True,
        requirements=(
            Requirement("a", "In", ("x", "y")),
            Requirement("b", "Exists"),
            Requirement("c", "Gt", ("4",)),
        ),
        allocatable={
            "cpu": Fraction(39, 10),
            "memory": Fraction(8182 * 2**20),
            "nvidia.com/gpu": Fraction(1),
        },
        conditions=(
            ("Registered", "True", "Registered"),
            ("Ready", "Unknown", "NotYet"),
            ("Drained", "False", ""),
        ),
    )


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"spec": None, "status": None},
        {"spec": {}, "status": {}},
        {
            "spec": {"expireAfter": None, "terminationGracePeriod": None, "requirements": None},
            "status": {"nodeName": None, "conditions": None, "allocatable": None},
        },
        {"spec": {"expireAfter": "Never"}},
    ],
)
def test_a_claim_that_says_hardly_anything(parts: Json) -> None:
    assert claim_of(claim(**parts)) == PLAIN


def test_a_claim_without_hostname_label_is_on_the_host_of_its_nodes_name() -> None:
    read = claim_of(claim(status={"nodeName": "node-1"}))
    assert (read.node_name, read.hostname) == ("node-1", "node-1")


def test_nothing_allocatable_is_not_the_same_as_unknown() -> None:
    assert claim_of(claim(status={"allocatable": {}})).allocatable == {}


@pytest.mark.parametrize(
    ("key", "text", "field", "value"),
    [
        (names.STATE, "pending", "state", ClaimState.PENDING),
        (names.STATE, "draining", "state", ClaimState.DRAINING),
        (names.STATE, "expired", "state", ClaimState.EXPIRED),
        (names.STATE, "Pending", "state", Malformed("Pending")),
        (names.STATE, "", "state", Malformed("")),
        (names.RETRY_COUNT, "0", "retry_count", 0),
        (names.RETRY_COUNT, "007", "retry_count", 7),
        (names.RETRY_COUNT, "-1", "retry_count", Malformed("-1")),
        (names.RETRY_COUNT, "1.5", "retry_count", Malformed("1.5")),
        (names.RETRY_COUNT, "1_0", "retry_count", Malformed("1_0")),
        (names.RETRY_COUNT, "", "retry_count", Malformed("")),
        (names.RETRY_COUNT, "\u0663", "retry_count", Malformed("\u0663")),
        (names.RETRY_COUNT, "9" * 5000, "retry_count", Malformed("9" * 5000)),
        (names.STARTED_AT, "soon", "started_at", Malformed("soon")),
        (names.STARTED_AT, "", "started_at", Malformed("")),
        (names.FAILED_AT, "2026-02-30T00:00:00Z", "failed_at", Malformed("2026-02-30T00:00:00Z")),
        (names.SURGE_CLAIM, "", "surge_claim", None),
        (names.DUE, "true", "due_requested", True),
        (names.DUE, "True", "due_requested", False),
        (names.DUE, "false", "due_requested", False),
    ],
)
def test_an_annotation_of_a_claim(key: str, text: str, field: str, value: object) -> None:
    assert getattr(claim_of(claim({key: text})), field) == value


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("720h", timedelta(hours=720)),
        ("Never", None),
        ("1h30m", timedelta(minutes=90)),
        ("0s", timedelta(0)),
        ("-1h", Malformed("-1h")),
        ("30d", Malformed("30d")),
        ("", Malformed("")),
        ("99999999999999h", Malformed("99999999999999h")),
    ],
)
def test_the_span_of_a_claim_or_a_template(text: str, span: object) -> None:
    spec = {"expireAfter": text, "terminationGracePeriod": text}
    read = claim_of(claim(spec=spec))
    template = pool_of(pool(spec={"template": {"spec": spec}}))
    assert (read.expire_after, read.termination_grace_period) == (span, span)
    assert (template.expire_after, template.termination_grace_period) == (span, span)


def test_a_whole_pool() -> None:
    full = pool(
        {
            names.ACTIVE_ROTATION: "api-1",
            names.ACTIVE_ROTATION_UID: "c-1",
            names.ACTIVE_ROTATION_STATE: "draining",
            names.DRAINING_AT: "2026-11-29T20:00:00Z",
            names.SURGE_WAIT: "25s",
            names.ROTATION_MODE: "forceful-fallback",
            names.ABORT: "api-1",
            names.FREEZE: "2026-11-29T20:00:00Z",
            names.LAST_ROTATION_AT: "2026-11-29T20:00:00Z",
            names.LAST_FAILURE_AT: "2026-11-29T20:00:00Z",
            names.DUE_BEFORE: "2026-11-29T20:00:00Z",
        },
        spec={
            "limits": {"cpu": 1000, "memory": "1000Gi", "nodes": "10"},
            "template": {
                "metadata": {"labels": {"workload": "api", "team": "a"}},
                "spec": {
                    "expireAfter": "336h",
                    "terminationGracePeriod": "1h",
                    "requirements": [{"key": "kubernetes.io/arch", "operator": "Exists"}],
                    "taints": [
                        {"key": "dedicated", "value": "api", "effect": "NoSchedule"},
                        {"key": "slow", "effect": "NoExecute"},
                    ],
                    "startupTaints": [{"key": "booting", "effect": "NoSchedule"}],
                },
            },
        },
        status={"nodes": 3, "resources": {"cpu": "12", "nodes": "2"}},
    )
    full["metadata"] |= {"labels": {"workload": "api"}, "resourceVersion": "9"}
    assert pool_of(full) == Pool(
        name="api",
        uid="p-1",
        resource_version="9",
        labels={"workload": "api"},
        anchor="api-1",
        anchor_uid="c-1",
        mirror=True,
        draining_at=AT,
        surge_wait="25s",
        mode=Mode.FALLBACK,
        abort="api-1",
        freeze=AT,
        last_rotation_at=AT,
        last_failure_at=AT,
        due_before=AT,
        leftovers=frozenset(names.CLEARED_AT_THE_END),
        expire_after=timedelta(days=14),
        termination_grace_period=timedelta(hours=1),
        requirements=(
            Requirement("kubernetes.io/arch", "Exists"),
            Requirement("team", "In", ("a",)),
            Requirement("workload", "In", ("api",)),
        ),
        taints=(Taint("dedicated", "NoSchedule", "api"), Taint("slow", "NoExecute")),
        limits={"cpu": Fraction(1000), "memory": Fraction(1000 * 2**30), "nodes": Fraction(10)},
        used={"cpu": Fraction(12), "nodes": Fraction(3)},
    )


@pytest.mark.parametrize(
    "value",
    [
        {"metadata": {"name": "api"}},
        {"metadata": {"name": "api", "labels": None, "annotations": None, "uid": None}},
        {"metadata": {"name": "api"}, "spec": None, "status": None},
        {"metadata": {"name": "api"}, "spec": {"template": None, "limits": None}},
        {
            "metadata": {"name": "api"},
            "spec": {"template": {"spec": None, "metadata": None}, "replicas": None},
            "status": {"resources": None, "nodes": None},
        },
    ],
)
def test_a_pool_from_a_file_may_say_hardly_anything(value: Json) -> None:
    assert pool_of(value) == Pool(name="api")


@pytest.mark.parametrize(
    ("status", "used"),
    [
        ({"resources": {"cpu": "1", "nodes": "2"}}, {"cpu": 1, "nodes": 2}),
        ({"resources": {"cpu": "1"}, "nodes": 0}, {"cpu": 1, "nodes": 0}),
        ({"nodes": 4}, {"nodes": 4}),
        ({}, {}),
    ],
)
def test_the_count_of_nodes_is_a_resource(status: Json, used: Json) -> None:
    assert pool_of(pool(status=status)).used == used


@pytest.mark.parametrize("replicas", [0, 3])
def test_a_pool_with_replicas_is_static(replicas: int) -> None:
    assert pool_of(pool(spec={"replicas": replicas})).static is True


def test_a_pool_that_is_deleted() -> None:
    value = pool()
    value["metadata"]["deletionTimestamp"] = "2026-11-29T20:00:00Z"
    assert pool_of(value).deleting is True


@pytest.mark.parametrize(
    ("key", "text", "field", "value"),
    [
        (names.ACTIVE_ROTATION, "", "anchor", None),
        (names.ACTIVE_ROTATION_UID, "", "anchor_uid", None),
        (names.ACTIVE_ROTATION_STATE, "", "mirror", False),
        (names.ACTIVE_ROTATION_STATE, "Draining", "mirror", False),
        (names.ROTATION_MODE, "", "mode", Mode.SURGE),
        (names.ROTATION_MODE, "surge", "mode", Mode.SURGE),
        (names.ROTATION_MODE, "Forceful-Fallback", "mode", Mode.SURGE),
        (names.ABORT, "", "abort", None),
        (names.SURGE_WAIT, "", "surge_wait", None),
        (names.FREEZE, "", "freeze", Malformed("")),
        (names.FREEZE, "true", "freeze", Malformed("true")),
        (names.DUE_BEFORE, "now", "due_before", Malformed("now")),
    ],
)
def test_an_annotation_of_a_pool(key: str, text: str, field: str, value: object) -> None:
    assert getattr(pool_of(pool({key: text})), field) == value


@pytest.mark.parametrize("key", names.CLEARED_AT_THE_END)
def test_a_rotation_scoped_key_is_left_over_even_when_it_is_empty(key: str) -> None:
    assert pool_of(pool({key: ""})).leftovers == {key}


def test_other_keys_are_not_left_over() -> None:
    notes = {names.FREEZE: "x", names.LAST_ROTATION_AT: "x", "active-rotation": "x"}
    assert pool_of(pool(notes)).leftovers == frozenset()


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, "body"),
        ([], "body"),
        ({}, "metadata"),
        ({"metadata": {}}, "metadata.name"),
        ({"metadata": {"name": "api", "uid": "u"}}, "metadata.creationTimestamp"),
        (claim(status={"allocatable": {"cpu": "x"}}), "status.allocatable.cpu"),
        (claim(status={"conditions": [{"type": "Ready"}]}), "status.conditions[0].status"),
        (claim(spec={"requirements": [{"key": "a"}]}), "spec.requirements[0].operator"),
    ],
)
def test_what_is_no_claim_names_the_field(value: object, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        claim_of(value)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (7, "body"),
        ({}, "metadata"),
        (pool(spec={"limits": {"cpu": "many"}}), "spec.limits.cpu"),
        (pool(status={"resources": {"cpu": []}}), "status.resources.cpu"),
        (
            pool(spec={"template": {"spec": {"taints": [{"key": "a"}]}}}),
            "spec.template.spec.taints[0].effect",
        ),
    ],
)
def test_what_is_no_pool_names_the_field(value: object, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        pool_of(value)
    assert caught.value.field == field
