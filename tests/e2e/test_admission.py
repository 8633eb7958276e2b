"""The real API server takes everything that we ship, and refuses bad policies naming the field."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.installation import Installation

POLICIES = Path(__file__).parents[1] / "fixtures" / "policies"
GOOD = sorted((POLICIES / "good").glob("*.yaml"))
BAD = sorted((POLICIES / "bad").glob("*.yaml"))


def file_name(path: Path) -> str:
    return path.stem


def test_there_are_policies_to_try() -> None:
    assert GOOD
    assert BAD


def test_everything_that_is_shipped_is_admitted(
    plane: ControlPlane, installation: Installation
) -> None:
    shipped = installation.manifests()
    there = plane.api.kubectl(
        "get",
        "rotationpolicies.noderotation.io,decoratorcontrollers.metacontroller.k8s.io,"
        "compositecontrollers.metacontroller.k8s.io,all,"
        "networkpolicies,poddisruptionbudgets,serviceaccounts,roles,rolebindings,clusterroles,"
        "clusterrolebindings,priorityclasses,namespaces,crd",
        "--all-namespaces",
        "--output=jsonpath={range .items[*]}{.kind}/{.metadata.name}{'\\n'}{end}",
    ).splitlines()
    assert {f"{one['kind']}/{one['metadata']['name']}" for one in shipped} <= set(there)


def test_a_second_apply_changes_nothing(plane: ControlPlane, installation: Installation) -> None:
    difference = plane.api.differences(*installation.manifests())
    assert difference == ""


@pytest.mark.usefixtures("installation")
@pytest.mark.parametrize("policy", GOOD, ids=file_name)
def test_a_good_policy_is_taken(policy: Path, plane: ControlPlane) -> None:
    plane.api.kubectl("create", "--dry-run=server", "--validate=strict", f"--filename={policy}")


@pytest.mark.usefixtures("installation")
@pytest.mark.parametrize("policy", BAD, ids=file_name)
def test_a_bad_policy_is_refused(policy: Path, plane: ControlPlane) -> None:
    """The first line of the file is a comment with the field that the message must name."""
    field = policy.read_text().splitlines()[0].removeprefix("#").strip()
    assert field
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        plane.api.kubectl("create", "--dry-run=server", "--validate=strict", f"--filename={policy}")
    assert field in refusal.value.stderr
