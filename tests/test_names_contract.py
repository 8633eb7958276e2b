"""What can be seen stands in five places: hooks.names, docs, alert rules, dashboard, and the CRD."""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hooks import names
from hooks.drain.reasons import Outcome
from hooks.rotation.decision import Decision, Figures
from hooks.rotation.outcomes import DRAIN, EXPIRED, FAILURE, SUCCESS, SURGE_WAIT
from hooks.rotation.reasons import Reason
from hooks.telemetry.certificate import CertificateEnd
from hooks.telemetry.drainlog import ENDS, EVENTS
from hooks.telemetry.drains import Evictions, Rollouts
from hooks.telemetry.metrics import Metrics
from tests.manifest_files import ROOT
from tests.monitoring_files import (
    ALERTS,
    OBSERVABILITY,
    PANELS,
    RECORDS,
    RULES,
    RUNBOOK,
    Query,
    queries_of_rules,
    queries_of_the_dashboard,
    series_of,
)
from tests.promql import grouped_by, selectors
from tests.protocol.policies import crd, schema

KNOWN = (*names.METRICS_OF_HOOKS, *names.METRICS_OF_EVICTION)
SERIES = {name: labels for metric in KNOWN for name, labels in series_of(metric).items()}
RECORDED = {
    "nodepool_outcome:noderotation_completed:increase1h": ("nodepool", "outcome"),
    "nodepool:noderotation_nothing_to_do:timestamp": ("nodepool",),
    "nodepool:noderotation_getting_on:timestamp": ("nodepool",),
}
VALUES = {
    "outcome": {SUCCESS, FAILURE, EXPIRED, *Outcome},
    "phase": {SURGE_WAIT, DRAIN},
    "reason": {*Reason},
    "hook": {names.SYNC_NODEPOOL},
    "status": {"200"},
    "nodepool": {".*", "api"},
}
"""What a query may narrow a label to."""
DRAIN_PAGE = (ROOT / "docs" / "drain.md").read_text()
QUERIES = [*queries_of_rules(), *queries_of_the_dashboard()]


def rows(heading: str) -> list[list[str]]:
    """The cells of all tables below a heading of docs/observability.md, without marks of code."""
    text = OBSERVABILITY.replace("`", "").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def exported(metrics: Metrics) -> set[str]:
    text = metrics.exposition().decode()
    return {
        sample.name for family in text_string_to_metric_families(text) for sample in family.samples
    }


def test_the_hook_server_that_has_seen_one_of_everything_exports_what_names_says() -> None:
    metrics = Metrics()
    metrics.add(Rollouts())
    metrics.show("api", Figures(period=timedelta(days=1)), Reason.NO_CANDIDATE)
    metrics.count("api", Decision("9", Reason.ROTATION_COMPLETED), frozenset())
    metrics.answered(names.SYNC_NODEPOOL, 200, 0.01, 10)
    metrics.called("get", "nodes", "ok")
    assert exported(metrics) == {name for one in names.METRICS_OF_HOOKS for name in series_of(one)}


def test_the_eviction_server_exports_what_names_says_beside_its_hooks_and_calls() -> None:
    metrics = Metrics()
    metrics.add(Evictions())
    metrics.add(CertificateEnd(lambda: 0.0))
    metrics.answered(names.ADMISSION_EVICTION, 200, 0.01, 10)
    metrics.called("get", "pods", "ok")
    beside = (names.HOOK_DURATION, names.HOOK_BYTES, names.API_CALLS)
    wanted = (*names.METRICS_OF_EVICTION, *beside)
    assert exported(metrics) == {name for one in wanted for name in series_of(one)}


def test_the_docs_tell_every_metric_as_it_is() -> None:
    told = [row for row in rows("Metrics") if row[0] != "metric"]
    assert told == [[one.name, one.kind, ", ".join(one.labels), one.meaning] for one in KNOWN]


def test_the_docs_tell_every_event_of_what_and_how_grave() -> None:
    told = {row[0]: row[1:3] for row in rows("Events") if row[0] != "Event"}
    assert told == {
        reason: [", ".join(kinds), "Normal" if reason in names.NORMAL_EVENTS else "Warning"]
        for reason, kinds in names.EVENTS.items()
    }


def test_the_docs_tell_every_event_of_a_graceful_drain_and_how_grave() -> None:
    told = re.findall(r"^\| `(GracefulDrain\w+)` \| (\w+) \|", DRAIN_PAGE, re.MULTILINE)
    assert dict(told) == dict(names.DRAIN_EVENTS)


