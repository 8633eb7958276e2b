"""A NodePool's own state."""

from __future__ import annotations

from datetime import timedelta

from hooks.sandbox.objects import annotations_of
from hooks.sandbox.store.kinds import KWOKNODECLASSES, NODEPOOLS
from tests.sandbox.karpenter.cluster import Cluster, said, within


def hash_of(cluster: Cluster) -> str:
    return annotations_of(cluster.store.get(NODEPOOLS, "", "api"))["karpenter.sh/nodepool-hash"]


def test_what_was_left_out_gets_karpenters_defaults() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.change_pool(lambda it: it["spec"].pop("disruption"))
    cluster.change_pool(lambda it: it["spec"]["template"]["spec"].pop("expireAfter"))
    cluster.settle()
    spec = cluster.store.get(NODEPOOLS, "", "api")["spec"]
    assert spec["disruption"] == {
        "budgets": [{"nodes": "10%"}],
        "consolidateAfter": "0s",
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
    }
    assert spec["template"]["spec"]["expireAfter"] == "720h"


def test_the_hash_is_that_of_the_template_without_its_requirements() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.settle()
    first = hash_of(cluster)
    cluster.change_pool(lambda it: it["spec"].update(weight=7, limits={"cpu": "8"}))
    zone = within("topology.kubernetes.io/zone", "test-zone-a")
    cluster.change_pool(lambda it: it["spec"]["template"]["spec"]["requirements"].append(zone))
    cluster.change_pool(lambda it: it["spec"]["template"]["spec"].update(taints=[]))
    cluster.settle()
    assert hash_of(cluster) == first
    cluster.change_pool(
        lambda it: it["spec"]["template"]["spec"].update(terminationGracePeriod="1h")
    )
    cluster.settle()
    second = hash_of(cluster)
    assert second != first
    cluster.change_pool(
        lambda it: it["spec"]["template"]["spec"].update(terminationGracePeriod="60m")
    )
    cluster.settle()
    assert hash_of(cluster) == second


def test_machines_are_counted_every_five_seconds_and_leaving_ones_no_more() -> None:
    cluster = Cluster()
    cluster.add_pool()

    def nodes() -> int:
        return int(cluster.store.get(NODEPOOLS, "", "api")["status"]["nodes"])

    cluster.settle()
    assert nodes() == 0
    cluster.add_deployment("api", 2)
    cluster.run(timedelta(seconds=4))
    # They are launched after two seconds.
    assert (len(cluster.claims()), nodes()) == (2, 0)
    cluster.run(timedelta(seconds=1))
    assert nodes() == 2
    status = cluster.store.get(NODEPOOLS, "", "api")["status"]
    assert status["resources"] == {
        "cpu": "6",
        "ephemeral-storage": "0",
        "memory": "2Gi",
        "nodes": "2",
        "pods": "2",
    }
    cluster.run(timedelta(seconds=55))
    cluster.add_budget("api", minAvailable=2)
    cluster.delete(cluster.claims()[0])
    cluster.run(timedelta(seconds=20))
    assert (len(cluster.claims()), nodes()) == (3, 2)


def test_a_class_that_is_not_ready_or_going_makes_the_pool_unready() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.settle()

    def ready() -> str:
        cluster.settle()
        return said(cluster.store.get(NODEPOOLS, "", "api"))["Ready"]

    assert ready() == "True"
    broken = [{"type": "Ready", "status": "False", "reason": "Broken", "message": "it is"}]
    cluster.store.modify(
        KWOKNODECLASSES,
        "",
        "default",
        lambda it: it.update(status={"conditions": broken}),
        "status",
    )
    assert ready() == "False"
    cluster.store.modify(KWOKNODECLASSES, "", "default", lambda it: it.pop("status"), "status")
    assert ready() == "True"
    cluster.store.modify(
        KWOKNODECLASSES, "", "default", lambda it: it["metadata"].update(finalizers=["a/b"])
    )
    cluster.store.delete(KWOKNODECLASSES, "", "default")
    assert ready() == "False"


def test_a_requirement_on_the_pools_own_label_is_refused() -> None:
    cluster = Cluster()
    cluster.add_pool(requirements=[within("karpenter.sh/nodepool", "api")])
    cluster.settle()
    assert said(cluster.store.get(NODEPOOLS, "", "api"))["ValidationSucceeded"] == "False"


def test_a_calm_cluster_writes_nothing() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_daemon_set("agent")
    cluster.add_deployment("api", 3)
    cluster.until(lambda: cluster.is_calm(3))
    cluster.run(timedelta(minutes=1))
    before = cluster.store.revision
    cluster.run(timedelta(hours=10))
    assert cluster.store.revision == before
