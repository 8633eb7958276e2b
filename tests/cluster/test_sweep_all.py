"""The sweep for uninstalling: nothing of ours is left, and all of the operators' is."""

from __future__ import annotations

import pytest

from hooks.cluster.connection import Connection
from hooks.cluster.errors import Refused, Unavailable
from hooks.cluster.sweep import StillActive, sweep_all
from tests.cluster.interference import annotations_of, forbidding, moving
from tests.cluster.standin import Reply, Seen, StandIn
from tests.cluster.things import (
    CLAIMS,
    CONTROLLERS,
    DO_NOT_DISRUPT,
    FROZEN,
    NODES,
    OURS,
    PODS,
    POOLS,
    Json,
    claim,
    node,
    ours,
    placeholder,
    pool,
)

NAMESPACE = "node-rotation-system"

ALL_MARKS: list[tuple[str, Json]] = [
    (
        POOLS,
        pool(
            "api",
            {
                "operators/own": "1",
                **ours(
                    active_rotation="api-1",
                    active_rotation_uid="uid-api-1",
                    active_rotation_state="draining",
                    draining_at="t",
                    surge_wait="1m0s",
                    rotation_mode="forceful-fallback",
                    abort="api-1",
                    last_rotation_at="t",
                    last_failure_at="t",
                    due_before="t",
                    freeze="2030-01-01T00:00:00Z",
                ),
            },
        ),
    ),
    (
        CLAIMS,
        claim(
            "api-1",
            {
                "karpenter.sh/own": "1",
                **ours(
                    state="draining",
                    started_at="t",
                    failed_at="t",
                    retry_count="3",
                    surge_claim="c",
                    due="true",
                ),
            },
            deletionTimestamp="2026-11-29T21:00:00Z",
        ),
    ),
    (CLAIMS, claim("api-2", ours(state="failed", failed_at="t", retry_count="1"))),
    (NODES, node("old", {**FROZEN, **ours(cordoned="true")}, surge_for="old-1", cordoned=True)),
    (NODES, node("host", {"x": "y", **FROZEN}, surge_for="old-1")),
    (NODES, node("operators", {DO_NOT_DISRUPT: "true"}, cordoned=True)),
    # Not what we write: the value is another.
    (NODES, node("odd", {DO_NOT_DISRUPT: "true", **ours(cordoned="no")}, cordoned=True)),
    (PODS, placeholder("api-1")),
    (PODS, {"metadata": {"name": "noderotation-hooks-5d9"}}),
]


@pytest.fixture
def installed(server: StandIn) -> StandIn:
    for collection, thing in ALL_MARKS:
        server.put(collection, thing)
    return server


def test_uninstalling_leaves_nothing_of_ours_and_all_of_the_operators(
    installed: StandIn, connection: Connection
) -> None:
    swept = sweep_all(connection, NAMESPACE)
    assert swept.failures == ()
    assert [(change.kind, change.name) for change in swept.changes] == [
        ("NodePool", "api"),
        ("Pod", "noderotation-surge-api-1"),
        ("Node", "old"),
        ("Node", "host"),
        ("NodeClaim", "api-1"),
        ("NodeClaim", "api-2"),
    ]
    left = {
        path: (
            thing["metadata"].get("annotations", {}),
            thing.get("spec"),
            OURS + "surge-for" in thing["metadata"].get("labels", {}),
        )
        for path, thing in installed.objects.items()
    }
    assert left == {
        f"{POOLS}/api": (
            {"operators/own": "1", OURS + "freeze": "2030-01-01T00:00:00Z"},
            None,
            False,
        ),
        f"{CLAIMS}/api-1": ({"karpenter.sh/own": "1"}, None, False),
        f"{CLAIMS}/api-2": ({}, None, False),
        f"{NODES}/old": ({}, {}, False),
        f"{NODES}/host": ({"x": "y"}, {}, False),
        f"{NODES}/operators": ({DO_NOT_DISRUPT: "true"}, {"unschedulable": True}, False),
        f"{NODES}/odd": (
            {DO_NOT_DISRUPT: "true", **ours(cordoned="no")},
            {"unschedulable": True},
            False,
        ),
        f"{PODS}/noderotation-hooks-5d9": ({}, None, False),
    }


