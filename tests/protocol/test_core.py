from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

from hooks import names
from hooks.protocol.core import budget_of, node_of, pod_of
from hooks.protocol.errors import ShapeError
from hooks.rotation.model import (
    Budget,
    Container,
    Malformed,
    Node,
    Pod,
    Requirement,
    Selector,
    Taint,
)

Json = dict[str, Any]


def test_a_whole_node() -> None:
    value = {
        "metadata": {
            "name": "node-1",
            "uid": "n-1",
            "resourceVersion": "4",
            "deletionTimestamp": "2026-11-29T20:00:00Z",
            "ownerReferences": [
                {"kind": "Machine", "name": "m-1", "controller": False},
                {"kind": "NodeClaim", "name": "api-1", "blockOwnerDeletion": True},
            ],
            "labels": {names.SURGE_FOR: "api-9", "topology.kubernetes.io/zone": "a"},
            "annotations": {
                names.SURGE_FOR: "api-9",
                names.DO_NOT_DISRUPT: "true",
                names.DO_NOT_DISRUPT_OWNED: "true",
                names.CORDONED: "true",
                "node.alpha.kubernetes.io/ttl": "0",
            },
        },
        "spec": {
            "unschedulable": True,
            "taints": [
                {
                    "key": "node.kubernetes.io/unschedulable",
                    "effect": "NoSchedule",
                    "timeAdded": "2026-11-29T20:00:00Z",
                },
                {"key": "karpenter.sh/disrupted", "effect": "NoSchedule", "value": ""},
            ],
        },
        "status": {
            "allocatable": {"cpu": "3900m", "pods": "64"},
            "conditions": [
                {"type": "MemoryPressure", "status": "False"},
                {"type": "Ready", "status": "True"},
            ],
        },
    }
    assert node_of(value) == Node(
        name="node-1",
        uid="n-1",
        resource_version="4",
        owner_claim="api-1",
        labels={names.SURGE_FOR: "api-9", "topology.kubernetes.io/zone": "a"},
        surge_for="api-9",
        surge_for_label="api-9",
        do_not_disrupt="true",
        do_not_disrupt_owned=True,
        cordoned_by_us=True,
        unschedulable=True,
        ready=True,
        deleting=True,
        taints=(
            Taint("node.kubernetes.io/unschedulable", "NoSchedule"),
            Taint("karpenter.sh/disrupted", "NoSchedule"),
        ),
        allocatable={"cpu": Fraction(39, 10), "pods": Fraction(64)},
    )


@pytest.mark.parametrize(
    "value",
    [
        {"metadata": {"name": "n"}},
        {"metadata": {"name": "n"}, "spec": None, "status": None},
        {
            "metadata": {"name": "n", "labels": None, "annotations": None, "ownerReferences": None},
            "spec": {"taints": None, "unschedulable": None},
            "status": {"allocatable": None, "conditions": None},
        },
        {"metadata": {"name": "n"}, "spec": {"unschedulable": False}, "status": {}},
        {
            "metadata": {"name": "n"},
            "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]},
        },
    ],
)
def test_a_node_that_says_hardly_anything(value: Json) -> None:
    assert node_of(value) == Node(name="n")


@pytest.mark.parametrize("text", ["", "True", "yes", "1"])
def test_only_true_marks_what_is_ours(text: str) -> None:
    notes = {names.DO_NOT_DISRUPT_OWNED: text, names.CORDONED: text, names.DO_NOT_DISRUPT: text}
    node = node_of({"metadata": {"name": "n", "annotations": notes}})
    assert (node.do_not_disrupt_owned, node.cordoned_by_us, node.opted_out) == (False, False, False)
    assert node.do_not_disrupt == text


def test_an_empty_mark_is_still_a_mark() -> None:
    node = node_of({"metadata": {"name": "n", "annotations": {names.SURGE_FOR: ""}}})
    assert (node.surge_for, node.marked) == ("", True)


