"""Who holds up a drain: the Pods that still have to go, and what keeps each of them.

Owns the judgement, on values alone, and its words. Leaves the reading to
:mod:`hooks.rotation.stuck`. It follows the eviction API (which budgets count for which Pod) and
Karpenter's drain (which Pods it waits for). Source: design/rotation.md section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from hooks import names
from hooks.rotation.durations import ZERO, format_stamp, parse_duration, shifted
from hooks.rotation.governance import matches
from hooks.rotation.model import Budget, Pod

MOST: Final = 10
"""How many are named; a line stays readable, and a log takes it."""
STAGES: Final = ("Drained", "VolumesDetached", "InstanceTerminating")
"""The claim's conditions by which Karpenter tells how far a termination is, in its order."""

_MOST_BUDGETS: Final = 3
_FINISHED: Final = frozenset({"Succeeded", "Failed"})
_TRUE: Final = "True"


def blockers(pods: Iterable[Pod], budgets: Iterable[Budget], now: datetime) -> tuple[str, ...]:
    """Each Pod that is held, with what holds it, by namespace and name.

    ``pods`` are those of the Node. Held is a Pod that a budget or do-not-disrupt keeps from being
    evicted, or that is still there after its grace.
    """
    everywhere = tuple(budgets)
    judged = ((pod, _holds(pod, everywhere, now)) for pod in _awaited(pods))
    return tuple(f"{_called(pod)} ({', '.join(holds)})" for pod, holds in judged if holds)


def endless(pods: Iterable[Pod]) -> tuple[str, ...]:
    """The Pods that nothing evicts, ever: a drain without a grace period waits for them for good."""
    return tuple(
        _called(pod)
        for pod in _awaited(pods)
        if pod.do_not_disrupt == names.TRUE and not pod.deleting
    )


def listed(parts: Sequence[str]) -> str:
    """The first ten in one line, and how many more there are."""
    more = (f"and {len(parts) - MOST} more",) if len(parts) > MOST else ()
    return "; ".join((*parts[:MOST], *more))


def progress(conditions: Iterable[tuple[str, str, str]]) -> str:
    """How far Karpenter is, in the words of the claim's conditions (type, status, reason)."""
    told = {kind: (status, reason) for kind, status, reason in conditions}
    return ", ".join(f"{stage} {_stage(*told.get(stage, ('', '')))}" for stage in STAGES)


def _stage(status: str, reason: str) -> str:
    # Karpenter repeats the type as the reason of what is simply true; that says nothing more.
    plain = status == _TRUE or not reason
    return (status if plain else f"{status} ({reason})") or "not begun"


def _awaited(pods: Iterable[Pod]) -> list[Pod]:
    """The Pods that still have to go, in an order of their own."""
    left = (pod for pod in pods if not (pod.phase in _FINISHED or pod.mirror or pod.outlives_drain))
    return sorted(left, key=lambda pod: (pod.namespace, pod.name))


def _called(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"


def _holds(pod: Pod, budgets: Iterable[Budget], now: datetime) -> tuple[str, ...]:
    # Once evicted, neither a budget nor an annotation keeps a Pod any more.
    holds = (
        (_overdue(pod, now),) if pod.deleting else (_protection(pod, now), _budget(pod, budgets))
    )
    return tuple(hold for hold in holds if hold)


def _overdue(pod: Pod, now: datetime) -> str:
    """Since when a terminating Pod should be gone; "" when that time is still to come."""
    if not isinstance(pod.ends_by, datetime) or now <= pod.ends_by:
        return ""
    return f"terminating, its grace ended at {format_stamp(pod.ends_by)}"


def _protection(pod: Pod, now: datetime) -> str:
    """What do-not-disrupt says for this Pod at this moment; "" when it doesn't hold it."""
    text = pod.do_not_disrupt or ""
    if text == names.TRUE:
        return names.DO_NOT_DISRUPT
    try:
        span = parse_duration(text)
    except ValueError:
        return ""
    if span <= ZERO:
        return ""
    if not isinstance(pod.started, datetime):
        return f"{names.DO_NOT_DISRUPT} for {text} from its start"
    until = shifted(pod.started, span)
    return f"{names.DO_NOT_DISRUPT} until {format_stamp(until)}" if now < until else ""


def _budget(pod: Pod, budgets: Iterable[Budget]) -> str:
    """Which budget refuses its eviction; "" when none does."""
    if pod.phase == "Pending":
        # The eviction API asks no budget about a Pod that hasn't begun.
        return ""
    mine = sorted((each for each in budgets if _selects(each, pod)), key=lambda each: each.name)
    if len(mine) > 1:
        named = " and ".join(budget.name for budget in mine[:_MOST_BUDGETS])
        return f"{len(mine)} budgets at once, {named}: no Pod of several can be evicted"
    return f"budget {mine[0].name}" if mine and _refuses(mine[0], pod) else ""


def _refuses(budget: Budget, pod: Pod) -> bool:
    ready = any(kind == "Ready" and status == _TRUE for kind, status, _ in pod.conditions)
    spared = budget.always_evicts_unhealthy or budget.enough_healthy
    return budget.allowed <= 0 and (ready or not spared)


def _selects(budget: Budget, pod: Pod) -> bool:
    if budget.selector is None or budget.namespace != pod.namespace:
        return False
    return matches(budget.selector, pod.labels)
