"""The cluster as an operator's commands see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.cluster.errors import Conflict, NotConfigured, NotFound, NotServed
from hooks.cluster.operator import OperatorCluster
from tests.cluster.interference import annotations_of, moving
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import StandIn
from tests.cluster.things import CLAIMS, POOLS, Json, claim, ours, pool

POLICIES = "/apis/noderotation.io/v1alpha1/rotationpolicies"


@pytest.fixture
def cluster(server: StandIn, tmp_path: Path) -> Iterator[OperatorCluster]:
    with OperatorCluster(kubeconfig(tmp_path, server.url, {"token": "mine"})) as found:
        yield found


def test_lists(server: StandIn, cluster: OperatorCluster) -> None:
    server.put(POLICIES, {"metadata": {"name": "p"}})
    server.put(POOLS, pool("api"))
    server.put(CLAIMS, claim("api-1"))
    lists = [
        cluster.list_policies(),
        cluster.list_nodepools(),
        cluster.list_nodeclaims(),
        cluster.list_nodeclaims("api"),
    ]
    assert [[one["metadata"]["name"] for one in many] for many in lists] == [
        ["p"],
        ["api"],
        ["api-1"],
        ["api-1"],
    ]
    assert [(seen.path, seen.query.get("labelSelector")) for seen in server.seen] == [
        (POLICIES, None),
        (POOLS, None),
        (CLAIMS, None),
        (CLAIMS, "karpenter.sh/nodepool=api"),
    ]
    assert {seen.headers["Authorization"] for seen in server.seen} == {"Bearer mine"}


def test_a_kind_that_is_not_installed_is_named(server: StandIn, cluster: OperatorCluster) -> None:
    del server.collections[POLICIES]
    with pytest.raises(NotServed) as raised:
        cluster.list_policies()
    assert str(raised.value) == (
        "the cluster does not serve rotationpolicies of noderotation.io/v1alpha1"
    )


def test_one_object(server: StandIn, cluster: OperatorCluster) -> None:
    server.put(POOLS, pool("api"))
    server.put(CLAIMS, claim("api-1"))
    found = cluster.get_nodeclaim("api-1")
    assert found is not None
    assert found["metadata"]["name"] == "api-1"
    assert cluster.get_nodeclaim("gone") is None
    assert cluster.get_nodepool("api")["metadata"]["name"] == "api"
    with pytest.raises(NotFound):
        cluster.get_nodepool("gone")


def test_a_change_is_computed_again_when_somebody_was_faster(
    server: StandIn, cluster: OperatorCluster
) -> None:
    server.put(POOLS, pool("api", ours(due_before="t", freeze="f")))
    seen: list[str] = []

    def wanted(live: Json) -> dict[str, str | None]:
        seen.append(live["metadata"]["resourceVersion"])
        return {"noderotation.io/due-before": None, "noderotation.io/abort": "api-1"}

    server.rules.append(moving(server, f"{POOLS}/api", times=3))
    cluster.annotate_nodepool("api", wanted)
    assert seen == ["101", "1010", "10100", "101000"]
    assert annotations_of(server, f"{POOLS}/api") == ours(freeze="f", abort="api-1")


def test_in_the_end_a_conflict_is_an_error(server: StandIn, cluster: OperatorCluster) -> None:
    server.put(CLAIMS, claim("api-1"))
    server.rules.append(moving(server, f"{CLAIMS}/api-1", times=4))
    with pytest.raises(Conflict):
        cluster.annotate_nodeclaim("api-1", lambda _: {"noderotation.io/due": "true"})


def test_nothing_to_change_writes_nothing(server: StandIn, cluster: OperatorCluster) -> None:
    server.put(CLAIMS, claim("api-1"))
    cluster.annotate_nodeclaim("api-1", lambda _: {"noderotation.io/due": None})
    assert server.writes() == []


def test_without_a_kubeconfig_there_is_one_clear_line() -> None:
    with pytest.raises(NotConfigured, match="there is no kubeconfig at /nowhere"):
        OperatorCluster("/nowhere")