def test_a_whole_pod() -> None:
    value = {
        "metadata": {
            "name": "p",
            "namespace": "ns",
            "uid": "u",
            "labels": {"app": "web"},
            "deletionTimestamp": "2026-11-29T20:00:00Z",
            "annotations": {
                names.SURGE_FOR: "api-9",
                names.DO_NOT_DISRUPT: "30m",
                names.MIRROR_ANNOTATION: "",
            },
            "ownerReferences": [
                {"kind": "ConfigMap", "name": "c"},
                {"kind": "StatefulSet", "name": "s", "controller": True},
            ],
        },
        "spec": {
            "nodeName": "node-1",
            "nodeSelector": {"karpenter.sh/nodepool": "api"},
            "overhead": {"memory": "120Mi"},
            "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}},
            "initContainers": [
                {"name": "once", "resources": {"requests": {"cpu": "1"}}},
                {"name": "sidecar", "restartPolicy": "Always", "resources": {}},
            ],
            "containers": [
                {
                    "name": "a",
                    "resources": {
                        "requests": {"cpu": "500m"},
                        "limits": {"nvidia.com/gpu": "1"},
                    },
                },
                {"name": "b"},
                {"name": "c", "resources": None},
            ],
            "affinity": {
                "podAffinity": {"anything": 1},
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "zone", "operator": "In", "values": ["a"]},
                                    {"key": "arch", "operator": "Exists"},
                                ]
                            },
                            {
                                "matchFields": [
                                    {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
                                ]
                            },
                            {},
                        ]
                    }
                },
            },
        },
        "status": {
            "phase": "Running",
            "startTime": "2026-11-29T21:30:00+02:00",
            "conditions": [
                {"type": "Ready", "status": "True"},
                {"type": "PodScheduled", "status": "False", "message": "0/4 nodes", "reason": "x"},
            ],
        },
    }
    assert pod_of(value) == Pod(
        name="p",
        namespace="ns",
        uid="u",
        labels={"app": "web"},
        phase="Running",
        started=datetime(2026, 11, 29, 19, 30, tzinfo=UTC),
        deleting=True,
        ends_by=datetime(2026, 11, 29, 20, tzinfo=UTC),
        node_name="node-1",
        controller_kind="StatefulSet",
        mirror=True,
        surge_for="api-9",
        containers=(
            Container({"cpu": Fraction(1, 2)}, {"nvidia.com/gpu": Fraction(1)}),
            Container(),
            Container(),
        ),
        init_containers=(Container({"cpu": Fraction(1)}), Container(restartable=True)),
        overhead={"memory": Fraction(120 * 2**20)},
        pod_requests={"cpu": Fraction(2)},
        node_selector={"karpenter.sh/nodepool": "api"},
        required_node_terms=(
            (Requirement("zone", "In", ("a",)), Requirement("arch", "Exists")),
            (Requirement("metadata.name", "In", ("node-1",)),),
            (),
        ),
        do_not_disrupt="30m",
        conditions=(("Ready", "True", ""), ("PodScheduled", "False", "0/4 nodes")),
    )


@pytest.mark.parametrize(
    "value",
    [
        {"metadata": {"name": "p"}},
        {"metadata": {"name": "p"}, "spec": None, "status": None},
        {
            "metadata": {"name": "p", "namespace": None, "uid": None, "ownerReferences": []},
            "spec": {
                "nodeName": None,
                "containers": [],
                "initContainers": None,
                "overhead": None,
                "resources": None,
                "nodeSelector": None,
                "affinity": {"nodeAffinity": None},
                "tolerations": None,
            },
            "status": {"phase": None, "conditions": None, "startTime": None},
        },
        {
            "metadata": {"name": "p"},
            "spec": {
                "affinity": {
                    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": None}
                }
            },
        },
        {
            "metadata": {
                "name": "p",
                "ownerReferences": [{"kind": "Node", "name": "n", "controller": False}],
            }
        },
    ],
)
def test_a_pod_that_says_hardly_anything(value: Json) -> None:
    assert pod_of(value) == Pod(name="p")


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, "body"),
        ({}, "metadata"),
        ({"metadata": {"name": ""}}, "metadata.name"),
        (
            {"metadata": {"name": "p"}, "spec": {"containers": [{}, {"resources": 1}]}},
            "spec.containers[1].resources",
        ),
        (
            {"metadata": {"name": "p"}, "spec": {"overhead": {"cpu": "x"}}},
            "spec.overhead.cpu",
        ),
        (
            {"metadata": {"name": "p"}, "spec": {"resources": {"requests": {"cpu": "x"}}}},
            "spec.resources.requests.cpu",
        ),
        (
            {
                "metadata": {"name": "p"},
                "spec": {"initContainers": [{"resources": {"limits": {"cpu": "x"}}}]},
            },
            "spec.initContainers[0].resources.limits.cpu",
        ),
    ],
)
def test_what_is_no_pod_names_the_field(value: object, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        pod_of(value)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("node", "body"),
        ({"metadata": []}, "metadata"),
        (
            {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1.2.3"}}},
            "status.allocatable.cpu",
        ),
        ({"metadata": {"name": "n"}, "spec": {"taints": [{}]}}, "spec.taints[0].key"),
    ],
)
def test_what_is_no_node_names_the_field(value: object, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        node_of(value)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("tolerations", "outlives"),
    [
        ([], False),
        ([{"operator": "Exists"}], True),
        ([{"key": "", "operator": "Exists", "effect": ""}], True),
        ([{"operator": "Exists", "effect": "NoSchedule"}], True),
        ([{"operator": "Exists", "effect": "NoExecute"}], False),
        ([{"operator": "Equal"}], False),
        ([{"key": "karpenter.sh/disrupted", "operator": "Exists"}], True),
        ([{"key": "karpenter.sh/disrupted", "operator": "Exists", "value": None}], True),
        ([{"key": "karpenter.sh/disrupted"}], True),
        ([{"key": "karpenter.sh/disrupted", "operator": "Equal", "value": ""}], True),
        ([{"key": "karpenter.sh/disrupted", "value": "yes"}], False),
        ([{"key": "karpenter.sh/unregistered", "operator": "Exists"}], False),
        ([{"key": "a", "operator": "Exists"}, {"key": "karpenter.sh/disrupted"}], True),
    ],
)
def test_who_bears_the_taint_that_karpenter_drains_under(
    tolerations: list[Json], *, outlives: bool
) -> None:
    pod = pod_of({"metadata": {"name": "p"}, "spec": {"tolerations": tolerations}})
    assert pod.outlives_drain is outlives


