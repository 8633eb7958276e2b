"""The verbs of a graceful drain, as they go over the wire."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.connection import Connection
from hooks.cluster.drain import DrainApi, DrainVerbs, event_body, send
from hooks.cluster.errors import Conflict, NotFound, OutOfTime, Refused
from hooks.drain.model import Deployment
from hooks.drain.writes import announcement, patch
from tests.cluster.standin import StandIn, status_of

PODS = "/api/v1/namespaces/shop/pods"
SETS = "/apis/apps/v1/namespaces/shop/replicasets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"
EVENTS = "/apis/events.k8s.io/v1/namespaces/shop/events"
EVENT = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}}


@pytest.fixture
def verbs(server: StandIn, connection: Connection) -> DrainVerbs:
    server.collections |= {
        PODS: "Pod", SETS: "ReplicaSet", DEPLOYMENTS: "Deployment", EVENTS: "Event",
    }  # fmt: skip
    return DrainVerbs(connection)


def test_these_verbs_and_no_others() -> None:
    public = {name for name, _ in inspect.getmembers(DrainVerbs) if not name.startswith("_")}
    assert public == {
        "briefly",
        "connection",
        "create_event",
        "get_deployment",
        "get_pod",
        "get_replicaset",
        "patch_deployment",
        "within",
    }


def test_they_are_the_port_that_hooks_use(verbs: DrainVerbs) -> None:
    api: DrainApi = verbs
    assert api.within(math.inf) == verbs
    at = replace(verbs, connection=replace(verbs.connection, clock=lambda: 100.0))
    assert at.briefly(2.0).connection.deadline == 102.0
    assert at.within(101.0).briefly(2.0).connection.deadline == 101.0


def test_one_object_each(server: StandIn, verbs: DrainVerbs) -> None:
    server.put(PODS, {"metadata": {"name": "web-1-a"}})
    server.put(SETS, {"metadata": {"name": "web-1"}})
    server.put(DEPLOYMENTS, {"metadata": {"name": "web"}})
    found = [
        verbs.get_pod("shop", "web-1-a"),
        verbs.get_replicaset("shop", "web-1"),
        verbs.get_deployment("shop", "web"),
    ]
    assert [one and one["metadata"]["name"] for one in found] == ["web-1-a", "web-1", "web"]
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("GET", f"{PODS}/web-1-a"),
        ("GET", f"{SETS}/web-1"),
        ("GET", f"{DEPLOYMENTS}/web"),
    ]


@pytest.mark.parametrize(
    ("namespace", "name"),
    [("shop", "gone"), ("shop", ""), ("shop", ".."), ("shop", "a/b"), ("", "web"), ("a/b", "web")],
)
def test_what_does_not_exist_is_none(verbs: DrainVerbs, namespace: str, name: str) -> None:
    assert verbs.get_pod(namespace, name) is None
    assert verbs.get_replicaset(namespace, name) is None
    assert verbs.get_deployment(namespace, name) is None
    with pytest.raises(NotFound):
        verbs.patch_deployment(namespace, name, [])


def test_a_patch_that_is_lost_costs_one_call(server: StandIn, verbs: DrainVerbs) -> None:
    server.put(DEPLOYMENTS, {"metadata": {"name": "web", "resourceVersion": "5"}})
    ops: list[Json] = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "5"},
        {"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}},
    ]
    assert verbs.patch_deployment("shop", "web", ops)["metadata"]["annotations"] == {"a": "b"}
    with pytest.raises(Conflict):
        verbs.patch_deployment("shop", "web", ops)
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("PATCH", f"{DEPLOYMENTS}/web"),
        ("PATCH", f"{DEPLOYMENTS}/web"),
    ]


def test_a_patch_that_is_refused_is_no_conflict(server: StandIn, verbs: DrainVerbs) -> None:
    server.put(DEPLOYMENTS, {"metadata": {"name": "web"}})
    server.rules.append(lambda _: status_of(403, "Forbidden"))
    with pytest.raises(Refused):
        verbs.patch_deployment("shop", "web", [])


def test_an_event_lives_beside_its_deployment_and_is_created_once(
    server: StandIn, verbs: DrainVerbs
) -> None:
    assert [verbs.create_event("shop", EVENT), verbs.create_event("shop", EVENT)] == [True, False]
    assert server.writes() == [("POST", EVENTS), ("POST", EVENTS)]


def test_all_of_them_keep_the_deadline(server: StandIn, verbs: DrainVerbs) -> None:
    late = verbs.within(-math.inf)
    calls: list[Callable[[], object]] = [
        lambda: late.get_pod("shop", "a"),
        lambda: late.get_replicaset("shop", "a"),
        lambda: late.get_deployment("shop", "a"),
        lambda: late.patch_deployment("shop", "a", []),
        lambda: late.create_event("shop", EVENT),
    ]
    for call in calls:
        with pytest.raises(OutOfTime):
            call()
    assert server.seen == []


NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)
WEB = Deployment("shop", "web", "uid-web", resource_version="5")


def test_a_patch_is_computed_on_what_was_observed(server: StandIn, verbs: DrainVerbs) -> None:
    observed = {"metadata": {"name": "web", "resourceVersion": "5", "annotations": {"a": "b"}}}
    server.put(DEPLOYMENTS, observed)
    send(verbs, patch(WEB, ("d/since", "t1"), ("a", None), ("gone", None)), observed)
    (seen,) = server.seen
    assert seen.body == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "5"},
        {"op": "add", "path": "/metadata/annotations/d~1since", "value": "t1"},
        {"op": "remove", "path": "/metadata/annotations/a"},
    ]
    with pytest.raises(Conflict):
        send(verbs, patch(WEB, ("d/since", "t2")), observed)


def test_a_patch_that_changes_nothing_is_not_sent(server: StandIn, verbs: DrainVerbs) -> None:
    observed = {"metadata": {"name": "web", "resourceVersion": "5", "annotations": {"a": "b"}}}
    send(verbs, patch(WEB, ("a", "b"), ("gone", None)), observed)
    assert server.seen == []


@pytest.mark.parametrize("reason", names.DRAIN_EVENTS)
def test_an_event_tells_of_its_deployment(reason: str) -> None:
    told = announcement(WEB, reason, "key", "é" * 600, NOW)
    assert event_body(told) == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": told.name, "namespace": "shop"},
        "eventTime": "2026-11-29T20:00:00.000000Z",
        "reportingController": "noderotation.io/hooks",
        "reportingInstance": "graceful-drain",
        "action": "Drain",
        "reason": reason,
        "type": names.DRAIN_EVENTS[reason],
        "regarding": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "namespace": "shop",
            "name": "web",
            "uid": "uid-web",
        },
        "note": "é" * 500,
    }
