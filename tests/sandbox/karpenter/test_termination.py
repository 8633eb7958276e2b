"""The end of a machine: drain, deadline, instance."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, is_terminating, name_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODEPOOLS, NODES, PODS
from tests.sandbox.karpenter.cluster import Cluster, of_app, said, taints

PROTECTED = {"karpenter.sh/do-not-disrupt": "true"}


def with_one_machine(**pool: Any) -> tuple[Cluster, Obj]:
    cluster = Cluster()
    cluster.add_pool(**pool)
    cluster.add_daemon_set("agent")
    cluster.add_deployment("api", 1)
    cluster.until(lambda: cluster.is_calm(1))
    (claim,) = cluster.claims()
    return cluster, claim


def seconds_until_gone(cluster: Cluster, claim: Obj) -> float:
    begun = cluster.elapsed()
    cluster.until(lambda: not cluster.is_there(claim), timedelta(hours=2))
    return cluster.elapsed() - begun


def test_a_drain_lasts_five_seconds_at_least_and_the_instance_stops_after_it() -> None:
    cluster, claim = with_one_machine()
    cluster.delete(claim)
    cluster.settle()
    (node,) = cluster.nodes()
    assert taints(node) == ["karpenter.sh/disrupted:NoSchedule"]
    assert said(cluster.claim(claim))["Drained"] == "Unknown"
    assert seconds_until_gone(cluster, claim) == 5 + 2


def test_the_daemon_sets_pods_go_after_the_others() -> None:
    cluster, claim = with_one_machine()
    cluster.delete(claim)
    cluster.until(lambda: not cluster.is_there(claim))
    gone = [
        name_of(event.obj).split("-")[0]
        for event in cluster.store.events_after(0)
        if event.resource == PODS and event.type == "DELETED"
    ]
    assert gone == ["api", "agent"]


def test_a_budget_holds_the_drain_up_until_it_allows_it() -> None:
    cluster, claim = with_one_machine()
    cluster.add_budget("api", minAvailable=1)
    cluster.delete(claim)
    cluster.run(timedelta(minutes=30))
    assert said(cluster.claim(claim))["Drained"] == "Unknown"
    assert not any(is_terminating(pod) for pod in cluster.pods())
    cluster.set_budget("api", minAvailable=0)
    # Karpenter asks again after ten seconds at most.
    assert seconds_until_gone(cluster, claim) <= 10 + 1 + 1 + 2


def test_at_the_deadline_a_budget_no_longer_counts() -> None:
    cluster, claim = with_one_machine(terminationGracePeriod="10m")
    cluster.add_budget("api", minAvailable=1)
    cluster.delete(claim)
    cluster.settle()
    deleted = cluster.claim(claim)["metadata"]["deletionTimestamp"]
    deadline = cluster.claim(claim)["metadata"]["annotations"][
        "karpenter.sh/nodeclaim-termination-timestamp"
    ]
    assert (deleted[:-4], deadline[:-4]) == ("2026-11-29T19:52", "2026-11-29T20:02")
    assert 600 - 2 <= seconds_until_gone(cluster, claim) <= 600 + 5


def test_a_protected_pod_holds_the_drain_up_until_the_deadline() -> None:
    cluster, claim = with_one_machine(terminationGracePeriod="5m")
    (pod,) = of_app(cluster.pods(), "api")
    cluster.annotate(PODS, pod, **PROTECTED)
    cluster.delete(claim)
    cluster.run(timedelta(minutes=4))
    assert cluster.is_there(claim)
    assert 50 <= seconds_until_gone(cluster, claim) <= 65


def test_without_a_deadline_a_protected_pod_holds_it_up_for_ever() -> None:
    cluster, claim = with_one_machine()
    (pod,) = of_app(cluster.pods(), "api")
    cluster.annotate(PODS, pod, **PROTECTED)
    cluster.delete(claim)
    cluster.run(timedelta(hours=3))
    assert said(cluster.claim(claim))["Drained"] == "Unknown"


def test_a_deleted_node_takes_its_claim_along() -> None:
    cluster, claim = with_one_machine()
    cluster.store.delete(NODES, "", claim["status"]["nodeName"])
    cluster.settle()
    assert is_terminating(cluster.claim(claim))
    assert seconds_until_gone(cluster, claim) == 5 + 2
    assert not any(name_of(node) == claim["status"]["nodeName"] for node in cluster.nodes())


def test_a_node_without_a_claim_is_drained_too() -> None:
    cluster, claim = with_one_machine()
    cluster.add_budget("api", minAvailable=1)

    def let_go(obj: Obj) -> None:
        obj["metadata"]["finalizers"] = []

    cluster.store.modify(NODECLAIMS, "", name_of(claim), let_go)
    cluster.delete(claim)
    # The garbage collector deletes the Node, whose owner is gone.
    cluster.run(timedelta(seconds=30))
    node = cluster.store.get(NODES, "", claim["status"]["nodeName"])
    assert (is_terminating(node), taints(node)) == (True, ["karpenter.sh/disrupted:NoSchedule"])
    cluster.set_budget("api", minAvailable=0)
    cluster.run(timedelta(seconds=15))
    assert cluster.store.find(NODES, "", name_of(node)) is None


def test_evictions_may_go_another_way_and_are_repeated_ever_more_slowly() -> None:
    asked: list[float] = []
    cluster = Cluster()

    def refuse(namespace: str, name: str, uid: str) -> None:
        assert (namespace, name[:3], uid != "") == ("default", "api", True)
        asked.append(cluster.elapsed())
        raise ApiError(429, "TooManyRequests", "not now")

    cluster.use_evictions(refuse)
    cluster.add_pool()
    cluster.add_deployment("api", 1)
    cluster.until(lambda: cluster.is_calm(1))
    begun = cluster.elapsed()
    cluster.delete(cluster.claims()[0])
    cluster.run(timedelta(seconds=35))
    waits = [round(one - begun, 1) for one in asked]
    assert waits == [0.0, 0.1, 0.3, 0.7, 1.5, 3.1, 6.3, 12.7, 22.7, 32.7]


def test_a_node_that_vanished_is_noticed_within_two_minutes() -> None:
    cluster, claim = with_one_machine()

    def vanish(obj: Obj) -> None:
        obj["metadata"]["finalizers"] = []

    cluster.store.modify(NODES, "", claim["status"]["nodeName"], vanish)
    cluster.store.delete(NODES, "", claim["status"]["nodeName"])
    assert 0 < seconds_until_gone(cluster, claim) <= 120


def test_a_node_that_is_not_ready_goes_without_a_drain() -> None:
    cluster, claim = with_one_machine()
    cluster.add_budget("api", minAvailable=1)

    def fail(obj: Obj) -> None:
        obj["status"]["conditions"][0]["status"] = "Unknown"

    cluster.store.modify(NODES, "", claim["status"]["nodeName"], fail, "status")
    cluster.delete(claim)
    assert seconds_until_gone(cluster, claim) == 0


@pytest.mark.parametrize("lifetime", ["1h", "26h"])
def test_a_claim_expires_at_its_own_age(lifetime: str) -> None:
    cluster, claim = with_one_machine(expireAfter=lifetime)
    cluster.change_pool(lambda it: it["spec"]["disruption"].update(budgets=[{"nodes": "0"}]))
    # Another lifetime of the pool is for claims to come.
    cluster.change_pool(lambda it: it["spec"]["template"]["spec"].update(expireAfter="10m"))
    hours = int(lifetime.removesuffix("h"))
    cluster.until(lambda: is_terminating(cluster.claim(claim)), timedelta(hours=30))
    assert cluster.elapsed() == 1 + hours * 3600


def test_a_deleted_pool_takes_its_machines_along() -> None:
    cluster, claim = with_one_machine()
    cluster.store.delete(NODEPOOLS, "", "api")
    cluster.until(lambda: not cluster.claims())
    assert cluster.store.all(NODECLAIMS) == []
    assert cluster.nodes() == []
    assert not cluster.is_there(claim)


def test_karpenter_goes_on_where_it_was_after_a_restart() -> None:
    cluster, claim = with_one_machine()
    cluster.add_budget("api", minAvailable=1)
    cluster.delete(claim)
    cluster.run(timedelta(seconds=30))
    cluster.restart_karpenter()
    cluster.set_budget("api", minAvailable=0)
    assert seconds_until_gone(cluster, claim) <= 10 + 1 + 1 + 2
