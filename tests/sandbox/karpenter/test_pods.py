"""What Karpenter makes of a Pod's state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hooks.sandbox.karpenter.pods import (
    BudgetLimits,
    eviction_cost,
    is_protected,
    is_provisionable,
    is_reschedulable,
)
from hooks.sandbox.objects import Obj

NOW = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
REFUSED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
OWNED = {
    kind: {"ownerReferences": [{"apiVersion": version, "kind": kind}]}
    for version, kind in (("apps/v1", "DaemonSet"), ("apps/v1", "StatefulSet"), ("v1", "Node"))
}
LEAVING = {"deletionTimestamp": "2026-11-29T20:00:10Z"}


def pod(meta: Obj | None = None, spec: Obj | None = None, status: Obj | None = None) -> Obj:
    metadata = {"name": "p", "namespace": "default", "labels": {"app": "api"}, **(meta or {})}
    return {"metadata": metadata, "spec": spec or {}, "status": status or {}}


def guarded(value: str) -> Obj:
    started = {"startTime": "2026-11-29T19:50:00Z"}
    return pod({"annotations": {"karpenter.sh/do-not-disrupt": value}}, status=started)


def budget(name: str = "b", allowed: int = 0, **spec: Any) -> Obj:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "api"}}, **spec},
        "status": {"disruptionsAllowed": allowed},
    }


@pytest.mark.parametrize(
    ("subject", "answer"),
    [
        (pod(status={"conditions": [REFUSED]}), True),
        (pod(status={"conditions": [{**REFUSED, "reason": "SchedulingGated"}]}), False),
        (pod(), False),
        (pod(spec={"nodeName": "n"}, status={"conditions": [REFUSED]}), False),
        (pod(status={"conditions": [REFUSED], "nominatedNodeName": "n"}), False),
        (pod(OWNED["DaemonSet"], status={"conditions": [REFUSED]}), False),
        (pod(OWNED["Node"], status={"conditions": [REFUSED]}), False),
    ],
)
def test_only_a_pod_that_the_scheduler_refused_brings_a_machine(subject: Obj, answer: bool) -> None:
    assert is_provisionable(subject) is answer


@pytest.mark.parametrize(
    ("subject", "answer"),
    [
        (pod(), True),
        (pod(LEAVING), False),
        (pod({**LEAVING, **OWNED["StatefulSet"]}), True),
        (pod(status={"phase": "Failed"}), False),
        (pod(OWNED["DaemonSet"]), False),
        (pod(OWNED["Node"]), False),
    ],
)
def test_a_pod_that_will_come_again_needs_room(subject: Obj, answer: bool) -> None:
    assert is_reschedulable(subject) is answer


@pytest.mark.parametrize(
    ("value", "answer"),
    [("true", True), ("false", False), ("15m", True), ("5m", False), ("-1h", False), ("x", False)],
)
def test_do_not_disrupt_is_true_or_a_time_since_the_start(value: str, answer: bool) -> None:
    assert is_protected(guarded(value), NOW) is answer


def test_a_pod_without_a_start_is_protected_for_its_time() -> None:
    subject = pod({"annotations": {"karpenter.sh/do-not-disrupt": "1m"}})
    assert is_protected(subject, NOW)


@pytest.mark.parametrize(
    ("budgets", "evictable", "moves"),
    [
        ([], True, True),
        ([budget(minAvailable=3)], False, True),
        ([budget(minAvailable=1, allowed=1)], True, True),
        ([budget(maxUnavailable=0)], False, False),
        ([budget(maxUnavailable="0%")], False, False),
        ([budget(minAvailable="100%")], False, False),
        ([budget("one", 1), budget("two", 1)], False, False),
        ([budget(minAvailable=3, unhealthyPodEvictionPolicy="AlwaysAllow")], False, True),
    ],
)
def test_room_is_made_for_pods_that_a_budget_lets_go_some_day(
    budgets: list[Obj], evictable: bool, moves: bool
) -> None:
    limits = BudgetLimits(budgets)
    subject = pod(status={"phase": "Running"})
    assert (limits.may_be_evicted(subject, NOW), limits.will_move(subject, NOW)) == (
        evictable,
        moves,
    )


def test_a_pod_that_is_not_ready_may_go_where_the_budget_says_so() -> None:
    limits = BudgetLimits([budget(maxUnavailable=0, unhealthyPodEvictionPolicy="AlwaysAllow")])
    unready = pod(status={"conditions": [{"type": "Ready", "status": "False"}]})
    assert limits.will_move(unready, NOW)


@pytest.mark.parametrize(
    ("cost", "priority", "figure"),
    [("", 0, 1.0), ("134217728", 0, 2.0), ("x", 0, 1.0), ("", 33554432, 2.0), ("", 2**30, 10.0)],
)
def test_moving_a_pod_costs_more_or_less(cost: str, priority: int, figure: float) -> None:
    annotations = {"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {}
    assert eviction_cost(pod({"annotations": annotations}, {"priority": priority})) == figure