def test_unreadable_times_of_a_pod_are_kept_apart() -> None:
    value = {"metadata": {"name": "p", "deletionTimestamp": "x"}, "status": {"startTime": ""}}
    pod = pod_of(value)
    assert (pod.deleting, pod.ends_by, pod.started) == (True, Malformed("x"), Malformed(""))


def test_a_whole_budget() -> None:
    value = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop", "generation": 3},
        "spec": {
            "minAvailable": "50%",
            "selector": {
                "matchLabels": {"tier": "front", "app": "web"},
                "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
            },
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
        "status": {
            "disruptionsAllowed": 1,
            "currentHealthy": 3,
            "desiredHealthy": 2,
            "expectedPods": 3,
            "observedGeneration": 3,
        },
    }
    assert budget_of(value) == Budget(
        name="web",
        namespace="shop",
        selector=Selector(
            (("app", "web"), ("tier", "front")), (Requirement("zone", "In", ("a", "b")),)
        ),
        allowed=1,
        enough_healthy=True,
        always_evicts_unhealthy=True,
    )


@pytest.mark.parametrize(
    "value",
    [
        {"metadata": {"name": "b"}},
        {"metadata": {"name": "b", "namespace": None}, "spec": None, "status": None},
        {
            "metadata": {"name": "b"},
            "spec": {"selector": None, "unhealthyPodEvictionPolicy": None},
            "status": {"disruptionsAllowed": None, "currentHealthy": None, "desiredHealthy": None},
        },
        {"metadata": {"name": "b"}, "spec": {"unhealthyPodEvictionPolicy": "IfHealthyBudget"}},
        # A budget over nothing wants nothing: that is no reserve.
        {"metadata": {"name": "b"}, "status": {"currentHealthy": 0, "desiredHealthy": 0}},
        {"metadata": {"name": "b"}, "status": {"currentHealthy": 1, "desiredHealthy": 2}},
    ],
)
def test_a_budget_that_says_hardly_anything(value: Json) -> None:
    assert budget_of(value) == Budget(name="b")


@pytest.mark.parametrize("selector", [{}, {"matchLabels": None, "matchExpressions": []}])
def test_an_empty_selector_is_not_an_absent_one(selector: Json) -> None:
    budget = budget_of({"metadata": {"name": "b"}, "spec": {"selector": selector}})
    assert budget.selector == Selector()


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, "body"),
        ({"metadata": {}}, "metadata.name"),
        ({"metadata": {"name": "b"}, "spec": {"selector": "app=web"}}, "spec.selector"),
        (
            {"metadata": {"name": "b"}, "status": {"disruptionsAllowed": "1"}},
            "status.disruptionsAllowed",
        ),
    ],
)
def test_what_is_no_budget_names_the_field(value: object, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        budget_of(value)
    assert caught.value.field == field
