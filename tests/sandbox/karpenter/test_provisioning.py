"""Which machines come for Pods that found no place, and when."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hooks.sandbox.karpenter.instances import instance_type, kwok_catalogue
from hooks.sandbox.objects import labels_of, name_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODEPOOLS, PODS
from tests.sandbox.karpenter.cluster import START, STEADY, Cluster, said, within

ZONE = "topology.kubernetes.io/zone"


def created(cluster: Cluster) -> list[float]:
    """When each NodeClaim was created, in seconds after the start."""
    return [
        (event.at - START).total_seconds()
        for event in cluster.store.events_after(0)
        if event.resource == NODECLAIMS and event.type == "ADDED"
    ]


def test_pods_that_come_together_share_a_batch_of_a_second() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("first", cpu="1500m")
    cluster.run(timedelta(milliseconds=600))
    cluster.add_pod("second", cpu="1500m")
    cluster.until(lambda: cluster.is_calm(1))
    assert created(cluster) == [1.6]
    assert cluster.host_of("first") == cluster.host_of("second") != ""


def test_a_batch_ends_after_ten_seconds_although_more_pods_come() -> None:
    cluster = Cluster()
    cluster.add_pool()
    for number in range(14):
        cluster.add_pod(f"p{number}", cpu="100m")
        cluster.run(timedelta(milliseconds=900))
    assert created(cluster)[0] == 10.0


def test_while_an_instance_is_launched_nothing_is_planned() -> None:
    cluster = Cluster(replace(STEADY, launch=timedelta(seconds=3)))
    cluster.add_pool()
    cluster.add_pod("first")
    cluster.run(timedelta(seconds=1))
    cluster.add_pod("second")
    cluster.until(lambda: cluster.is_calm(2))
    # The second Pod's batch ends while the first instance is launched. It asks again when the
    # scheduler tells it anew that it fits nowhere, which is when the first Node comes.
    assert created(cluster) == [1.0, 7.0]


def test_machines_on_their_way_are_counted_on() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("first", cpu="1500m")
    cluster.run(timedelta(seconds=3))
    assert said(cluster.claims()[0])["Registered"] == "Unknown"
    cluster.add_pod("second", cpu="1500m")
    cluster.until(lambda: cluster.is_calm(1))
    assert len(created(cluster)) == 1


def test_room_is_kept_for_the_pods_of_daemon_sets() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_daemon_set("agent", cpu="1")
    cluster.add_pod("first", cpu="1500m")
    cluster.add_pod("second", cpu="1500m")
    cluster.until(lambda: cluster.is_calm(2))
    assert [claim["spec"]["resources"]["requests"] for claim in cluster.claims()] == [
        {"cpu": "2500m", "memory": "2Gi", "pods": "2"}
    ] * 2


def test_a_pod_that_no_machine_of_the_pool_could_take_brings_none() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("too-big", cpu="4")
    cluster.add_pod("elsewhere", nodeSelector={"workload": "other"})
    cluster.add_pod("untolerated", nodeSelector={"karpenter.sh/capacity-type": "spot"})
    cluster.run(timedelta(minutes=1))
    assert cluster.claims() == []


def test_a_zone_that_a_pod_asks_for_is_in_the_claim() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("here", nodeSelector={ZONE: "test-zone-c"})
    cluster.until(lambda: cluster.is_calm(1))
    (claim,) = cluster.claims()
    assert within(ZONE, "test-zone-c") in claim["spec"]["requirements"]
    assert labels_of(cluster.node_of(claim))[ZONE] == "test-zone-c"


def test_extended_resources_and_huge_pages_bring_the_type_that_has_them() -> None:
    special = instance_type(
        "gpu-4x", cpu=4, memory="16Gi", more={"example.com/gpu": "1", "hugepages-2Mi": "1Gi"}
    )
    cluster = Cluster(catalogue=kwok_catalogue().extended(special))
    cluster.add_pool()
    wanted = {"example.com/gpu": "1", "hugepages-2Mi": "512Mi", "cpu": "1", "memory": "1Gi"}
    resources = {"requests": wanted, "limits": wanted}
    pod = {
        "metadata": {"name": "gpu", "namespace": "default"},
        "spec": {"containers": [{"name": "work", "image": "work", "resources": resources}]},
    }
    cluster.store.create(PODS, pod)
    cluster.until(lambda: cluster.is_calm(1))
    (claim,) = cluster.claims()
    assert labels_of(claim)["node.kubernetes.io/instance-type"] == "gpu-4x"
    assert claim["spec"]["resources"]["requests"] == {
        "cpu": "1",
        "example.com/gpu": "1",
        "hugepages-2Mi": "512Mi",
        "memory": "1Gi",
        "pods": "1",
    }


def test_a_pool_doesnt_grow_beyond_its_limits() -> None:
    cluster = Cluster()
    cluster.add_pool(limits={"cpu": "8"})
    cluster.add_deployment("api", 4)
    cluster.run(timedelta(minutes=2))
    assert len(cluster.claims()) == 2


def test_the_heavier_pool_is_tried_first_and_the_other_takes_what_it_refuses() -> None:
    cluster = Cluster()
    cluster.add_pool("light")
    cluster.add_pool("heavy", weight=10, limits={"cpu": "4"})
    cluster.add_deployment("api", 2)
    cluster.until(lambda: cluster.is_calm(2))
    assert sorted(labels_of(claim)["karpenter.sh/nodepool"] for claim in cluster.claims()) == [
        "heavy",
        "light",
    ]


def test_a_tainted_pool_is_for_pods_that_tolerate_it() -> None:
    cluster = Cluster()
    taint = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
    cluster.add_pool(taints=[taint])
    cluster.add_pod("plain")
    cluster.add_pod("welcome", tolerations=[{"key": "dedicated", "operator": "Exists"}])
    cluster.run(timedelta(minutes=1))
    (claim,) = cluster.claims()
    assert claim["spec"]["taints"] == [taint]
    assert (cluster.host_of("plain"), bool(cluster.host_of("welcome"))) == ("", True)
    assert cluster.node_of(claim)["spec"]["taints"] == [taint]


def test_pods_that_shun_each_other_get_machines_of_their_own() -> None:
    cluster = Cluster()
    cluster.add_pool()
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "api"}},
    }
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster.add_deployment("api", 3, cpu="100m", affinity=affinity)
    cluster.until(lambda: cluster.is_calm(3))
    assert len(created(cluster)) == 3


def test_pods_that_are_spread_get_machines_in_different_zones() -> None:
    cluster = Cluster()
    cluster.add_pool()
    constraint = {
        "topologyKey": ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "api"}},
    }
    cluster.add_deployment("api", 4, cpu="100m", topologySpreadConstraints=[constraint])
    cluster.until(lambda: cluster.is_calm(4))
    assert sorted(labels_of(node)[ZONE] for node in cluster.nodes()) == [
        "test-zone-a",
        "test-zone-b",
        "test-zone-c",
        "test-zone-d",
    ]


def test_a_pool_whose_class_is_missing_brings_nothing_until_it_comes() -> None:
    cluster = Cluster()
    pool = cluster.add_pool()
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "late"}
    cluster.change_pool(lambda it: it["spec"]["template"]["spec"].update(nodeClassRef=reference))
    cluster.add_pod("api")
    cluster.run(timedelta(minutes=1))
    assert cluster.claims() == []
    stored = cluster.store.get(NODEPOOLS, "", name_of(pool))
    assert said(stored) == {
        "ValidationSucceeded": "True",
        "NodeClassReady": "False",
        "Ready": "False",
    }


@pytest.mark.parametrize("kept", [True, False])
def test_a_placeholder_kept_during_a_blocked_drain_brings_one_more_machine(kept: bool) -> None:
    # Measured on the real control plane (design/cluster.md): nothing is preempted in the simulation,
    # so the Pods of the leaving machine don't count on the placeholder's room.
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_deployment("api", 2)
    cluster.until(lambda: cluster.is_calm(2))
    cluster.add_budget("api", minAvailable=2)
    cluster.add_pod("placeholder")
    cluster.until(lambda: cluster.is_calm(3))
    host = cluster.host_of("placeholder")
    old = next(c for c in cluster.claims() if c["status"]["nodeName"] != host)
    if not kept:
        cluster.store.delete(PODS, "default", "placeholder")
        cluster.run(timedelta(seconds=5))
    cluster.delete(old)
    cluster.run(timedelta(seconds=15))
    assert cluster.is_there(old)
    assert len(cluster.claims()) == (4 if kept else 3)


def test_a_sold_out_type_is_passed_over() -> None:
    cluster = Cluster(catalogue=kwok_catalogue().sold_out("c-4x-amd64-linux", "c-4x-amd64-windows"))
    cluster.add_pool()
    cluster.add_pod("api")
    cluster.until(lambda: cluster.is_calm(1))
    (claim,) = cluster.claims()
    assert labels_of(claim)["node.kubernetes.io/instance-type"] == "s-4x-amd64-linux"
