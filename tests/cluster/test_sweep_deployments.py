"""The sweep for uninstalling, on Deployments: the graceful drain's annotations go, no more."""

from __future__ import annotations

import copy
from datetime import UTC, datetime

import pytest

from hooks.cluster.broom import Change, Failure
from hooks.cluster.connection import Connection
from hooks.cluster.sweep import Swept, sweep_all, sweep_stale
from tests.cluster.interference import forbidding, moving
from tests.cluster.standin import NOT_SERVED, Reply, Seen, StandIn
from tests.cluster.things import (
    DEPLOYMENTS,
    DRAIN,
    FROZEN,
    NODES,
    deployment,
    deployments_of,
    drain,
    node,
)

NAMESPACE = "node-rotation-system"
NOW = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)
SINCE = "2026-11-29T21:59:00Z"

LIVE = f"{deployments_of('shop')}/web"
DONE = f"{deployments_of('lab')}/web"
REPLICASETS = "/apis/apps/v1/namespaces/shop/replicasets"
KEPT = deployment("shop", "kept", drain(rollout_timeout="25m"), restarted_at=SINCE)

FROM_LIVE = Change(
    "Deployment",
    "web",
    "shop",
    (DRAIN + "last-pod-uid", DRAIN + "restarted-at", DRAIN + "rolled-for"),
)
FROM_DONE = Change("Deployment", "web", "lab", (DRAIN + "last-pod-uid",))
NO = "the API server refused it (403): no"


@pytest.fixture
def drained(server: StandIn) -> StandIn:
    """A rollout is under way in one namespace; in another one it was long ago."""
    live = drain(restarted_at=SINCE, rolled_for=SINCE, last_pod_uid="u", rollout_timeout="25m")
    server.put(
        deployments_of("shop"),
        deployment("shop", "web", {"own": "1", **live}, restarted_at=SINCE),
        KEPT,
        deployment("shop", "plain"),
    )
    server.put(deployments_of("lab"), deployment("lab", "web", drain(last_pod_uid="v")))
    return server


def test_only_what_the_drain_itself_wrote_goes_and_no_template_changes(
    drained: StandIn, connection: Connection
) -> None:
    before = copy.deepcopy(drained.objects)
    assert sweep_all(connection, NAMESPACE) == Swept((FROM_LIVE, FROM_DONE))
    assert drained.writes() == [("PATCH", LIVE), ("PATCH", DONE)]
    for path, left in ((LIVE, {"own": "1", **drain(rollout_timeout="25m")}), (DONE, {})):
        before[path]["metadata"]["annotations"] = left
        before[path]["metadata"]["resourceVersion"] = drained.objects[path]["metadata"][
            "resourceVersion"
        ]
    assert drained.objects == before


def test_every_patch_tests_the_version(drained: StandIn, connection: Connection) -> None:
    version = drained.objects[DONE]["metadata"]["resourceVersion"]
    sweep_all(connection, NAMESPACE)
    (patch,) = [seen.body for seen in drained.seen if (seen.method, seen.path) == ("PATCH", DONE)]
    assert patch == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "remove", "path": "/metadata/annotations/graceful-drain.stonal.com~1last-pod-uid"},
    ]


def test_a_long_list_comes_page_by_page(drained: StandIn, connection: Connection) -> None:
    drained.page = 2
    assert sweep_all(connection, NAMESPACE) == Swept((FROM_LIVE, FROM_DONE))
    pages = [seen.query for seen in drained.seen if seen.path == DEPLOYMENTS]
    assert pages == [{"limit": "500"}, {"limit": "500", "continue": "2"}]


def test_a_dry_run_tells_the_same_and_writes_nothing(
    drained: StandIn, connection: Connection
) -> None:
    assert sweep_all(connection, NAMESPACE, dry_run=True) == Swept((FROM_LIVE, FROM_DONE))
    assert drained.writes() == []


def test_a_second_sweep_has_nothing_to_do(drained: StandIn, connection: Connection) -> None:
    sweep_all(connection, NAMESPACE)
    drained.seen.clear()
    assert sweep_all(connection, NAMESPACE) == Swept()
    assert drained.writes() == []


