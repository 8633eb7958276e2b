"""What budgets ask for: numbers and percentages, of what the workloads want."""

from __future__ import annotations

from typing import Any

import pytest

from hooks.verdict.budgets import budgets_kept
from hooks.verdict.case import Case
from hooks.verdict.history import Object
from tests.verdict.tales import POOL, Tale, condition

APP = {"app": "web"}


def put(tale: Tale, kind: str, name: str, namespace: str = "shop", **parts: Object) -> None:
    tale.put(kind, name, metadata={"namespace": namespace, "labels": APP}, **parts)


def four_of_five(budget: Object, kind: str = "Deployment") -> Tale:
    """A workload of five Pods, one of which isn't Ready."""
    tale = Tale()
    template = {"metadata": {"labels": APP}}
    put(tale, kind, "web", spec={"replicas": 5, "template": template})
    put(tale, "PodDisruptionBudget", "mine", spec={"selector": {"matchLabels": APP}, **budget})
    for number in range(5):
        put(tale, "Pod", f"web-{number}", status=condition("Ready", true=number != 0))
    return tale


def complaints(tale: Tale) -> list[str]:
    return budgets_kept(Case(tale.changes, POOL))


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Nothing"])
@pytest.mark.parametrize(
    ("budget", "wanted"),
    [
        ({"minAvailable": 3}, None),
        ({"minAvailable": 4}, 4),
        ({"minAvailable": "60%"}, None),
        ({"minAvailable": "61%"}, 4),
        ({"maxUnavailable": 2}, None),
        ({"maxUnavailable": 1}, 4),
        ({"maxUnavailable": "21%"}, None),
        ({"maxUnavailable": "20%"}, 4),
        ({"maxUnavailable": 0}, 5),
        ({}, None),
    ],
)
def test_one_more_goes(kind: str, budget: Object, wanted: int | None) -> None:
    tale = four_of_five(budget, kind)
    tale.leave("Pod", "web-4")
    tale.gone("Pod", "web-4")
    asked = f"budget shop/mine wants {wanted} available, and 3 were left"
    expected = [f"web-4 was sent away although {asked}"] if wanted else []
    assert complaints(tale) == expected


def test_a_pod_that_vanishes_was_sent_away() -> None:
    tale = four_of_five({"maxUnavailable": 1})
    tale.gone("Pod", "web-4")
    assert len(complaints(tale)) == 1


@pytest.mark.parametrize(
    ("reason", "found"), [("DeletionByTaintManager", 0), ("EvictionByEvictionAPI", 1)]
)
def test_a_taint_that_drives_pods_out_asks_no_budget(reason: str, found: int) -> None:
    """Seen on the real control plane, on Nodes that had only just registered."""
    tale = four_of_five({"maxUnavailable": 1})
    target = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    conditions = [*condition("Ready")["conditions"], target]
    tale.put("Pod", "web-4", status={"conditions": conditions})
    tale.leave("Pod", "web-4")
    assert len(complaints(tale)) == found


def test_a_pod_that_fails_by_itself_breaks_no_budget() -> None:
    tale = four_of_five({"maxUnavailable": 0})
    tale.put("Pod", "web-4", status=condition("Ready", true=False))
    tale.leave("Pod", "web-0")
    assert complaints(tale) == []


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "other"}},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]},
        {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        None,
    ],
)
def test_other_pods_are_not_under_the_budget(selector: Any) -> None:
    tale = four_of_five({"minAvailable": 4, "selector": selector})
    tale.leave("Pod", "web-4")
    assert complaints(tale) == []


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
        {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
    ],
)
def test_all_selectors_count(selector: Any) -> None:
    tale = four_of_five({"minAvailable": 4, "selector": selector})
    tale.leave("Pod", "web-4")
    assert len(complaints(tale)) == 1


def test_a_budget_covers_its_own_namespace_only() -> None:
    tale = four_of_five({"minAvailable": 4})
    put(tale, "Pod", "stranger", namespace="else", status=condition("Ready"))
    tale.leave("Pod", "stranger")
    assert complaints(tale) == []
