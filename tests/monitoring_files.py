"""The monitoring overlay as its files have it: alerts, recorded series, and the dashboard's queries."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import yaml

from hooks import names
from tests.manifest_files import MANIFESTS, ROOT

FOLDER = MANIFESTS / "overlays" / "monitoring"
RULE: dict[str, Any] = yaml.safe_load((FOLDER / "prometheusrule.yaml").read_text())
RULES: list[dict[str, Any]] = [rule for group in RULE["spec"]["groups"] for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDS = {rule["record"]: rule for rule in RULES if "record" in rule}
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "noderotation.json").read_text())
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
OBSERVABILITY = (ROOT / "docs" / "observability.md").read_text()


class Query(NamedTuple):
    """A query, and where it stands."""

    where: str
    text: str


def queries_of_rules() -> list[Query]:
    """Those of alerts and recorded series, and those inside of annotations."""
    found = []
    for rule in RULES:
        name = rule.get("alert") or rule["record"]
        found.append(Query(name, rule["expr"]))
        for text in rule.get("annotations", {}).values():
            inner = re.findall(r'query \(printf "([^"]*)"', text)
            found += [Query(f"{name}, annotation", query.replace("%q", '"api"')) for query in inner]
    return found


def queries_of_the_dashboard() -> list[Query]:
    """As Grafana would send them, with all pools chosen."""
    found = [
        Query(f"{panel['title']} {target['refId']}", resolved(target["expr"]))
        for panel in PANELS
        for target in panel["targets"]
    ]
    for variable in DASHBOARD["templating"]["list"]:
        inner = re.fullmatch(r"label_values\((\w+), \w+\)", variable.get("definition", ""))
        found += [Query(f"variable {variable['name']}", inner[1])] if inner else []
    return found


def resolved(query: str) -> str:
    """The query with Grafana's variables put in."""
    whole = query.replace("$nodepool", ".*").replace("$__rate_interval", "5m")
    assert "$" not in whole
    return whole


def series_of(metric: names.Metric) -> dict[str, tuple[str, ...]]:
    """The names that a metric's samples have, with their labels."""
    if metric.kind != "histogram":
        return {metric.name: metric.labels}
    plain = dict.fromkeys((f"{metric.name}_sum", f"{metric.name}_count"), metric.labels)
    return plain | {f"{metric.name}_bucket": (*metric.labels, "le")}