def test_a_status_that_moves_meanwhile_is_patched_around(
    drained: StandIn, connection: Connection
) -> None:
    drained.rules.append(moving(drained, LIVE, times=3))
    assert sweep_all(connection, NAMESPACE) == Swept((FROM_LIVE, FROM_DONE))


def test_after_four_conflicts_it_is_left_and_said(drained: StandIn, connection: Connection) -> None:
    drained.rules.append(moving(drained, LIVE, times=4))
    swept = sweep_all(connection, NAMESPACE)
    assert swept.changes == (FROM_DONE,)
    assert [(one.kind, one.namespace, one.name) for one in swept.failures] == [
        ("Deployment", "shop", "web")
    ]


def test_one_that_may_not_be_patched_stops_nothing(
    drained: StandIn, connection: Connection
) -> None:
    drained.rules.append(forbidding("PATCH", LIVE))
    assert sweep_all(connection, NAMESPACE) == Swept(
        (FROM_DONE,), (Failure("Deployment", "web", NO, "shop"),)
    )


def test_one_that_is_gone_by_then_is_no_failure(drained: StandIn, connection: Connection) -> None:
    def vanish(seen: Seen) -> None:
        if seen.method == "PATCH":
            drained.objects.pop(LIVE, None)

    drained.rules.append(vanish)
    assert sweep_all(connection, NAMESPACE) == Swept((FROM_DONE,))


def test_without_the_right_to_list_them_the_rest_is_swept(
    drained: StandIn, connection: Connection
) -> None:
    drained.put(NODES, node("old", FROZEN, surge_for="old-1"))
    drained.rules.append(forbidding("GET", DEPLOYMENTS))
    swept = sweep_all(connection, NAMESPACE)
    assert [(one.kind, one.name) for one in swept.changes] == [("Node", "old")]
    assert swept.failures == (Failure("Deployment", "*", NO),)


def test_a_server_without_deployments_is_no_reason_to_call_it_done(
    drained: StandIn, connection: Connection
) -> None:
    def unserved(seen: Seen) -> Reply | None:
        return NOT_SERVED if seen.path == DEPLOYMENTS else None

    drained.put(NODES, node("old", FROZEN, surge_for="old-1"))
    drained.rules.append(unserved)
    swept = sweep_all(connection, NAMESPACE)
    assert [(one.kind, one.name) for one in swept.changes] == [("Node", "old")]
    assert swept.failures == (
        Failure(
            "Deployment",
            "*",
            f"the API server does not serve {DEPLOYMENTS}: 404 page not found",
        ),
    )


def test_the_copies_on_replicasets_go_after_what_they_are_copied_from(
    drained: StandIn, connection: Connection
) -> None:
    copied = drain(restarted_at=SINCE, last_pod_uid="u", rollout_timeout="25m")
    drained.put(
        REPLICASETS, deployment("shop", "web-1", {"own": "1", **copied}, restarted_at=SINCE)
    )
    drained.put(REPLICASETS, deployment("shop", "web-2", {"own": "2"}))
    before = copy.deepcopy(drained.objects[f"{REPLICASETS}/web-1"])
    keys = (DRAIN + "last-pod-uid", DRAIN + "restarted-at")
    from_copy = Change("ReplicaSet", "web-1", "shop", keys)
    assert sweep_all(connection, NAMESPACE) == Swept((FROM_LIVE, FROM_DONE, from_copy))
    assert drained.writes() == [
        ("PATCH", LIVE),
        ("PATCH", DONE),
        ("PATCH", f"{REPLICASETS}/web-1"),
    ]
    after = drained.objects[f"{REPLICASETS}/web-1"]
    before["metadata"]["annotations"] = {"own": "1", **drain(rollout_timeout="25m")}
    before["metadata"]["resourceVersion"] = after["metadata"]["resourceVersion"]
    assert after == before


def test_the_sweep_at_the_start_asks_for_no_deployment(
    drained: StandIn, connection: Connection
) -> None:
    before = copy.deepcopy(drained.objects)
    assert sweep_stale(connection, NAMESPACE, NOW) == Swept()
    assert [seen.path for seen in drained.seen if seen.path.startswith("/apis/apps/")] == []
    assert drained.objects == before
