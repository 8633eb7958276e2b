"""The sweep at the start: only what no anchor refers to goes."""

from __future__ import annotations

import copy
from datetime import UTC, datetime

import pytest

from hooks.cluster.broom import Change, Failure
from hooks.cluster.connection import Connection
from hooks.cluster.sweep import Swept, sweep_stale
from tests.cluster.interference import annotations_of, forbidding, moving
from tests.cluster.standin import Reply, Rule, Seen, StandIn, status_of
from tests.cluster.things import (
    CLAIMS,
    DO_NOT_DISRUPT,
    FROZEN,
    NODES,
    OURS,
    PODS,
    POOLS,
    claim,
    node,
    ours,
    placeholder,
    pool,
)

NAMESPACE = "node-rotation-system"
NOW = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)


def keys(*short: str) -> tuple[str, ...]:
    return tuple(OURS + one for one in short)


@pytest.fixture
def cluster(server: StandIn) -> StandIn:
    """One pool rotates api-1, and a dead rotation of old-1 left traces."""
    server.put(
        POOLS,
        pool("api", ours(active_rotation="api-1", active_rotation_uid="uid-api-1")),
        pool("batch", ours(active_rotation_state="draining", abort="x", last_failure_at="y")),
    )
    server.put(
        CLAIMS,
        claim("api-1", ours(state="pending", started_at="s")),
        claim("old-1", ours(state="pending", started_at="s", surge_claim="c", retry_count="2")),
        claim("old-2", ours(state="draining"), deletionTimestamp="2026-11-29T21:00:00Z"),
        claim("old-3", ours(state="failed", failed_at="f", retry_count="1")),
        claim("old-4", ours(state="expired")),
        claim("fresh"),
    )
    live = {DO_NOT_DISRUPT: "true", **ours(surge_for="api-1", do_not_disrupt_owned="true")}
    server.put(
        NODES,
        node("live", {**live, **ours(cordoned="true")}, surge_for="api-1", cordoned=True),
        node("stale", {**FROZEN, **ours(cordoned="true")}, surge_for="old-1", cordoned=True),
        node("operators", {DO_NOT_DISRUPT: "true", **ours(surge_for="old-1")}, cordoned=True),
        node("plain", {DO_NOT_DISRUPT: "true"}, cordoned=True),
    )
    server.put(
        PODS,
        placeholder("api-1"),
        placeholder("old-1"),
        placeholder("old-2", annotated=False),
        placeholder("old-3", deletionTimestamp="2026-11-29T21:59:59Z"),
        {"metadata": {"name": "noderotation-hooks-5d9"}},
    )
    return server


def test_at_the_start_only_what_no_anchor_refers_to_goes(
    cluster: StandIn, connection: Connection
) -> None:
    kept = {
        path: copy.deepcopy(thing)
        for path, thing in cluster.objects.items()
        if path.rpartition("/")[2]
        in {"api", "batch", "api-1", "old-2", "old-3", "old-4", "fresh", "live", "plain"}
        or path.endswith(("surge-api-1", "surge-old-3", "hooks-5d9"))
    }
    swept = sweep_stale(connection, NAMESPACE, NOW)
    assert swept == Swept(
        (
            Change("Pod", "noderotation-surge-old-1", NAMESPACE),
            Change("Pod", "noderotation-surge-old-2", NAMESPACE),
            Change(
                "Node",
                "stale",
                keys=(
                    *keys("surge-for", "do-not-disrupt-owned"),
                    DO_NOT_DISRUPT,
                    *keys("cordoned"),
                    "unschedulable",
                ),
            ),
            Change("Node", "operators", keys=keys("surge-for")),
            Change(
                "NodeClaim", "old-1", keys=keys("state", "failed-at", "started-at", "surge-claim")
            ),
        )
    )
    assert {path: cluster.objects[path] for path in kept} == kept
    assert annotations_of(cluster, f"{NODES}/stale") == {}
    assert cluster.objects[f"{NODES}/stale"]["metadata"]["labels"] == {
        "karpenter.sh/nodepool": "api"
    }
    assert cluster.objects[f"{NODES}/stale"]["spec"] == {}
    # The operator's own do-not-disrupt and cordon beside a mark of ours.
    assert annotations_of(cluster, f"{NODES}/operators") == {DO_NOT_DISRUPT: "true"}
    assert cluster.objects[f"{NODES}/operators"]["spec"] == {"unschedulable": True}
    assert annotations_of(cluster, f"{CLAIMS}/old-1") == ours(
        state="failed", failed_at="2026-11-29T22:00:00Z", retry_count="2"
    )


