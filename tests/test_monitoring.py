"""The monitoring overlay against the Service, the Deployment and the runbook; needs only Python."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from hooks import names
from tests.manifest_files import (
    ALL,
    DRAIN,
    EVICTION,
    HOOKS,
    SYSTEM,
    container,
    deployment,
    kustomization,
    the,
)
from tests.monitoring_files import ALERTS, DASHBOARD, FOLDER, PANELS, RULE, RUNBOOK

WIDTH = 24
"""Columns of a Grafana dashboard."""
PARTS = ("What it means.", "How to look.", "What to do.")


def shipped(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / name).read_text()))


def test_the_overlay_brings_all_of_its_files_and_stands_beside_the_rest() -> None:
    given = kustomization(FOLDER)
    (dashboard,) = given["configMapGenerator"]
    files = {path.name for path in FOLDER.iterdir()} - {"kustomization.yaml"}
    assert {*given["resources"], *dashboard["files"]} == files


def test_every_object_is_in_our_namespace_and_told_from_the_hook_server() -> None:
    for name in kustomization(FOLDER)["resources"]:
        metadata = shipped(name)["metadata"]
        assert metadata["namespace"] == SYSTEM
        assert metadata["labels"] == {
            "app.kubernetes.io/name": "noderotation",
            "app.kubernetes.io/component": "monitoring",
            "app.kubernetes.io/part-of": "noderotation",
        }


def test_grafana_finds_the_dashboard_by_its_label_and_under_one_name() -> None:
    (given,) = kustomization(FOLDER)["configMapGenerator"]
    assert (given["name"], given["namespace"]) == ("noderotation-dashboard", SYSTEM)
    assert given["options"]["disableNameSuffixHash"] is True
    assert given["options"]["labels"]["grafana_dashboard"] == "1"


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether a label selector with matchLabels and one `In` finds these labels."""
    (one,) = selector["matchExpressions"]
    assert set(selector) == {"matchLabels", "matchExpressions"}
    assert one["operator"] == "In"
    return selector["matchLabels"].items() <= labels.items() and (
        labels.get(one["key"]) in one["values"]
    )


def test_both_servers_services_are_scraped_on_the_port_of_the_metrics() -> None:
    spec = shipped("servicemonitor.yaml")["spec"]
    (endpoint,) = spec["endpoints"]
    scraped = {
        thing["metadata"]["name"]: [
            port["port"] for port in thing["spec"]["ports"] if port["name"] == endpoint["port"]
        ]
        for thing in (*ALL, *DRAIN)
        if thing["kind"] == "Service" and selects(spec["selector"], thing["metadata"]["labels"])
    }
    assert scraped == {HOOKS: [8080], EVICTION: [8080]}
    assert endpoint["path"] == names.METRICS


@pytest.mark.parametrize("name", [HOOKS, EVICTION])
def test_the_network_lets_prometheus_in_on_the_port_of_the_metrics_alone(name: str) -> None:
    spec = shipped("networkpolicy.yaml")["spec"]
    (port,) = [one for one in container(name)["ports"] if one["name"] == "http"]
    assert selects(spec.pop("podSelector"), deployment(name)["template"]["metadata"]["labels"])
    assert spec == {
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {
                        "namespaceSelector": {
                            "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}
                        },
                        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
                    }
                ],
                "ports": [{"port": port["containerPort"], "protocol": "TCP"}],
            }
        ],
    }


def test_a_placeholder_is_let_in_to_by_nobody() -> None:
    spec = shipped("networkpolicy.yaml")["spec"]
    labels = the("PriorityClass", None, names.PRIORITY_CLASS)["metadata"]["labels"]
    assert not selects(spec["podSelector"], labels)


def test_how_grave_each_alert_is() -> None:
    assert {name: rule["labels"] for name, rule in ALERTS.items()} == {
        "NodeRotationFailed": {"severity": "warning"},
        "NodeRotationExpired": {"severity": "critical"},
        "NodeRotationCandidatesLeft": {"severity": "warning"},
        "NodeRotationNothingCompleted": {"severity": "warning"},
        "NodeRotationDrainStuck": {"severity": "critical"},
        "NodeRotationShortLead": {"severity": "warning"},
        "NodeRotationRetries": {"severity": "warning"},
        "NodeRotationForcefulFallback": {"severity": "info"},
        "NodeRotationPolicyConflict": {"severity": "warning"},
        "NodeRotationNoPass": {"severity": "critical"},
        "GracefulDrainTimeout": {"severity": "warning"},
        "GracefulDrainCertificateEnds": {"severity": "critical"},
    }


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_says_what_it_is_about_and_leads_to_its_section(alert: str) -> None:
    annotations = ALERTS[alert]["annotations"]
    assert annotations.keys() == {"summary", "description", "runbook_url"}
    assert annotations["runbook_url"] == f"docs/runbook.md#{alert.lower()}"
    assert len(annotations["summary"]) < 100


@pytest.mark.parametrize("alert", ALERTS)
def test_a_section_says_what_it_means_how_to_look_and_what_to_do(alert: str) -> None:
    section = RUNBOOK.split(f"\n## {alert}\n")[1].split("\n## ")[0]
    assert tuple(re.findall(r"^\*\*(.*?)\*\*", section, re.MULTILINE)) == PARTS
    look = section.split(PARTS[1])[1].split(PARTS[2])[0]
    assert re.search(r"^kubectl ", look, re.MULTILINE)


def test_the_groups_are_evaluated_in_one_rhythm_so_that_what_is_remembered_is_not_lost() -> None:
    groups = {group["name"]: group["interval"] for group in RULE["spec"]["groups"]}
    assert groups == {"noderotation.records": "1m", "noderotation.alerts": "1m"}


def test_every_panel_has_an_id_a_place_of_its_own_and_a_word_of_explanation() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        x, y, w, h = (panel["gridPos"][key] for key in "xywh")
        cells = {(column, line) for column in range(x, x + w) for line in range(y, y + h)}
        assert x + w <= WIDTH
        assert not cells & taken, panel["title"]
        taken |= cells
    assert all(panel["description"].endswith(".") for panel in PANELS)


def test_the_data_source_is_the_one_that_is_chosen() -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    for panel in PANELS:
        assert panel["datasource"] == chosen
        assert [target["datasource"] for target in panel["targets"]] == [chosen] * len(
            panel["targets"]
        )
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs)
    assert [one["name"] for one in DASHBOARD["templating"]["list"]] == ["datasource", "nodepool"]


def test_the_dashboard_shows_each_thing_that_it_is_for() -> None:
    assert [panel["title"] for panel in DASHBOARD["panels"] if panel["type"] == "row"] == [
        "What is going on",
        "Deadlines against windows",
        "Capacity against demand",
        "Durations",
        "Graceful drain",
        "The hook server",
    ]
