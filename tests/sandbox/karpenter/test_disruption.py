"""What Karpenter does of its own will: empty, drifted and dispensable machines."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from hooks.sandbox.objects import Obj, is_terminating, labels_of, name_of
from hooks.sandbox.store.kinds import NODES, PODS
from tests.sandbox.karpenter.cluster import START, Cluster, said, taints, within

CONSOLIDATE = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m"}
PROTECTED = {"karpenter.sh/do-not-disrupt": "true"}
ANY_SIZE = [
    within("kubernetes.io/arch", "amd64"),
    within("karpenter.sh/capacity-type", "on-demand"),
    within("kubernetes.io/os", "linux"),
]


def seconds_until_deleted(cluster: Cluster, claim: Obj) -> float:
    begun = cluster.elapsed()
    cluster.until(
        lambda: not cluster.is_there(claim) or is_terminating(cluster.claim(claim)),
        timedelta(hours=1),
    )
    return cluster.elapsed() - begun


def drift(cluster: Cluster) -> None:
    labels = {"workload": "api", "version": "2"}
    cluster.change_pool(lambda it: it["spec"]["template"]["metadata"].update(labels=labels))


def calm(pods: int, **pool: Any) -> Cluster:
    cluster = Cluster()
    cluster.add_pool(**pool)
    cluster.add_deployment("api", pods)
    cluster.until(lambda: cluster.is_calm(pods))
    return cluster


def test_an_empty_machine_is_deleted_a_while_after_its_last_pod_left() -> None:
    cluster = Cluster()
    cluster.add_pool(disruption={**CONSOLIDATE, "consolidationPolicy": "WhenEmpty"})
    pod = cluster.add_pod("api")
    cluster.until(lambda: cluster.is_calm(1))
    cluster.run(timedelta(minutes=10))
    (claim,) = cluster.claims()
    assert said(claim)["Consolidatable"] == "True"
    cluster.store.delete(PODS, "default", name_of(pod))
    # A minute, the next look of one each ten seconds, and a second look fifteen seconds later.
    assert 75 <= seconds_until_deleted(cluster, claim) <= 75 + 10
    cluster.run(timedelta(minutes=1))
    assert cluster.claims() == []


def half_empty(**disruption: object) -> Cluster:
    """Two machines, each with one Pod that would fit beside the other."""
    cluster = Cluster()
    cluster.add_pool(disruption={**CONSOLIDATE, **disruption})
    fillers = [cluster.add_pod(f"filler-{number}", cpu="2") for number in (1, 2)]
    cluster.add_deployment("api", 2, cpu="1500m")
    cluster.until(lambda: cluster.is_calm(2))
    for filler in fillers:
        cluster.store.delete(PODS, "default", name_of(filler))
    cluster.until(lambda: len(cluster.pods()) == 2)
    return cluster


def test_two_half_empty_machines_become_one() -> None:
    cluster = half_empty()
    before = {name_of(claim) for claim in cluster.claims()}
    cluster.run(timedelta(minutes=5))
    assert len(cluster.claims()) == 1
    assert {name_of(claim) for claim in cluster.claims()} < before
    assert cluster.all_run()


@pytest.mark.parametrize("by", ["nodes", "pods", "the pods' budget", "budget", "never", "policy"])
def test_a_machine_that_is_spoken_for_stays(by: str) -> None:
    disruption: dict[str, dict[str, object]] = {
        "budget": {"budgets": [{"nodes": "0"}]},
        "never": {"consolidateAfter": "Never"},
        "policy": {"consolidationPolicy": "WhenEmpty"},
    }
    cluster = half_empty(**disruption.get(by, {}))
    if by == "nodes":
        for node in cluster.nodes():
            cluster.annotate(NODES, node, **PROTECTED)
    if by == "pods":
        for pod in cluster.pods():
            cluster.annotate(PODS, pod, **PROTECTED)
    if by == "the pods' budget":
        cluster.add_budget("api", minAvailable=2)
    before = [name_of(claim) for claim in cluster.claims()]
    cluster.run(timedelta(minutes=20))
    assert [name_of(claim) for claim in cluster.claims()] == before


def test_three_machines_become_one_bigger_and_cheaper_one_at_once() -> None:
    cluster = Cluster()
    whole = {"budgets": [{"nodes": "100%"}]}
    cluster.add_pool(requirements=ANY_SIZE, disruption={**CONSOLIDATE, **whole})
    shun = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"alone": "yes"}},
    }
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [shun]}}
    for number in range(3):
        cluster.add_pod(f"p{number}", cpu="2500m", affinity=affinity)
        cluster.until(cluster.all_run)
        cluster.add_deployment(f"d{number}", 1, cpu="300m")
        cluster.until(cluster.all_run)
        cluster.run(timedelta(seconds=20))
    before = {name_of(claim) for claim in cluster.claims()}
    for number in range(3):
        cluster.store.delete(PODS, "default", f"p{number}")
    cluster.run(timedelta(minutes=10))
    after = {name_of(claim) for claim in cluster.claims()}
    assert (len(before), len(after), before & after) == (3, 1, set())
    assert cluster.all_run()


def test_nothing_is_moved_to_a_machine_that_pods_come_to_all_the_time() -> None:
    cluster = half_empty()
    busy = labels_of(cluster.nodes()[0])["kubernetes.io/hostname"]
    for number in range(20):
        name = f"visitor-{number}"
        cluster.add_pod(name, cpu="100m", nodeSelector={"kubernetes.io/hostname": busy})
        cluster.run(timedelta(seconds=20))
        cluster.store.delete(PODS, "default", name)
    assert len(cluster.claims()) == 2
    cluster.run(timedelta(minutes=5))
    assert len(cluster.claims()) == 1


def test_a_machine_is_replaced_by_a_cheaper_one_that_comes_first() -> None:
    cluster = Cluster()
    cluster.add_pool(requirements=ANY_SIZE, disruption=CONSOLIDATE)
    big = cluster.add_pod("big", cpu="7")
    cluster.until(lambda: cluster.is_calm(1))
    cluster.add_deployment("small", 1, cpu="500m")
    cluster.until(lambda: cluster.is_calm(1))
    (old,) = cluster.claims()
    cluster.store.delete(PODS, "default", name_of(big))
    seconds_until_deleted(cluster, old)
    new = next(claim for claim in cluster.claims() if name_of(claim) != name_of(old))
    assert said(new)["Initialized"] == "True"
    assert labels_of(new)["node.kubernetes.io/instance-type"] == "c-1x-amd64-linux"
    cluster.until(lambda: cluster.is_calm(1))
    assert name_of(cluster.claims()[0]) == name_of(new)


def test_a_drifted_machine_is_replaced_first_and_the_taint_comes_before_that() -> None:
    cluster = calm(2)
    drift(cluster)
    cluster.until(lambda: len(cluster.claims()) == 3)
    old = next(
        c
        for c in cluster.claims()
        if taints(cluster.node_of(c)) == ["karpenter.sh/disrupted:NoSchedule"]
    )
    assert (said(old)["Drifted"], said(old)["DisruptionReason"]) == ("True", "True")
    new = next(claim for claim in cluster.claims() if "version" in labels_of(claim))
    seconds_until_deleted(cluster, old)
    assert said(cluster.claim(new))["Initialized"] == "True"


def test_drifted_machines_are_replaced_one_after_the_other_until_none_is_left() -> None:
    cluster = calm(3)
    drift(cluster)
    most = 0

    def done() -> bool:
        nonlocal most
        going = [claim for claim in cluster.claims() if is_terminating(claim)]
        most = max(most, len(going))
        return cluster.is_calm(3) and all("version" in labels_of(c) for c in cluster.claims())

    cluster.until(done, timedelta(minutes=20))
    assert [labels_of(claim).get("version") for claim in cluster.claims()] == ["2", "2", "2"]
    assert most == 1


def test_drift_goes_past_a_budget_that_blocks_only_with_a_deadline() -> None:
    blocked = calm(1)
    blocked.add_budget("api", minAvailable=1)
    drift(blocked)
    blocked.run(timedelta(minutes=5))
    assert len(blocked.claims()) == 1
    ended = calm(1, terminationGracePeriod="10m")
    ended.add_budget("api", minAvailable=1)
    drift(ended)
    ended.run(timedelta(minutes=5))
    assert [is_terminating(claim) for claim in ended.claims()].count(True) == 1


def test_a_replacement_that_never_comes_is_waited_for_ten_minutes_and_all_is_undone() -> None:
    cluster = calm(1)
    cluster.delay_registration("2h")
    drift(cluster)
    cluster.until(lambda: len(cluster.claims()) == 2)
    old = next(claim for claim in cluster.claims() if "version" not in labels_of(claim))
    cluster.run(timedelta(minutes=9))
    assert taints(cluster.node_of(old)) == ["karpenter.sh/disrupted:NoSchedule"]
    cluster.until(lambda: taints(cluster.node_of(old)) == [], timedelta(minutes=2))
    assert not is_terminating(cluster.claim(old))


def test_a_disruption_that_a_restart_forgot_is_undone() -> None:
    cluster = calm(1)
    cluster.delay_registration("2h")
    drift(cluster)
    cluster.until(lambda: len(cluster.claims()) == 2)
    old = next(claim for claim in cluster.claims() if "version" not in labels_of(claim))
    cluster.change_pool(lambda it: it["spec"]["disruption"].update(budgets=[{"nodes": "0"}]))
    cluster.restart_karpenter()
    cluster.run(timedelta(seconds=20))
    assert taints(cluster.node_of(old)) == []
    assert "DisruptionReason" not in said(cluster.claim(old))


def test_a_drifted_machine_of_a_static_pool_is_replaced_first() -> None:
    cluster = Cluster()
    cluster.add_pool(replicas=2)
    cluster.add_daemon_set("agent")
    cluster.until(lambda: cluster.is_calm(2))
    drift(cluster)
    sizes: set[int] = set()

    def done() -> bool:
        ready = [c for c in cluster.claims() if said(c).get("Ready") == "True"]
        sizes.add(len([c for c in ready if not is_terminating(c)]))
        return len(ready) == 2 and all("version" in labels_of(c) for c in cluster.claims())

    cluster.until(done, timedelta(minutes=10))
    assert [labels_of(claim).get("version") for claim in cluster.claims()] == ["2", "2"]
    assert min(sizes) == 2


def test_a_budget_for_office_hours_delays_drift_until_they_are_over() -> None:
    cluster = calm(1)
    # It is Sunday, 19:52; the budget blocks for half an hour from eight.
    office = {"nodes": "0", "schedule": "52 19 * * *", "duration": "30m"}
    cluster.change_pool(lambda it: it["spec"]["disruption"].update(budgets=[office]))
    drift(cluster)
    cluster.until(lambda: len(cluster.claims()) > 1, timedelta(hours=2))
    assert (cluster.clock.now() - START) >= timedelta(minutes=30)
    assert (cluster.clock.now() - START) <= timedelta(minutes=31)
