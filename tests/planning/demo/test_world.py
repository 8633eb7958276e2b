"""The demo's cluster is one that our own checks find nothing wrong with, and is spelt as installed."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from hooks import names
from hooks.cli.main import group
from hooks.planning.demo import world
from hooks.planning.demo.installation import SERVICE, installation
from hooks.verdict.windows import is_open

MANIFESTS = Path(__file__).parents[3] / "manifests"
URL = "http://noderotation-hooks.node-rotation-system.svc:8080"


@pytest.mark.parametrize(
    "file",
    [
        "hooks/namespace.yaml",
        "hooks/priorityclass.yaml",
        "metacontroller/node-rotation.yaml",
        "metacontroller/rotation-policy.yaml",
        "drain/decoratorcontroller.yaml",
        "drain/webhook.yaml",
    ],
)
def test_what_is_installed_is_what_the_manifests_say(file: str) -> None:
    applied = yaml.safe_load((MANIFESTS / file).read_text())
    (installed,) = [
        one
        for one in installation(URL, "token")
        if (one["kind"], one["metadata"]["name"]) == (applied["kind"], applied["metadata"]["name"])
    ]
    assert installed == applied


def test_the_service_that_the_webhook_names_is_the_one_of_the_manifests() -> None:
    service = yaml.safe_load((MANIFESTS / "drain/service.yaml").read_text())
    ports = [port["port"] for port in service["spec"]["ports"]]
    namespace, name, port = SERVICE
    assert (namespace, name) == (names.NAMESPACE, service["metadata"]["name"])
    assert port in ports


def checked(tmp_path: Path, *flags: str) -> Any:
    """What a command for operators says about the demo's policy and pool."""
    claims = [
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {
                "name": f"shop-{number}",
                "uid": str(number),
                "labels": {"karpenter.sh/nodepool": world.POOL},
                "creationTimestamp": (world.BEGIN + world.GROWTH[number % 4]).isoformat(),
            },
            "spec": {"expireAfter": "480h", "terminationGracePeriod": "10m"},
        }
        for number in range(world.SIZE)
    ]
    file = tmp_path / "demo.json"
    things = [world.policy(), world.node_pool(), *claims]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": things}))
    at = world.INSTALLED.isoformat()
    done = CliRunner().invoke(group, [*flags, "-f", str(file), "--at", at, "--output", "json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_our_own_check_finds_nothing_wrong(tmp_path: Path) -> None:
    found = checked(tmp_path, "check")
    assert found["findings"] == []
    assert [pool["policy"] for pool in found["pools"]] == ["nightly"]


def test_the_windows_are_those_of_the_policy(tmp_path: Path) -> None:
    (told,) = checked(tmp_path, "windows", "--for", "12h")["policies"]
    assert [
        world.Window(datetime.fromisoformat(one["start"]), datetime.fromisoformat(one["end"]))
        for one in told["occurrences"]
    ] == list(world.WINDOWS)
    assert all(is_open(world.policy(), window.start) for window in world.WINDOWS)


def test_every_deadline_comes_soon_after_the_second_window() -> None:
    for grown in world.GROWTH:
        deadline = world.BEGIN + grown + world.LIFETIME
        assert timedelta(hours=2) <= deadline - world.WINDOWS[1].end <= timedelta(hours=5)


def test_twelve_nodes_in_three_zones() -> None:
    assert len(world.GROWTH) * len(world.WORKLOADS) == world.SIZE == 12
    assert len({workload.zone for workload in world.WORKLOADS}) == 3