def test_a_second_sweep_has_nothing_to_do(cluster: StandIn, connection: Connection) -> None:
    sweep_stale(connection, NAMESPACE, NOW)
    cluster.seen.clear()
    assert sweep_stale(connection, NAMESPACE, NOW) == Swept()
    assert cluster.writes() == []


def test_anchors_are_read_after_the_artifacts(cluster: StandIn, connection: Connection) -> None:
    sweep_stale(connection, NAMESPACE, NOW)
    assert [seen.path for seen in cluster.seen[:4]] == [PODS, NODES, CLAIMS, POOLS]


def test_a_rotation_that_starts_in_between_is_not_swept(
    cluster: StandIn, connection: Connection
) -> None:
    def start(seen: Seen) -> None:
        if seen.path == POOLS:
            annotations_of(cluster, f"{POOLS}/batch").update(ours(active_rotation="old-1"))

    cluster.rules.append(start)
    swept = sweep_stale(connection, NAMESPACE, NOW)
    assert [change.name for change in swept.changes] == ["noderotation-surge-old-2"]


def test_every_patch_tests_the_version_and_every_deletion_the_uid(
    cluster: StandIn, connection: Connection
) -> None:
    versions = {
        path: thing["metadata"]["resourceVersion"] for path, thing in cluster.objects.items()
    }
    sweep_stale(connection, NAMESPACE, NOW)
    writes = [seen for seen in cluster.seen if seen.method != "GET"]
    assert len(writes) == 5
    for seen in writes:
        if seen.method == "DELETE":
            name = seen.path.rpartition("/")[2]
            assert seen.body["preconditions"] == {"uid": f"uid-{name}"}
        else:
            path = "/metadata/resourceVersion"
            assert seen.body[0] == {"op": "test", "path": path, "value": versions[seen.path]}


def test_what_has_changed_since_is_left_alone_at_the_start(
    cluster: StandIn, connection: Connection
) -> None:
    cluster.rules.append(moving(cluster, f"{NODES}/stale", times=1))
    swept = sweep_stale(connection, NAMESPACE, NOW)
    assert [(failure.kind, failure.name) for failure in swept.failures] == [("Node", "stale")]
    assert annotations_of(cluster, f"{NODES}/stale")[OURS + "surge-for"] == "old-1"


def test_one_failure_stops_nothing(cluster: StandIn, connection: Connection) -> None:
    cluster.rules += [
        forbidding("GET", PODS),
        forbidding("PATCH", f"{NODES}/stale"),
    ]
    swept = sweep_stale(connection, NAMESPACE, NOW)
    no = "the API server refused it (403): no"
    assert swept.failures == (
        Failure("Pod", "*", no),
        Failure("Node", "stale", no),
    )
    assert [change.name for change in swept.changes] == ["operators", "old-1"]


@pytest.mark.parametrize(
    "trouble",
    [
        lambda _: status_of(403, "Forbidden", message="no"),
        lambda _: Reply(503, b""),
        lambda _: Reply(200, {"items": [{"metadata": {"name": 7, "labels": ours(abort="x")}}]}),
    ],
)
def test_without_the_anchors_nothing_is_touched(
    cluster: StandIn, connection: Connection, trouble: Rule
) -> None:
    cluster.rules.append(lambda seen: trouble(seen) if seen.path == POOLS else None)
    swept = sweep_stale(connection, NAMESPACE, NOW)
    assert swept.changes == ()
    assert [failure.kind for failure in swept.failures] == ["NodePool"]
    assert cluster.writes() == []


def test_a_node_that_cannot_be_read_is_left_alone(server: StandIn, connection: Connection) -> None:
    server.put(NODES, {**node("odd", FROZEN), "status": {"allocatable": {"cpu": "many"}}})
    server.put(NODES, node("stale", FROZEN))
    swept = sweep_stale(connection, NAMESPACE, NOW)
    assert [change.name for change in swept.changes] == ["stale"]
    assert [failure.name for failure in swept.failures] == ["odd"]


def test_what_is_gone_by_then_is_no_failure(cluster: StandIn, connection: Connection) -> None:
    def vanish(seen: Seen) -> None:
        if seen.method in {"PATCH", "DELETE"}:
            cluster.objects.pop(seen.path, None)

    cluster.rules.append(vanish)
    assert sweep_stale(connection, NAMESPACE, NOW) == Swept()
