"""The placeholder: its names, its whole manifest, and how it came to its size."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.rotation.clamp import Clamp, ClampOutcome, Cut
from hooks.rotation.effective import Census, Skipped
from hooks.rotation.model import (
    Claim,
    Container,
    Node,
    Pod,
    Policy,
    Pool,
    Requirement,
    Resources,
    Selector,
    Taint,
)
from hooks.rotation.placeholder import Placeholder, build, label_value, name_of
from hooks.rotation.quantity import parse_quantity

DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def amounts(values: Mapping[str, str]) -> Resources:
    return {name: parse_quantity(text) for name, text in values.items()}


def workload(name: str, requests: dict[str, str], controller: str = "ReplicaSet") -> Pod:
    container = Container(requests=amounts(requests))
    return Pod(name, controller_kind=controller, phase="Running", containers=(container,))


POOL = Pool(
    "api",
    requirements=(
        Requirement("topology.kubernetes.io/zone", "In", ("eu-1a", "eu-1b")),
        Requirement("karpenter.sh/capacity-type", "In", ("on-demand", "spot")),
    ),
    taints=(Taint("workload", "NoSchedule", "api"), Taint("dedicated", "NoExecute")),
)
POLICY = Policy(
    "api", Selector(), (), preferred=("node.kubernetes.io/instance-type", "kubernetes.io/arch")
)
CLAIM = Claim(
    "api-7xk2p",
    "uid-1",
    datetime(2026, 11, 29, tzinfo=UTC),
    node_name="node-1.internal",
    allocatable=amounts({"cpu": "3900m", "memory": "8182Mi", "pods": "64"}),
)
NODE = Node(
    "node-1.internal",
    labels={
        "kubernetes.io/hostname": "node-1",
        "topology.kubernetes.io/zone": "eu-1a",
        "kubernetes.io/arch": "arm64",
        "karpenter.sh/capacity-type": "spot",
        "node.kubernetes.io/instance-type": "m7g.xlarge",
    },
    allocatable=amounts({"cpu": "3920m", "memory": "8200Mi", "pods": "64"}),
)


def make(
    *pods: Pod,
    pool: Pool = POOL,
    policy: Policy = POLICY,
    claim: Claim = CLAIM,
    node: Node = NODE,
    near_deadline_hosts: tuple[str, ...] = (),
) -> Placeholder:
    return build(
        pool,
        policy,
        claim,
        node,
        pods,
        near_deadline_hosts,
        namespace="node-rotation-system",
        image="registry.example/pause:3.10",
    )


def container_of(placeholder: Placeholder) -> dict[str, object]:
    (container,) = placeholder.manifest["spec"]["containers"]
    assert isinstance(container, dict)
    return container


TOLERATIONS = [
    {"key": "workload", "operator": "Equal", "value": "api", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Equal", "effect": "NoExecute"},
]
WHOLE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "noderotation-surge-api-7xk2p",
        "namespace": "node-rotation-system",
        "labels": {"noderotation.io/surge-for": "api-7xk2p"},
        "annotations": {
            "karpenter.sh/do-not-disrupt": "true",
            "noderotation.io/surge-for": "api-7xk2p",
        },
    },
    "spec": {
        "nodeSelector": {"karpenter.sh/nodepool": "api"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {
                                    "key": "topology.kubernetes.io/zone",
                                    "operator": "In",
                                    "values": ["eu-1a"],
                                },
                                {
                                    "key": "kubernetes.io/arch",
                                    "operator": "In",
                                    "values": ["arm64"],
                                },
                                {
                                    "key": "karpenter.sh/capacity-type",
                                    "operator": "In",
                                    "values": ["spot"],
                                },
                            ]
                        }
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 100,
                        "preference": {
                            "matchExpressions": [
                                {
                                    "key": "node.kubernetes.io/instance-type",
                                    "operator": "In",
                                    "values": ["m7g.xlarge"],
                                }
                            ]
                        },
                    },
                    {
                        "weight": 25,
                        "preference": {
                            "matchExpressions": [
                                {
                                    "key": "kubernetes.io/hostname",
                                    "operator": "NotIn",
                                    "values": ["node-1", "node-7", "node-9"],
                                }
                            ]
                        },
                    },
                ],
            }
        },
        "tolerations": TOLERATIONS,
        "priorityClassName": "noderotation-placeholder",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 0,
        "restartPolicy": "Always",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65535,
            "runAsGroup": 65535,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "pause",
                "image": "registry.example/pause:3.10",
                "resources": {"requests": {"cpu": "1750m", "memory": "3221225472"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                    "runAsNonRoot": True,
                },
            }
        ],
    },
}


def test_the_whole_placeholder() -> None:
    placeholder = make(
        workload("web-1", {"cpu": "1500m", "memory": "2Gi"}),
        workload("web-2", {"memory": "1Gi", "cpu": "250m"}),
        workload("agent", {"cpu": "200m"}, controller="DaemonSet"),
        near_deadline_hosts=("node-9", "node-7", "node-1"),
    )
    assert placeholder == Placeholder(
        manifest=WHOLE,
        requests=amounts({"cpu": "1750m", "memory": "3Gi"}),
        clamped=Clamp(),
        census=Census(2, ((Skipped.DAEMON_SET, 1),)),
        given_up=(),
    )


def test_the_order_of_pods_changes_no_byte() -> None:
    pods = (workload("a", {"memory": "1Gi"}), workload("b", {"cpu": "1", "example.com/x": "1"}))
    forwards = json.dumps(make(*pods).manifest)
    assert json.dumps(make(*reversed(pods)).manifest) == forwards


def test_the_size_is_clamped_to_what_karpenter_plans_less_the_daemons() -> None:
    placeholder = make(
        workload("web", {"cpu": "3715m", "memory": "1Gi"}),
        workload("agent", {"cpu": "200m"}, controller="DaemonSet"),
    )
    short = Cut("cpu", parse_quantity("3715m"), parse_quantity("3700m"), parse_quantity("20m"))
    assert placeholder.requests == amounts({"cpu": "3700m", "memory": "1Gi"})
    assert placeholder.clamped == Clamp(ClampOutcome.CLAMPED, (short,))
    assert container_of(placeholder)["resources"] == {
        "requests": {"cpu": "3700m", "memory": "1073741824"}
    }


def test_a_refused_clamp_keeps_the_full_sum() -> None:
    placeholder = make(
        workload("web", {"cpu": "1"}), workload("agent", {"cpu": "4"}, controller="DaemonSet")
    )
    assert placeholder.clamped.outcome is ClampOutcome.REFUSED
    assert container_of(placeholder)["resources"] == {"requests": {"cpu": "1"}}


RESOURCES: list[tuple[str, dict[str, str], dict[str, dict[str, str]]]] = [
    ("nothing", {}, {}),
    ("zero is left out", {"cpu": "0", "memory": "1"}, {"requests": {"memory": "1"}}),
    (
        "an extended resource alone",
        {"nvidia.com/gpu": "2"},
        {"requests": {"nvidia.com/gpu": "2"}, "limits": {"nvidia.com/gpu": "2"}},
    ),
    (
        "huge pages",
        {"hugepages-2Mi": "4Mi", "cpu": "1", "memory": "1Gi"},
        {
            "requests": {"cpu": "1", "hugepages-2Mi": "4194304", "memory": "1073741824"},
            "limits": {"hugepages-2Mi": "4194304"},
        },
    ),
    (
        "huge pages alone need a word about cpu or memory",
        {"hugepages-1Gi": "1Gi", "cpu": "0"},
        {
            "requests": {"cpu": "0", "hugepages-1Gi": "1073741824"},
            "limits": {"hugepages-1Gi": "1073741824"},
        },
    ),
    (
        "ephemeral storage may be overcommitted",
        {"ephemeral-storage": "1Gi"},
        {"requests": {"ephemeral-storage": "1073741824"}},
    ),
]


@pytest.mark.parametrize(
    ("wanted", "resources"), [row[1:] for row in RESOURCES], ids=[row[0] for row in RESOURCES]
)
def test_requests_and_limits(wanted: dict[str, str], resources: dict[str, dict[str, str]]) -> None:
    placeholder = make(workload("web", wanted))
    assert container_of(placeholder)["resources"] == resources
    assert placeholder.requests == {
        name: amount for name, amount in amounts(wanted).items() if amount
    }


def test_a_pool_and_a_node_that_say_nothing() -> None:
    bare = make(
        pool=Pool("bare"),
        policy=replace(POLICY, required=(), preferred=()),
        node=Node("a" * 64),
    )
    assert list(bare.manifest["spec"]) == [
        "nodeSelector",
        "priorityClassName",
        "automountServiceAccountToken",
        "enableServiceLinks",
        "terminationGracePeriodSeconds",
        "restartPolicy",
        "securityContext",
        "containers",
    ]
    assert bare.given_up == ()


def test_a_node_without_the_label_is_avoided_by_its_name() -> None:
    placeholder = make(node=Node("node-1"), near_deadline_hosts=("node-2",))
    (avoid,) = placeholder.manifest["spec"]["affinity"]["nodeAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert avoid["preference"]["matchExpressions"][0]["values"] == ["node-1", "node-2"]


def test_a_key_that_the_pool_no_longer_allows_is_named_also_when_it_is_only_preferred() -> None:
    pool = replace(
        POOL,
        requirements=(
            Requirement("topology.kubernetes.io/zone", "In", ("eu-1b",)),
            Requirement("node.kubernetes.io/instance-type", "NotIn", ("m7g.xlarge",)),
        ),
    )
    placeholder = make(pool=pool)
    assert placeholder.given_up == (
        "topology.kubernetes.io/zone",
        "node.kubernetes.io/instance-type",
    )
    affinity = placeholder.manifest["spec"]["affinity"]["nodeAffinity"]
    required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    keys = [each["key"] for each in required[0]["matchExpressions"]]
    assert keys == ["kubernetes.io/arch", "karpenter.sh/capacity-type"]


def test_tolerations_come_once_for_each_taint() -> None:
    pool = replace(POOL, taints=(*POOL.taints, *POOL.taints))
    assert make(pool=pool).manifest["spec"]["tolerations"] == TOLERATIONS


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("api-7xk2p", "noderotation-surge-api-7xk2p"),
        ("a.b-c", "noderotation-surge-a.b-c"),
        ("x" * 234, "noderotation-surge-" + "x" * 234),
    ],
)
def test_the_name_is_the_claims_behind_a_prefix(claim: str, name: str) -> None:
    assert name_of(claim) == name


def test_a_long_name_is_cut_and_hashed() -> None:
    # Pinned, since another version has to find the same Pod: SHA-256 of the claim's name.
    name = name_of("x" * 235)
    assert name == "noderotation-surge-" + "x" * 225 + "-7b03ee1b"
    assert len(name) == 253
    assert name_of("x" * 234 + "y") != name


def test_a_cut_leaves_no_dot_before_the_hash() -> None:
    name = name_of("x" * 223 + ".-" + "y" * 28)
    assert re.fullmatch("noderotation-surge-x{223}-[0-9a-f]{8}", name)


def test_a_label_holds_63_characters() -> None:
    assert label_value("a" * 63) == "a" * 63
    assert label_value("a" * 64) == "a" * 54 + "-ffe054fe"
    assert label_value("a" * 64) != label_value("a" * 65)


parts = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
claim_names = st.lists(parts, min_size=1, max_size=20).map(lambda each: ".".join(each)[:253])


@given(claim_names.map(lambda name: name.rstrip("-.")))
def test_names_and_labels_are_valid_whatever_the_claim_is_called(claim: str) -> None:
    name, label = name_of(claim), label_value(claim)
    assert len(name) <= 253
    assert DNS_SUBDOMAIN.fullmatch(name)
    assert len(label) <= 63
    assert LABEL_VALUE.fullmatch(label)
