"""Pools of a fixed size."""

from __future__ import annotations

from datetime import timedelta

from hooks.sandbox.objects import is_terminating, name_of
from tests.sandbox.karpenter.cluster import Cluster


def live(cluster: Cluster) -> list[str]:
    return [name_of(claim) for claim in cluster.claims() if not is_terminating(claim)]


def resize(cluster: Cluster, replicas: int) -> None:
    cluster.change_pool(lambda it: it["spec"].update(replicas=replicas))


def test_a_pool_of_a_fixed_size_has_its_machines_without_any_pod() -> None:
    cluster = Cluster()
    cluster.add_pool(replicas=3)
    cluster.add_daemon_set("agent")
    cluster.until(lambda: cluster.is_calm(3))
    assert len(live(cluster)) == 3
    assert cluster.claims()[0]["spec"]["resources"] == {}


def test_it_grows_and_shrinks_with_its_replicas() -> None:
    cluster = Cluster()
    cluster.add_pool(replicas=1)
    cluster.run(timedelta(seconds=20))
    resize(cluster, 3)
    cluster.run(timedelta(seconds=20))
    assert len(live(cluster)) == 3
    resize(cluster, 2)
    cluster.run(timedelta(seconds=20))
    assert len(cluster.claims()) == 2


def test_an_empty_machine_is_spared_before_one_that_has_pods() -> None:
    cluster = Cluster()
    cluster.add_pool(replicas=3)
    cluster.add_pod("api")
    cluster.until(lambda: cluster.all_run() and len(live(cluster)) == 3)
    cluster.run(timedelta(seconds=30))
    host = cluster.host_of("api")
    resize(cluster, 1)
    cluster.run(timedelta(seconds=30))
    (left,) = cluster.claims()
    assert left["status"]["nodeName"] == host


def test_a_deleted_claim_is_replaced_while_it_still_drains() -> None:
    cluster = Cluster()
    cluster.add_pool(replicas=2)
    cluster.add_deployment("api", 2)
    cluster.until(lambda: cluster.is_calm(2))
    cluster.add_budget("api", minAvailable=2)
    old = cluster.claims()[0]
    cluster.delete(old)
    cluster.settle()
    assert cluster.is_there(old)
    assert len(live(cluster)) == 2
    assert len(cluster.claims()) == 3


def test_a_limit_on_nodes_makes_the_replacement_wait() -> None:
    cluster = Cluster()
    cluster.add_pool(replicas=2, limits={"nodes": "2"})
    cluster.add_deployment("api", 2)
    cluster.until(lambda: cluster.is_calm(2))
    cluster.add_budget("api", minAvailable=2)
    old = cluster.claims()[0]
    cluster.delete(old)
    cluster.run(timedelta(seconds=40))
    assert len(live(cluster)) == 1
    cluster.set_budget("api", minAvailable=0)
    cluster.until(lambda: not cluster.is_there(old))
    cluster.run(timedelta(minutes=1))
    assert len(live(cluster)) == 2


def test_pods_that_find_no_place_bring_no_machine_of_it() -> None:
    cluster = Cluster()
    cluster.add_pool(replicas=1)
    cluster.add_deployment("api", 2)
    cluster.run(timedelta(minutes=2))
    assert len(cluster.claims()) == 1
