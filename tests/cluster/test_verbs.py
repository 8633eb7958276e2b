"""The verbs of a pass, as they go over the wire."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from hooks.cluster.answers import Json
from hooks.cluster.connection import Connection
from hooks.cluster.errors import ClusterError, Conflict, NotFound, NotServed, OutOfTime, Refused
from hooks.cluster.verbs import Api, Verbs
from tests.cluster.standin import NOT_SERVED, StandIn, status_of

POOLS = "/apis/karpenter.sh/v1/nodepools"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
OURS = "/api/v1/namespaces/node-rotation-system/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
EVENT = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}}


@pytest.fixture
def verbs(connection: Connection) -> Verbs:
    return Verbs(connection)


def test_these_verbs_and_no_others() -> None:
    public = {name for name, _ in inspect.getmembers(Verbs) if not name.startswith("_")}
    assert public == {
        "briefly",
        "connection",
        "create_event",
        "delete_nodeclaim",
        "get_node",
        "get_nodeclaim",
        "get_nodepool",
        "get_pod",
        "list_poddisruptionbudgets",
        "list_pods_on",
        "patch_node",
        "patch_nodeclaim",
        "within",
    }


def test_they_are_the_port_that_passes_use(verbs: Verbs) -> None:
    api: Api = verbs
    assert api.within(math.inf) == Verbs(verbs.connection)


def test_one_object_each(server: StandIn, verbs: Verbs) -> None:
    server.put(POOLS, {"metadata": {"name": "api"}})
    server.put(CLAIMS, {"metadata": {"name": "api-1"}})
    server.put(NODES, {"metadata": {"name": "ip-10-0-0-1.internal"}})
    server.put(OURS, {"metadata": {"name": "noderotation-surge-api-1"}})
    found = [
        verbs.get_nodepool("api"),
        verbs.get_nodeclaim("api-1"),
        verbs.get_node("ip-10-0-0-1.internal"),
        verbs.get_pod("node-rotation-system", "noderotation-surge-api-1"),
    ]
    assert [one and one["metadata"]["name"] for one in found] == [
        "api",
        "api-1",
        "ip-10-0-0-1.internal",
        "noderotation-surge-api-1",
    ]
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("GET", f"{POOLS}/api"),
        ("GET", f"{CLAIMS}/api-1"),
        ("GET", f"{NODES}/ip-10-0-0-1.internal"),
        ("GET", f"{OURS}/noderotation-surge-api-1"),
    ]


@pytest.mark.parametrize("name", ["gone", "", "..", "a/b"])
def test_what_does_not_exist_is_none(verbs: Verbs, name: str) -> None:
    assert verbs.get_nodepool(name) is None
    assert verbs.get_nodeclaim(name) is None
    assert verbs.get_node(name) is None
    assert verbs.get_pod("node-rotation-system", name) is None


def test_a_kind_that_is_not_served_is_not_gone(server: StandIn, verbs: Verbs) -> None:
    # While Karpenter's CRDs are away, no claim may pass for replaced.
    server.rules.append(lambda _: NOT_SERVED)
    with pytest.raises(NotServed):
        verbs.get_nodeclaim("api-1")
    server.rules[:] = [lambda _: status_of(404, "NotFound")]
    with pytest.raises(NotServed):
        verbs.get_nodeclaim("api-1")


def test_a_forbidden_read_is_not_gone(server: StandIn, verbs: Verbs) -> None:
    server.rules.append(lambda _: status_of(403, "Forbidden", name="api-1"))
    with pytest.raises(Refused):
        verbs.get_nodeclaim("api-1")


def test_the_pods_of_one_node_come_from_every_namespace(server: StandIn, verbs: Verbs) -> None:
    for name, node in (("a", "n,x=1"), ("b", "n,x=1"), ("elsewhere", "n")):
        server.put(PODS, {"metadata": {"name": name}, "spec": {"nodeName": node}})
    assert [pod["metadata"]["name"] for pod in verbs.list_pods_on("n,x=1")] == ["a", "b"]
    (seen,) = server.seen
    assert (seen.path, seen.query) == (
        PODS,
        {"fieldSelector": r"spec.nodeName=n\,x\=1", "limit": "500"},
    )


def test_the_budgets_come_from_every_namespace(server: StandIn, verbs: Verbs) -> None:
    server.page = 1
    server.put(BUDGETS, {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}})
    assert [each["metadata"]["name"] for each in verbs.list_poddisruptionbudgets()] == ["a", "b"]
    assert [(seen.path, seen.query) for seen in server.seen] == [
        (BUDGETS, {"limit": "500"}),
        (BUDGETS, {"limit": "500", "continue": "1"}),
    ]


def test_briefly_is_a_nearer_deadline_never_a_later_one(verbs: Verbs) -> None:
    at = replace(verbs, connection=replace(verbs.connection, clock=lambda: 100.0))
    assert at.briefly(2.0).connection.deadline == 102.0
    assert at.within(101.0).briefly(2.0).connection.deadline == 101.0


def test_no_node_has_no_pods(server: StandIn, verbs: Verbs) -> None:
    # An empty field value would select all Pods that wait for a node.
    server.put(PODS, {"metadata": {"name": "pending"}})
    assert verbs.list_pods_on("") == []
    assert server.seen == []


def test_patches(server: StandIn, verbs: Verbs) -> None:
    server.put(CLAIMS, {"metadata": {"name": "api-1", "resourceVersion": "5"}})
    server.put(NODES, {"metadata": {"name": "n1", "resourceVersion": "5"}})
    ops: list[Json] = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "5"},
        {
            "op": "add",
            "path": "/metadata/annotations",
            "value": {"noderotation.io/state": "pending"},
        },
    ]
    for patched in (verbs.patch_nodeclaim("api-1", ops), verbs.patch_node("n1", ops)):
        assert patched["metadata"]["annotations"] == {"noderotation.io/state": "pending"}
    assert server.writes() == [("PATCH", f"{CLAIMS}/api-1"), ("PATCH", f"{NODES}/n1")]
    with pytest.raises(Conflict):
        verbs.patch_nodeclaim("api-1", ops)
    with pytest.raises(Conflict):
        verbs.patch_node("n1", ops)
    for gone in ("gone", "", "..", "a/b"):
        with pytest.raises(NotFound):
            verbs.patch_node(gone, ops)
        with pytest.raises(NotFound):
            verbs.patch_nodeclaim(gone, ops)


def test_a_delete_is_of_one_claim_as_it_was_read(server: StandIn, verbs: Verbs) -> None:
    server.put(CLAIMS, {"metadata": {"name": "api-1", "uid": "u1", "resourceVersion": "5"}})
    with pytest.raises(Conflict):
        verbs.delete_nodeclaim("api-1", uid="u1", resource_version="4")
    with pytest.raises(Conflict):
        verbs.delete_nodeclaim("api-1", uid="u0", resource_version="5")
    verbs.delete_nodeclaim("api-1", uid="u1", resource_version="5")
    with pytest.raises(NotFound):
        verbs.delete_nodeclaim("api-1", uid="u1", resource_version="5")
    assert server.seen[2].body["preconditions"] == {"uid": "u1", "resourceVersion": "5"}


@pytest.mark.parametrize("name", ["", ".", "..", "a/b"])
def test_a_delete_without_a_name_never_leaves(server: StandIn, verbs: Verbs, name: str) -> None:
    # DELETE on the collection, with a trailing slash or without, would delete every claim.
    with pytest.raises(NotFound):
        verbs.delete_nodeclaim(name, uid="u", resource_version="1")
    assert server.seen == []


def test_an_event_is_created_once(server: StandIn, verbs: Verbs) -> None:
    assert [verbs.create_event("default", EVENT), verbs.create_event("default", EVENT)] == [
        True,
        False,
    ]
    assert server.writes() == [("POST", EVENTS), ("POST", EVENTS)]
    assert server.seen[0].body == EVENT
    server.rules.append(lambda _: status_of(403, "Forbidden"))
    with pytest.raises(Refused):
        verbs.create_event("default", EVENT)


def test_all_of_them_keep_the_deadline(server: StandIn, verbs: Verbs) -> None:
    late = verbs.within(-math.inf)
    calls: list[Callable[[], object]] = [
        lambda: late.get_nodepool("a"),
        lambda: late.get_nodeclaim("a"),
        lambda: late.get_node("a"),
        lambda: late.get_pod("b", "a"),
        lambda: late.list_pods_on("a"),
        lambda: late.patch_nodeclaim("a", []),
        lambda: late.patch_node("a", []),
        lambda: late.delete_nodeclaim("a", uid="u", resource_version="1"),
        lambda: late.create_event("default", EVENT),
    ]
    for call in calls:
        with pytest.raises(OutOfTime):
            call()
    assert server.seen == []


def test_every_error_is_of_one_family() -> None:
    assert all(issubclass(error, ClusterError) for error in (Conflict, NotFound, OutOfTime))
