"""Live reads become values of the rotation's vocabulary, or an error that names the object."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hooks.cluster.connection import Connection
from hooks.cluster.errors import Unavailable, Unreadable
from hooks.cluster.reader import LiveReader
from hooks.cluster.verbs import Verbs
from hooks.rotation.model import Budget, ClaimState
from hooks.rotation.reader import Reader, Unanswered
from tests.cluster.standin import LONG, Reply, StandIn, status_of

POOLS = "/apis/karpenter.sh/v1/nodepools"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
OURS = "/api/v1/namespaces/node-rotation-system/pods"


@pytest.fixture
def reader(connection: Connection) -> Reader:
    return LiveReader(Verbs(connection), "node-rotation-system")


def thing(name: str, **metadata: object) -> dict[str, Any]:
    return {"metadata": {"name": name, "creationTimestamp": "2026-11-01T00:00:00Z", **metadata}}


def test_what_is_there_is_read(server: StandIn, reader: Reader) -> None:
    server.put(POOLS, thing("api", annotations={"noderotation.io/active-rotation": "api-1"}))
    server.put(CLAIMS, thing("api-1", annotations={"noderotation.io/state": "draining"}))
    server.put(NODES, {**thing("n1"), "spec": {"unschedulable": True}})
    server.put(PODS, {**thing("p1", namespace="x"), "spec": {"nodeName": "n1"}})
    server.put(OURS, {**thing("noderotation-surge-api-1"), "status": {"phase": "Running"}})
    pool, claim, node = reader.pool("api"), reader.claim("api-1"), reader.node("n1")
    pod = reader.placeholder("noderotation-surge-api-1")
    assert pool is not None
    assert pool.anchor == "api-1"
    assert claim is not None
    assert (claim.state, claim.uid, claim.resource_version) == (
        ClaimState.DRAINING,
        "uid-api-1",
        server.objects[f"{CLAIMS}/api-1"]["metadata"]["resourceVersion"],
    )
    assert node is not None
    assert node.unschedulable
    assert pod is not None
    assert pod.phase == "Running"
    assert [(pod.namespace, pod.name, pod.node_name) for pod in reader.pods_on("n1")] == [
        ("x", "p1", "n1")
    ]


def test_budgets_are_read(server: StandIn, reader: Reader) -> None:
    assert reader.budgets() == ()
    server.put(BUDGETS, {**thing("web", namespace="x"), "status": {"disruptionsAllowed": 2}})
    assert reader.budgets() == (Budget(name="web", namespace="x", allowed=2),)


def test_a_right_that_is_missing_is_no_answer(server: StandIn, reader: Reader) -> None:
    # So the line of a stuck drain says that much, under a ClusterRole from before that right.
    server.rules.append(lambda _: status_of(403, "Forbidden"))
    with pytest.raises(Unanswered):
        reader.budgets()


def test_what_is_only_told_takes_a_moment_at_most(server: StandIn, reader: Reader) -> None:
    server.rules.append(lambda _: Reply(200, {"items": []}, wait=LONG))
    begun = time.monotonic()
    brief = reader.briefly()
    with pytest.raises(Unavailable):
        brief.budgets()
    with pytest.raises(Unanswered):
        brief.pods_on("n1")
    assert 1.5 < time.monotonic() - begun < LONG / 2
    # The moment is one for all: after it nothing is sent.
    assert [seen.path for seen in server.seen] == [BUDGETS]


def test_what_is_not_there_is_none(reader: Reader) -> None:
    assert (reader.pool("a"), reader.claim("a"), reader.node("a"), reader.placeholder("a")) == (
        None,
        None,
        None,
        None,
    )
    assert reader.pods_on("a") == ()


def test_nothing_is_kept(server: StandIn, reader: Reader) -> None:
    server.put(NODES, thing("n1"))
    assert reader.node("n1") is not None
    server.objects.clear()
    assert reader.node("n1") is None


def test_an_object_of_another_shape_is_named(server: StandIn, reader: Reader) -> None:
    server.rules.append(lambda _: Reply(200, {"metadata": {"name": 7}}))
    for read, what in (
        (reader.pool, "NodePool x"),
        (reader.claim, "NodeClaim x"),
        (reader.node, "Node x"),
        (reader.placeholder, "Pod x"),
    ):
        with pytest.raises(Unreadable, match=f"^{what} can't be read: metadata"):
            read("x")
    server.rules[:] = [lambda _: Reply(200, {"items": [{"metadata": {"name": 7}}]})]
    with pytest.raises(Unreadable, match=r"^a Pod on Node n1 can't be read: metadata"):
        reader.pods_on("n1")
    with pytest.raises(Unreadable, match=r"^a PodDisruptionBudget can't be read: metadata"):
        reader.budgets()


def test_a_cluster_that_is_away_is_an_error(server: StandIn, reader: Reader) -> None:
    server.rules.append(lambda _: Reply(503, b"no"))
    with pytest.raises(Unavailable):
        reader.claim("x")