def log_lines() -> dict[str, set[str]]:
    """Event of each log line that the rotation reports, and its levels, as the source has them."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "hooks" / "rotation").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Report":
                event = ast.literal_eval(node.args[0])
                found.setdefault(event, set()).update(levels(node))
    return found


def levels(call: ast.Call) -> set[str]:
    for keyword in call.keywords:
        if keyword.arg == "warning":
            return {"warning"} if isinstance(keyword.value, ast.Constant) else {"info", "warning"}
    return {"info"}


def test_the_docs_tell_every_log_line_and_its_level() -> None:
    told = {row[0]: set(re.findall("info|warning", row[1])) for row in rows("Log lines")[1:]}
    assert told == log_lines()


def test_the_docs_tell_every_log_line_of_a_graceful_drain() -> None:
    told = [row[0] for row in rows("Log lines of the graceful drain")[1:]]
    source = (ROOT / "hooks" / "telemetry" / "drainlog.py").read_text()
    assert told
    assert all(f'"{event}"' in source for event in told)
    assert {*EVENTS.values(), *ENDS.values(), "tracking cleared"} <= {*told}


def test_the_docs_tell_every_column_of_a_policy_and_each_shows_something_that_is_there() -> None:
    (version,) = crd()["spec"]["versions"]
    columns = {one["name"]: one["jsonPath"] for one in version["additionalPrinterColumns"]}
    told = {row[0]: row[1] for row in rows("Columns of kubectl get rotpol")[1:]}
    assert told == columns
    status = schema()["properties"]["status"]["properties"]
    fields = {path.split(".")[2].split("[")[0] for path in columns.values() if "status." in path}
    assert fields <= status.keys()


def test_what_is_recorded_has_the_labels_that_it_keeps() -> None:
    assert {name: tuple(sorted(grouped_by(one["expr"]))) for name, one in RECORDS.items()} == (
        RECORDED
    )


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.where)
def test_a_query_names_only_what_is_exported_and_its_labels(query: Query) -> None:
    selected = selectors(query.text)
    known = SERIES | RECORDED
    assert selected
    assert {one.metric for one in selected} <= known.keys()
    for one in selected:
        for label, value in one.matchers:
            assert label in known[one.metric], (one.metric, label)
            assert set(value.split("|")) <= VALUES[label], (one.metric, label, value)
        assert grouped_by(query.text) - {"le"} <= set(known[one.metric])


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.where)
def test_gauges_are_taken_as_the_highest_of_the_replicas_and_counts_as_their_sum(
    query: Query,
) -> None:
    if query.where.startswith("variable"):
        return  # It asks for the values of a label.
    kinds = {name: one.kind for one in KNOWN for name in series_of(one)}
    for metric in {one.metric for one in selectors(query.text)} & kinds.keys():
        for place in re.finditer(rf"\b{metric}\b", query.text):
            outer = re.findall(r"\b(?:max|sum|min|avg|count)\b", query.text[: place.start()])
            assert outer[-1:] == ["max" if kinds[metric] == "gauge" else "sum"], metric


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_speaks_of_labels_that_it_has(alert: str) -> None:
    rule = ALERTS[alert]
    kept = grouped_by(rule["expr"]) | {
        label for one in selectors(rule["expr"]) for label in RECORDED.get(one.metric, ())
    }
    spoken = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
    assert spoken <= kept
    assert spoken == (kept & {"nodepool"})


def test_a_legend_of_the_dashboard_names_labels_that_its_query_keeps() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert shown <= grouped_by(target["expr"]), panel["title"]


def test_every_metric_is_shown_by_the_dashboard_or_watched_by_an_alert() -> None:
    used = {one.metric for query in QUERIES for one in selectors(query.text)}
    left = {one.name for one in KNOWN if not used & series_of(one).keys()}
    assert left == set()


def test_every_column_of_a_policy_that_counts_pools_can_be_seen_on_the_dashboard() -> None:
    whole = " ".join(query.text for query in queries_of_the_dashboard())
    assert names.IN_PROGRESS.name in whole
    assert names.NEXT_WINDOW.name in whole


def test_the_runbook_has_a_section_for_each_alert_and_for_nothing_else() -> None:
    sections = re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE)
    assert sections == [*ALERTS, "Reasons"]


def test_the_runbook_tells_every_reason() -> None:
    told = re.findall(r"^\| `(\w+)` \|", RUNBOOK, re.MULTILINE)
    assert told == [*Reason]


def test_the_runbook_and_the_docs_look_for_events_that_there_are() -> None:
    of_others = {"SyncError", *names.DRAIN_EVENTS}
    looked = re.findall(
        r"involvedObject\.kind=(\w+)(?:,\S*?reason=(\w+))?", RUNBOOK + OBSERVABILITY
    )
    for kind, reason in looked:
        assert kind in {names.POOL, names.CLAIM}
        assert not reason or kind in names.EVENTS[reason]
    named = set(re.findall(r"reason=(\w+)", RUNBOOK + OBSERVABILITY))
    assert named <= names.EVENTS.keys() | of_others


def test_annotations_that_the_runbook_names_are_ours() -> None:
    held: set[Any] = {value for value in vars(names).values() if isinstance(value, str)}
    text = RUNBOOK.replace("noderotation\\.io", "noderotation.io")
    assert set(re.findall(r"noderotation\.io/([a-z-]+[a-z])", text)) <= {
        value.removeprefix(names.PREFIX) for value in held if value.startswith(names.PREFIX)
    }


def test_names_are_unique() -> None:
    assert len({one.name for one in KNOWN}) == len(KNOWN)
    assert len(RULES) == len(ALERTS) + len(RECORDS)