def test_each_anchor_goes_in_one_update_before_anything_else(
    installed: StandIn, connection: Connection
) -> None:
    sweep_all(connection, NAMESPACE)
    first, *others = [seen for seen in installed.seen if seen.method != "GET"]
    assert (first.method, first.path) == ("PATCH", f"{POOLS}/api")
    assert {op["path"].rpartition("~1")[2] for op in first.body if op["op"] == "remove"} == {
        "active-rotation",
        "active-rotation-uid",
        "active-rotation-state",
        "draining-at",
        "surge-wait",
        "rotation-mode",
        "abort",
        "last-rotation-at",
        "last-failure-at",
        "due-before",
    }
    assert all(not seen.path.startswith(POOLS) for seen in others)


def test_it_refuses_while_the_controller_exists(installed: StandIn, connection: Connection) -> None:
    installed.put(CONTROLLERS, {"metadata": {"name": "node-rotation"}})
    with pytest.raises(StillActive, match="kubectl delete decoratorcontroller node-rotation"):
        sweep_all(connection, NAMESPACE)
    assert installed.writes() == []


def test_it_refuses_when_that_cannot_be_found_out(
    installed: StandIn, connection: Connection
) -> None:
    installed.rules.append(forbidding("GET", f"{CONTROLLERS}/node-rotation"))
    with pytest.raises(Refused):
        sweep_all(connection, NAMESPACE)
    installed.rules[:] = [lambda _: Reply(503, b"")]
    with pytest.raises(Unavailable):
        sweep_all(connection, NAMESPACE)
    assert installed.writes() == []


def test_metacontroller_and_karpenter_may_be_gone_already(
    installed: StandIn, connection: Connection
) -> None:
    for collection in (CONTROLLERS, POOLS, CLAIMS):
        del installed.collections[collection]
    swept = sweep_all(connection, NAMESPACE)
    assert ([change.kind for change in swept.changes], swept.failures) == (
        ["Pod", "Node", "Node"],
        (),
    )


def test_a_dry_run_tells_the_same_and_writes_nothing(
    installed: StandIn, connection: Connection
) -> None:
    installed.put(CONTROLLERS, {"metadata": {"name": "node-rotation"}})
    told = sweep_all(connection, NAMESPACE, dry_run=True)
    assert installed.writes() == []
    del installed.objects[f"{CONTROLLERS}/node-rotation"]
    assert sweep_all(connection, NAMESPACE) == told


def test_a_conflict_is_computed_again_on_the_live_object(
    installed: StandIn, connection: Connection
) -> None:
    installed.rules.append(moving(installed, f"{NODES}/old", times=3))
    assert sweep_all(connection, NAMESPACE).failures == ()
    assert annotations_of(installed, f"{NODES}/old") == {}


def test_after_four_conflicts_it_is_left_and_said(
    installed: StandIn, connection: Connection
) -> None:
    installed.rules.append(moving(installed, f"{NODES}/old", times=4))
    swept = sweep_all(connection, NAMESPACE)
    assert [(failure.kind, failure.name) for failure in swept.failures] == [("Node", "old")]
    assert len(swept.changes) == 5


def test_a_placeholder_of_the_same_name_but_another_uid_stays(
    installed: StandIn, connection: Connection
) -> None:
    path = f"{PODS}/noderotation-surge-api-1"

    def recreate(seen: Seen) -> None:
        if seen.method == "DELETE":
            installed.objects[path]["metadata"]["uid"] = "another"

    installed.rules.append(recreate)
    swept = sweep_all(connection, NAMESPACE)
    assert path in installed.objects
    assert [failure.name for failure in swept.failures] == ["noderotation-surge-api-1"]
