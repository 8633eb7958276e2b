"""What Pods ask for, and which of them count."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.rotation.effective import (
    Census,
    Skipped,
    daemon_overhead,
    effective_requests,
    reschedulable,
    why_skipped,
)
from hooks.rotation.model import Container, Pod, Requirement, Resources
from hooks.rotation.quantity import parse_quantity

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def amounts(values: Mapping[str, str]) -> Resources:
    return {name: parse_quantity(text) for name, text in values.items()}


def asks(**values: str) -> Container:
    return Container(requests=amounts(values))


def sidecar(**values: str) -> Container:
    return Container(requests=amounts(values), restartable=True)


def term(*requirements: tuple[str, str, tuple[str, ...]]) -> tuple[Requirement, ...]:
    return tuple(Requirement(*each) for each in requirements)


EFFECTIVE = [
    ("nothing", Pod("p"), {}),
    ("containers add up", Pod("p", containers=(asks(cpu="1"), asks(cpu="2"))), {"cpu": "3"}),
    (
        "resources are apart from each other",
        Pod("p", containers=(asks(cpu="1"), asks(memory="1Gi"))),
        {"cpu": "1", "memory": "1Gi"},
    ),
    (
        "an init container below the containers changes nothing",
        Pod("p", containers=(asks(cpu="2"),), init_containers=(asks(cpu="1"),)),
        {"cpu": "2"},
    ),
    (
        "the largest init container is the peak, not their sum",
        Pod("p", containers=(asks(cpu="1"),), init_containers=(asks(cpu="2"), asks(cpu="3"))),
        {"cpu": "3"},
    ),
    (
        "the peak is taken for each resource by itself",
        Pod(
            "p",
            containers=(asks(cpu="1", memory="4Gi"),),
            init_containers=(asks(cpu="3", memory="1Gi"),),
        ),
        {"cpu": "3", "memory": "4Gi"},
    ),
    (
        "a sidecar runs beside the containers",
        Pod("p", containers=(asks(cpu="1"),), init_containers=(sidecar(cpu="500m"),)),
        {"cpu": "1500m"},
    ),
    (
        "a sidecar declared before an init container runs beside it",
        Pod(
            "p",
            containers=(asks(cpu="1"),),
            init_containers=(sidecar(cpu="500m"), asks(cpu="2")),
        ),
        {"cpu": "2500m"},
    ),
    (
        "a sidecar declared after an init container doesn't",
        Pod(
            "p",
            containers=(asks(cpu="1"),),
            init_containers=(asks(cpu="2"), sidecar(cpu="500m")),
        ),
        {"cpu": "2"},
    ),
    (
        "sidecars alone accumulate",
        Pod(
            "p",
            containers=(asks(cpu="100m"),),
            init_containers=(sidecar(cpu="1"), asks(cpu="1"), sidecar(cpu="1"), asks(cpu="500m")),
        ),
        {"cpu": "2500m"},
    ),
    (
        "overhead of the runtime class, once",
        Pod(
            "p",
            containers=(asks(cpu="1"), asks(cpu="1")),
            init_containers=(asks(cpu="1"),),
            overhead=amounts({"cpu": "250m", "memory": "120Mi"}),
        ),
        {"cpu": "2250m", "memory": "120Mi"},
    ),
    (
        "the Pod's own requests replace those of its containers",
        Pod(
            "p",
            containers=(asks(cpu="1", memory="1Gi"),),
            pod_requests=amounts({"cpu": "500m", "hugepages-2Mi": "4Mi"}),
            overhead=amounts({"cpu": "100m"}),
        ),
        {"cpu": "600m", "memory": "1Gi", "hugepages-2Mi": "4Mi"},
    ),
    (
        "also those of its init containers",
        Pod(
            "p",
            containers=(asks(memory="1Gi"),),
            init_containers=(asks(memory="3Gi"),),
            pod_requests=amounts({"memory": "2Gi"}),
        ),
        {"memory": "2Gi"},
    ),
    (
        "a resource that can't be set for a Pod is not replaced",
        Pod(
            "p",
            containers=(Container(requests=amounts({"nvidia.com/gpu": "1"})),),
            pod_requests=amounts({"nvidia.com/gpu": "7", "ephemeral-storage": "7"}),
        ),
        {"nvidia.com/gpu": "1"},
    ),
    (
        "a limit without a request is a request",
        Pod(
            "p",
            containers=(
                Container(
                    requests=amounts({"cpu": "1"}), limits=amounts({"cpu": "2", "memory": "1Gi"})
                ),
            ),
        ),
        {"cpu": "1", "memory": "1Gi"},
    ),
    (
        "a request of zero stays zero",
        Pod(
            "p",
            containers=(Container(requests=amounts({"cpu": "0"}), limits=amounts({"cpu": "2"})),),
        ),
        {"cpu": "0"},
    ),
    (
        "an extended resource alone",
        Pod("p", containers=(Container(requests=amounts({"nvidia.com/gpu": "2"})),)),
        {"nvidia.com/gpu": "2"},
    ),
]


@pytest.mark.parametrize(
    ("pod", "expected"), [row[1:] for row in EFFECTIVE], ids=[r[0] for r in EFFECTIVE]
)
def test_effective_requests(pod: Pod, expected: dict[str, str]) -> None:
    assert effective_requests(pod) == amounts(expected)


COUNTED = [
    ("a plain Pod", Pod("p", phase="Running"), None),
    ("a pending Pod", Pod("p", phase="Pending"), None),
    ("a ReplicaSet's", Pod("p", controller_kind="ReplicaSet"), None),
    ("a StatefulSet's", Pod("p", controller_kind="StatefulSet"), None),
    ("a do-not-disrupt Pod", Pod("p", do_not_disrupt="true"), None),
    ("our placeholder", Pod("p", surge_for="claim-a"), Skipped.PLACEHOLDER),
    ("a DaemonSet's", Pod("p", controller_kind="DaemonSet"), Skipped.DAEMON_SET),
    ("a mirror Pod", Pod("p", mirror=True), Skipped.MIRROR),
    ("a static Pod", Pod("p", controller_kind="Node"), Skipped.MIRROR),
    ("succeeded", Pod("p", phase="Succeeded"), Skipped.FINISHED),
    ("failed", Pod("p", phase="Failed"), Skipped.FINISHED),
    (
        "a failed Pod of a StatefulSet",
        Pod("p", phase="Failed", controller_kind="StatefulSet"),
        Skipped.FINISHED,
    ),
    ("terminating", Pod("p", deleting=True), Skipped.TERMINATING),
    (
        "terminating, of a ReplicaSet",
        Pod("p", deleting=True, controller_kind="ReplicaSet"),
        Skipped.TERMINATING,
    ),
    ("terminating, of a StatefulSet", Pod("p", deleting=True, controller_kind="StatefulSet"), None),
    ("a node selector for the host", Pod("p", node_selector={HOST: "n1"}), Skipped.NODE_PINNED),
    ("a node selector for a zone", Pod("p", node_selector={ZONE: "a"}), None),
    (
        "In one host",
        Pod("p", required_node_terms=(term((HOST, "In", ("n1",))),)),
        Skipped.NODE_PINNED,
    ),
    (
        "In one node by its name",
        Pod("p", required_node_terms=(term(("metadata.name", "In", ("n1",))),)),
        Skipped.NODE_PINNED,
    ),
    (
        "In one host and in a zone",
        Pod("p", required_node_terms=(term((ZONE, "In", ("a",)), (HOST, "In", ("n1",))),)),
        Skipped.NODE_PINNED,
    ),
    (
        "the same host in both terms",
        Pod("p", required_node_terms=(term((HOST, "In", ("n1",))), term((HOST, "In", ("n1",))))),
        Skipped.NODE_PINNED,
    ),
    (
        "the same host twice in one term, once among others",
        Pod("p", required_node_terms=(term((HOST, "In", ("n1", "n2")), (HOST, "In", ("n1",))),)),
        Skipped.NODE_PINNED,
    ),
    (
        "an empty term matches nothing and frees nobody",
        Pod("p", required_node_terms=((), term((HOST, "In", ("n1",))))),
        Skipped.NODE_PINNED,
    ),
    ("In two hosts", Pod("p", required_node_terms=(term((HOST, "In", ("n1", "n2"))),)), None),
    (
        "another host in the other term",
        Pod("p", required_node_terms=(term((HOST, "In", ("n1",))), term((HOST, "In", ("n2",))))),
        None,
    ),
    (
        "no host in the other term",
        Pod("p", required_node_terms=(term((HOST, "In", ("n1",))), term((ZONE, "In", ("a",))))),
        None,
    ),
    ("NotIn a host", Pod("p", required_node_terms=(term((HOST, "NotIn", ("n2",))),)), None),
    ("Exists a host", Pod("p", required_node_terms=(term((HOST, "Exists", ())),)), None),
    ("only empty terms", Pod("p", required_node_terms=((),)), None),
]


@pytest.mark.parametrize(
    ("pod", "expected"), [row[1:] for row in COUNTED], ids=[r[0] for r in COUNTED]
)
def test_which_pods_need_room_elsewhere(pod: Pod, expected: Skipped | None) -> None:
    assert why_skipped(pod) == expected


def test_the_sum_takes_only_those_pods_and_the_census_tells_of_all() -> None:
    one_cpu = (asks(cpu="1"),)
    pods = (
        Pod("web-1", containers=(asks(cpu="250m", memory="1Gi"),)),
        Pod("web-2", containers=(asks(cpu="500m"),), overhead=amounts({"memory": "100Mi"})),
        Pod("db-0", containers=one_cpu, deleting=True, controller_kind="StatefulSet"),
        Pod("agent", containers=one_cpu, controller_kind="DaemonSet"),
        Pod("proxy", containers=one_cpu, controller_kind="DaemonSet"),
        Pod("static", containers=one_cpu, mirror=True),
        Pod("done", containers=one_cpu, phase="Succeeded"),
        Pod("going", containers=one_cpu, deleting=True, controller_kind="ReplicaSet"),
        Pod("pinned", containers=one_cpu, node_selector={HOST: "n1"}),
        Pod("other-surge", containers=one_cpu, surge_for="claim-b"),
    )
    census = Census(
        3,
        (
            (Skipped.DAEMON_SET, 2),
            (Skipped.FINISHED, 1),
            (Skipped.MIRROR, 1),
            (Skipped.NODE_PINNED, 1),
            (Skipped.PLACEHOLDER, 1),
            (Skipped.TERMINATING, 1),
        ),
    )
    assert reschedulable(pods) == (amounts({"cpu": "1750m", "memory": "1124Mi"}), census)


def test_an_empty_node_needs_nothing() -> None:
    assert reschedulable(()) == ({}, Census())


def test_a_sum_of_zero_is_no_request() -> None:
    pods = (Pod("p", containers=(asks(cpu="0", memory="1Mi"),)),)
    assert reschedulable(pods) == (amounts({"memory": "1Mi"}), Census(1))


def test_daemon_overhead_is_that_of_daemons_that_hold_room() -> None:
    pods = (
        Pod("a", containers=(asks(cpu="200m", memory="600Mi"),), controller_kind="DaemonSet"),
        Pod("b", containers=(asks(cpu="100m"),), controller_kind="DaemonSet", deleting=True),
        Pod("c", containers=(asks(cpu="9"),), controller_kind="DaemonSet", phase="Failed"),
        Pod("d", containers=(asks(cpu="9"),), mirror=True),
        Pod("e", containers=(asks(cpu="9"),)),
    )
    assert daemon_overhead(pods) == amounts({"cpu": "300m", "memory": "600Mi"})


pods_of_a_node = st.lists(
    st.builds(
        Pod,
        name=st.just("p"),
        controller_kind=st.sampled_from(["", "DaemonSet", "StatefulSet"]),
        deleting=st.booleans(),
        phase=st.sampled_from(["Running", "Failed"]),
        containers=st.lists(
            st.builds(asks, cpu=st.sampled_from(["1n", "100m", "0.3", "2"])), max_size=3
        ).map(tuple),
        init_containers=st.lists(
            st.builds(sidecar, cpu=st.sampled_from(["50m", "1"])), max_size=2
        ).map(tuple),
    ),
    max_size=8,
)


@given(pods_of_a_node, st.randoms(use_true_random=False))
def test_the_sum_is_exact_and_the_order_of_pods_is_of_no_matter(
    pods: list[Pod], random: Random
) -> None:
    shuffled = list(pods)
    random.shuffle(shuffled)
    total, census = reschedulable(pods)
    assert reschedulable(shuffled) == (total, census)
    assert census.counted + sum(count for _, count in census.skipped) == len(pods)
    singly = [effective_requests(pod).get("cpu", 0) for pod in pods if why_skipped(pod) is None]
    assert total.get("cpu", 0) == sum(singly)
