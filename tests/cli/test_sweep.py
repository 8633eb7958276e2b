"""``noderotation sweep``."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cluster.interference import annotations_of, forbidding
from tests.cluster.standin import Rule, StandIn
from tests.cluster.things import (
    CONTROLLERS,
    DEPLOYMENTS,
    FROZEN,
    NODES,
    PODS,
    POOLS,
    deployment,
    deployments_of,
    drain,
    node,
    ours,
    placeholder,
    pool,
)


@pytest.fixture
def installed(server: StandIn) -> StandIn:
    server.put(POOLS, pool("api", ours(active_rotation="old-1", freeze="f")))
    server.put(NODES, node("old", FROZEN, surge_for="old-1"))
    server.put(PODS, placeholder("old-1"))
    tracked = drain(restarted_at="t", rolled_for="t", last_pod_uid="u", rollout_timeout="25m")
    server.put(deployments_of("shop"), deployment("shop", "web", tracked, restarted_at="t"))
    return server


REMOVED = [
    {
        "kind": "NodePool",
        "namespace": None,
        "name": "api",
        "keys": ["noderotation.io/active-rotation"],
    },
    {
        "kind": "Pod",
        "namespace": "node-rotation-system",
        "name": "noderotation-surge-old-1",
        "keys": [],
    },
    {
        "kind": "Node",
        "namespace": None,
        "name": "old",
        "keys": [
            "noderotation.io/surge-for",
            "noderotation.io/do-not-disrupt-owned",
            "karpenter.sh/do-not-disrupt",
        ],
    },
    {
        "kind": "Deployment",
        "namespace": "shop",
        "name": "web",
        "keys": [
            "graceful-drain.stonal.com/last-pod-uid",
            "graceful-drain.stonal.com/restarted-at",
            "graceful-drain.stonal.com/rolled-for",
        ],
    },
]


FREEZING = (
    "noderotation.io/surge-for, noderotation.io/do-not-disrupt-owned, karpenter.sh/do-not-disrupt"
)
TRACKING = (
    "graceful-drain.stonal.com/last-pod-uid, graceful-drain.stonal.com/restarted-at, "
    "graceful-drain.stonal.com/rolled-for"
)


def test_it_removes_and_tells(installed: StandIn, run: Run) -> None:
    done = run("sweep")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "NodePool api: noderotation.io/active-rotation removed",
        "Pod node-rotation-system/noderotation-surge-old-1: removed",
        f"Node old: {FREEZING} removed",
        f"Deployment shop/web: {TRACKING} removed",
    ]
    assert annotations_of(installed, f"{POOLS}/api") == ours(freeze="f")
    assert annotations_of(installed, f"{NODES}/old") == {}
    assert f"{PODS}/noderotation-surge-old-1" not in installed.objects
    web = installed.objects[f"{deployments_of('shop')}/web"]
    assert (web["metadata"]["annotations"], web["spec"]) == (
        drain(rollout_timeout="25m"),
        deployment("shop", "web", restarted_at="t")["spec"],
    )


def test_json(installed: StandIn, run: Run) -> None:
    done = run("sweep", "--output", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"removed": REMOVED}
    again = run("sweep", "--output", "json")
    assert (again.exit_code, json.loads(again.stdout)) == (0, {"removed": []})
    assert run("sweep").stdout == "nothing is left over\n"
    assert len(installed.writes()) == 4


def test_a_dry_run_writes_nothing(installed: StandIn, run: Run) -> None:
    installed.put(CONTROLLERS, {"metadata": {"name": "node-rotation"}})
    done = run("sweep", "--dry-run", "--output", "json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"removed": REMOVED})
    assert "DecoratorController node-rotation still exists" in done.stderr
    assert run("sweep", "--dry-run").stdout.splitlines() == [
        "NodePool api: noderotation.io/active-rotation would be removed",
        "Pod node-rotation-system/noderotation-surge-old-1: would be removed",
        f"Node old: {FREEZING} would be removed",
        f"Deployment shop/web: {TRACKING} would be removed",
    ]
    assert installed.writes() == []


def test_it_refuses_while_the_controller_exists(installed: StandIn, run: Run) -> None:
    installed.put(CONTROLLERS, {"metadata": {"name": "node-rotation"}})
    done = run("sweep")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: DecoratorController node-rotation still exists and would undo the sweep: "
        "delete it first (kubectl delete decoratorcontroller node-rotation)\n"
    )
    assert installed.writes() == []


def test_what_could_not_be_removed_is_said(installed: StandIn, run: Run) -> None:
    installed.rules.append(forbidding("PATCH", f"{NODES}/old"))
    done = run("sweep", "--output", "json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == {"removed": [*REMOVED[:2], REMOVED[3]]}
    assert done.stderr == "Node old: the API server refused it (403): no\n"


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (forbidding("GET", DEPLOYMENTS), "Deployment *"),
        (forbidding("PATCH", f"{deployments_of('shop')}/web"), "Deployment shop/web"),
    ],
)
def test_deployments_that_could_not_be_swept_are_said(
    installed: StandIn, run: Run, rule: Rule, told: str
) -> None:
    installed.rules.append(rule)
    done = run("sweep", "--output", "json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == {"removed": REMOVED[:3]}
    assert done.stderr == f"{told}: the API server refused it (403): no\n"


def test_the_help_says_what_becomes_of_a_rollout_under_way(run: Run) -> None:
    text = " ".join(run("sweep", "--help").stdout.split())
    assert "also while a rollout is waited for" in text
    assert "Delete the webhook first" in text


def test_placeholders_of_another_namespace(
    installed: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "/api/v1/namespaces/other/pods"
    installed.collections[other] = "Pod"
    installed.put(other, placeholder("old-2"))
    monkeypatch.setenv("NODEROTATION_NAMESPACE", "other")
    installed.objects[f"{other}/noderotation-surge-old-2"]["metadata"]["namespace"] = "other"
    assert "Pod other/noderotation-surge-old-2: removed" in run("sweep").stdout.splitlines()
    assert f"{PODS}/noderotation-surge-old-1" in installed.objects


def test_an_unreachable_cluster_is_one_clear_line(server: StandIn, run: Run) -> None:
    server.stop()
    done = run("sweep")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: cannot reach the API server at http://127.0.0.1:")
    assert done.stderr.count("\n") == 1
