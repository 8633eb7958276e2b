"""What Karpenter asks about a Pod.

Owns the predicates of ``pkg/utils/pod/scheduling.go`` and ``pkg/utils/pdb/pdb.go``: which Pods bring
nodes, which are moved, which are evicted and which hold a drain up.
"""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.moments import deleted_at, moment_of, span_of
from hooks.sandbox.objects import (
    annotations_of,
    is_terminating,
    labels_of,
    metadata_of,
    namespace_of,
)
from hooks.sandbox.scheduling.layout import is_finished
from hooks.sandbox.scheduling.taints import tolerates
from hooks.sandbox.selectors import selector_from

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.sandbox.objects import Obj

STUCK_AFTER: Final = timedelta(minutes=1)
"""How long after its grace a terminating Pod still holds a drain up."""
_CRITICAL: Final = frozenset({"system-cluster-critical", "system-node-critical"})


def is_active(pod: Obj) -> bool:
    """Tell whether it is neither finished nor terminating."""
    return not is_finished(pod) and not is_terminating(pod)


def is_of_daemon_set(pod: Obj) -> bool:
    """Tell whether a DaemonSet owns it."""
    return _is_owned_by(pod, "apps/v1", "DaemonSet")


def is_critical(pod: Obj) -> bool:
    """Tell whether it is one of those that a drain leaves for last."""
    return (pod.get("spec") or {}).get("priorityClassName") in _CRITICAL


def is_provisionable(pod: Obj) -> bool:
    """Tell whether it brings a node: the scheduler found no place, and isn't preempting for it."""
    status: Obj = pod.get("status") or {}
    conditions: list[Obj] = status.get("conditions") or []
    is_refused = any(
        one.get("type") == "PodScheduled" and one.get("reason") == "Unschedulable"
        for one in conditions
    )
    return (
        is_refused
        and not (pod.get("spec") or {}).get("nodeName")
        and not status.get("nominatedNodeName")
        and not is_of_daemon_set(pod)
        and not _is_static(pod)
    )


def is_reschedulable(pod: Obj) -> bool:
    """Tell whether it will need room elsewhere when its Node goes."""
    moves = is_active(pod) or (_is_owned_by(pod, "apps/v1", "StatefulSet") and is_terminating(pod))
    return moves and not is_of_daemon_set(pod) and not _is_static(pod)


def is_drainable(pod: Obj, now: datetime) -> bool:
    """Tell whether a drain has to do with it at all."""
    return not _tolerates_disruption(pod) and not _is_stuck(pod, now) and not _is_static(pod)


def holds_up_drain(pod: Obj, now: datetime) -> bool:
    """Tell whether a drain waits for it."""
    return not is_finished(pod) and is_drainable(pod, now)


def is_evictable(pod: Obj, now: datetime) -> bool:
    """Tell whether a drain evicts it."""
    return (
        is_active(pod)
        and not _tolerates_disruption(pod)
        and not _is_static(pod)
        and not is_protected(pod, now)
    )


def is_disruptable(pod: Obj, now: datetime) -> bool:
    """Tell whether its annotation lets its Node be disrupted."""
    return not is_active(pod) or not is_protected(pod, now)


def is_protected(pod: Obj, now: datetime) -> bool:
    """Tell whether ``karpenter.sh/do-not-disrupt`` protects it now: true, or for a time."""
    value = annotations_of(pod).get(words.DO_NOT_DISRUPT)
    if value is None or value == "true":
        return value == "true"
    try:
        span = span_of(value)
    except ValueError:
        return False
    if span is None or span <= timedelta(0):
        return False
    started: str | None = (pod.get("status") or {}).get("startTime")
    return started is None or now - moment_of(started) < span


def protected_until(pod: Obj) -> datetime | None:
    """Return when a protection that is only for a time ends."""
    started: str | None = (pod.get("status") or {}).get("startTime")
    try:
        span = span_of(annotations_of(pod).get(words.DO_NOT_DISRUPT))
    except ValueError:
        return None
    return None if span is None or started is None else moment_of(started) + span


def eviction_cost(pod: Obj) -> float:
    """Return how much moving it counts: 1, more or less by its annotation and priority."""
    cost = 1.0
    with contextlib.suppress(ValueError):
        cost += float(annotations_of(pod).get(words.DELETION_COST) or 0) / 2**27
    cost += float((pod.get("spec") or {}).get("priority") or 0) / 2**25
    return max(-10.0, min(10.0, cost))


class BudgetLimits:
    """The PodDisruptionBudgets as Karpenter reads them before it makes plans."""

    def __init__(self, budgets: Iterable[Obj]) -> None:
        """Read the selectors once."""
        self._budgets = [
            (budget, selector_from((budget.get("spec") or {}).get("selector")))
            for budget in budgets
            if (budget.get("spec") or {}).get("selector") is not None
        ]

    def may_be_evicted(self, pod: Obj, now: datetime) -> bool:
        """Tell whether the budgets would let a Pod go now."""
        return self._allows(pod, now, lambda budget: _allowed(budget) == 0)

    def will_move(self, pod: Obj, now: datetime) -> bool:
        """Tell whether room should be made for a Pod whose Node goes.

        Not for one that never can be evicted: nobody knows when it will come.
        """
        return (
            is_reschedulable(pod)
            and is_disruptable(pod, now)
            and self._allows(pod, now, _blocks_always)
        )

    def _allows(self, pod: Obj, now: datetime, blocks: object) -> bool:
        if not is_evictable(pod, now):
            return True
        matching = [
            budget
            for budget, selector in self._budgets
            if namespace_of(budget) == namespace_of(pod) and selector.matches(labels_of(pod))
        ]
        if len(matching) > 1:
            return False
        if not matching or (_lets_unhealthy_go(matching[0]) and _is_unready(pod)):
            return True
        return not (callable(blocks) and blocks(matching[0]))


def grace_of(pod: Obj) -> timedelta:
    """Return the Pod's own grace period, 30 s when it names none."""
    seconds: int | None = (pod.get("spec") or {}).get("terminationGracePeriodSeconds")
    return timedelta(seconds=30 if seconds is None else seconds)


def _is_owned_by(pod: Obj, api_version: str, kind: str) -> bool:
    owners: list[Obj] = metadata_of(pod).get("ownerReferences") or []
    return any(
        owner.get("apiVersion") == api_version and owner.get("kind") == kind for owner in owners
    )


def _is_static(pod: Obj) -> bool:
    return _is_owned_by(pod, "v1", "Node")


def _tolerates_disruption(pod: Obj) -> bool:
    return tolerates(pod, (words.DISRUPTED,))


def _is_stuck(pod: Obj, now: datetime) -> bool:
    ends = deleted_at(pod)
    return ends is not None and now - ends > STUCK_AFTER


def _is_unready(pod: Obj) -> bool:
    conditions: list[Obj] = (pod.get("status") or {}).get("conditions") or []
    return any(one.get("type") == "Ready" and one.get("status") == "False" for one in conditions)


def _lets_unhealthy_go(budget: Obj) -> bool:
    return (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow"


def _allowed(budget: Obj) -> int:
    return int((budget.get("status") or {}).get("disruptionsAllowed") or 0)


def _blocks_always(budget: Obj) -> bool:
    spec: Obj = budget.get("spec") or {}
    return spec.get("maxUnavailable") in {0, "0%"} or spec.get("minAvailable") == "100%"
