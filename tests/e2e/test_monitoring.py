"""The real API server, with the Prometheus operator's kinds, takes the monitoring overlay.

Also the commands of the runbook: each that only looks is run as it stands there.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.programs import source

ROOT = Path(__file__).parents[2]
OVERLAY = ROOT / "manifests" / "overlays" / "monitoring"
OPERATOR = "github.com/prometheus-operator/prometheus-operator"
KINDS = ("servicemonitors", "prometheusrules")
STANDINS = {"POOL": "default", "CLAIM": "default-x", "NODE": "default-x"}


def commands() -> list[str]:
    """What the runbook tells to look at, of what is there without running Pods.

    Left out are objects of a name, and the kinds of cert-manager.
    """
    text = (ROOT / "docs" / "runbook.md").read_text()
    found = re.findall(r"^kubectl .*$", text, re.MULTILINE)
    looks = [one for one in found if re.search(r" (get|describe) ", one)]
    return sorted(
        {
            one
            for one in looks
            if not re.search(r" (nodepool|nodeclaim|deployment|secret) [A-Za-z]| certificates", one)
        }
    )


@pytest.mark.usefixtures("installation")
def test_the_operator_s_kinds_take_the_overlay_field_by_field(plane: ControlPlane) -> None:
    folder = source("prometheus-operator", OPERATOR) / "example" / "prometheus-operator-crd"
    for kind in KINDS:
        crd = folder / f"monitoring.coreos.com_{kind}.yaml"
        plane.api.kubectl("apply", "--server-side", f"--filename={crd}")
        name = f"crd/{kind}.monitoring.coreos.com"
        plane.api.kubectl("wait", "--for=condition=Established", "--timeout=60s", name)
    plane.api.kubectl("apply", "--server-side", "--validate=strict", f"--kustomize={OVERLAY}")
    again = plane.api.kubectl("diff", "--server-side", f"--kustomize={OVERLAY}")
    assert again == ""


@pytest.mark.usefixtures("installation")
@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_runbook_is_understood(plane: ControlPlane, command: str) -> None:
    words = [STANDINS.get(word, word) for word in shlex.split(command)[1:]]
    plane.api.kubectl(*words)


def test_there_are_commands_to_try() -> None:
    assert len(commands()) > 15
