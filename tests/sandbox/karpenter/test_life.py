"""From a NodeClaim to its Ready Node, or to its giving up."""

from __future__ import annotations

from datetime import timedelta

from hooks.sandbox.karpenter.instances import kwok_catalogue
from hooks.sandbox.objects import labels_of, name_of
from hooks.sandbox.store.kinds import NODEPOOLS, NODES
from tests.sandbox.karpenter.cluster import Cluster, said, taints

AGENT = {"key": "agent.example.com/starting", "effect": "NoSchedule"}


def test_each_stage_takes_its_time() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("api")
    seen: list[tuple[float, dict[str, str]]] = []

    def look() -> bool:
        for claim in cluster.claims():
            if not seen or seen[-1][1] != said(claim):
                seen.append((cluster.elapsed(), said(claim)))
        return cluster.is_calm(1)

    cluster.until(look)
    stages = {"Launched": "True", "Registered": "Unknown", "Initialized": "Unknown"}
    unready = {"Ready": "Unknown"}
    consistent = {"ConsistentStateFound": "True"}
    assert seen == [
        (1.0, {}),
        (2.0, stages | unready),
        (4.0, stages | consistent | {"Registered": "True"} | unready),
        (5.0, dict.fromkeys([*stages, *consistent, "Ready"], "True")),
    ]


def test_a_registered_node_has_its_pools_taints_until_the_startup_ones_are_gone() -> None:
    cluster = Cluster()
    cluster.add_pool(startupTaints=[AGENT])
    cluster.add_pod("api")
    cluster.run(timedelta(seconds=30))
    (claim,) = cluster.claims()
    (node,) = cluster.nodes()
    assert taints(node) == ["agent.example.com/starting:NoSchedule"]
    condition = next(c for c in claim["status"]["conditions"] if c["type"] == "Initialized")
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "Unknown",
        "StartupTaintsExist",
        'StartupTaint "agent.example.com/starting:NoSchedule" still exists',
    )
    # The Pod is expected there, so no second machine comes.
    cluster.run(timedelta(seconds=30))
    assert len(cluster.claims()) == 1
    cluster.store.modify(NODES, "", name_of(node), lambda it: it["spec"].pop("taints"))
    cluster.until(lambda: cluster.is_calm(1))
    assert said(cluster.claim(claim))["Initialized"] == "True"


def test_a_node_without_the_requested_resource_is_not_initialized() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("api")
    cluster.until(lambda: bool(cluster.nodes()))
    (node,) = cluster.nodes()

    def set_memory(amount: str) -> None:
        cluster.store.modify(
            NODES,
            "",
            name_of(node),
            lambda it: it["status"]["allocatable"].update(memory=amount),
            "status",
        )

    set_memory("0")
    cluster.run(timedelta(seconds=10))
    (claim,) = cluster.claims()
    condition = next(c for c in claim["status"]["conditions"] if c["type"] == "Initialized")
    assert (condition["reason"], condition["message"]) == (
        "ResourceNotRegistered",
        'Resource "memory" was requested but not registered',
    )
    set_memory("8182Mi")
    cluster.until(lambda: cluster.is_calm(1))
    assert said(cluster.claim(claim))["Initialized"] == "True"


def test_a_machine_that_never_registers_is_given_up_after_fifteen_minutes() -> None:
    cluster = Cluster()
    cluster.delay_registration("1h")
    cluster.add_pool()
    cluster.add_pod("api")
    cluster.run(timedelta(seconds=20))
    (claim,) = cluster.claims()
    cluster.until(lambda: not cluster.is_there(claim), timedelta(minutes=20))
    # Created after a second; two more seconds until its instance has ended.
    assert cluster.elapsed() == 1 + 15 * 60 + 2
    assert cluster.nodes() == []
    cluster.run(timedelta(seconds=30))
    assert len(cluster.claims()) == 1


def test_two_failed_registrations_are_told_on_the_pool() -> None:
    cluster = Cluster()
    cluster.delay_registration("1h")
    cluster.add_pool()
    cluster.add_pod("api")

    def health() -> str:
        return said(cluster.store.get(NODEPOOLS, "", "api"))["NodeRegistrationHealthy"]

    cluster.run(timedelta(minutes=20))
    assert health() == "Unknown"
    cluster.run(timedelta(minutes=15))
    assert health() == "False"
    # Another spec may well be a better one.
    cluster.change_pool(lambda it: it["spec"].update(weight=1))
    cluster.settle()
    assert health() == "Unknown"


def test_a_claim_that_nothing_can_be_had_for_is_deleted() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("api")
    cluster.run(timedelta(seconds=1))
    (claim,) = cluster.claims()
    types = (one.name for one in kwok_catalogue())
    cluster.karpenter.world.catalogue = kwok_catalogue().sold_out(*types)
    cluster.until(lambda: not cluster.is_there(claim))
    assert cluster.elapsed() == 2.0


def test_a_claim_deleted_before_its_node_came_leaves_nothing_behind() -> None:
    cluster = Cluster()
    cluster.add_pool()
    pod = cluster.add_pod("api")
    cluster.run(timedelta(seconds=3))
    (claim,) = cluster.claims()
    cluster.delete(claim)
    cluster.until(lambda: not cluster.is_there(claim))
    assert cluster.nodes() == []
    cluster.until(lambda: cluster.is_calm(1))
    assert cluster.host_of(name_of(pod)) != ""


def test_the_hostname_is_the_claims_name_and_the_owner_is_the_claim() -> None:
    cluster = Cluster()
    cluster.add_pool()
    cluster.add_pod("api")
    cluster.until(lambda: cluster.is_calm(1))
    (claim,), (node,) = cluster.claims(), cluster.nodes()
    assert labels_of(node)["kubernetes.io/hostname"] == name_of(claim)
    assert name_of(node).startswith(f"kwok-{name_of(claim)}-")
    assert node["spec"]["providerID"] == f"kwok://{name_of(node)}"
    (owner,) = node["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("NodeClaim", name_of(claim))


def test_the_same_seed_gives_the_same_names() -> None:
    def names() -> list[str]:
        cluster = Cluster()
        cluster.add_pool()
        cluster.add_deployment("api", 3)
        cluster.until(lambda: cluster.is_calm(3))
        return [name_of(obj) for obj in (*cluster.claims(), *cluster.nodes())]

    assert names() == names()
