"""Whom a Pod that fits nowhere may push aside.

Owns the choice of the Node and the victims; leaves their deletion to
:mod:`hooks.sandbox.controllers.scheduler`. Seen in kube-scheduler v1.36.3
``framework/plugins/defaultpreemption/default_preemption.go`` (SelectVictimsOnNode,
PodEligibleToPreemptOthers) and ``framework/preemption/preemption.go`` (pickOneNodeForPreemption).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hooks.sandbox.controllers.conditions import condition_of
from hooks.sandbox.controllers.podfacts import priority_of
from hooks.sandbox.objects import is_terminating, labels_of, metadata_of, name_of, namespace_of
from hooks.sandbox.scheduling.placement import Fitting, Layout, Place, Verdict, unavailable
from hooks.sandbox.selectors import Selector, selector_from

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

BY_SCHEDULER: Final = "PreemptionByScheduler"
NEVER: Final = "not eligible due to preemptionPolicy=Never."
WAITING: Final = "not eligible due to a terminating pod on the nominated node."
NO_VICTIMS: Final = "No preemption victims found for incoming pod"
NO_HELP: Final = "Preemption is not helpful for scheduling"
_HIGHEST: Final = 2**31


@dataclass(frozen=True, slots=True)
class Preemption:
    """Who has to go from which Node, the most important first."""

    node: str
    victims: tuple[Obj, ...]
    violations: int

    @property
    def rank(self) -> tuple[int, int, int, int, float]:
        """What is told apart by, the least first: the youngest of the most important come last."""
        highest = priority_of(self.victims[0])
        return (
            self.violations,
            highest,
            sum(priority_of(victim) + _HIGHEST for victim in self.victims),
            len(self.victims),
            -min(_began(one) for one in self.victims if priority_of(one) == highest),
        )


def may_not_preempt(pod: Obj, layout: Layout, verdicts: Mapping[str, Verdict]) -> str | None:
    """Return why a Pod may push nobody aside now, None when it may."""
    if (pod.get("spec") or {}).get("preemptionPolicy") == "Never":
        return NEVER
    nominated: str = (pod.get("status") or {}).get("nominatedNodeName") or ""
    if nominated in verdicts and not verdicts[nominated].is_final:
        for other in layout.pods_at(nominated):
            if priority_of(other) < priority_of(pod) and _is_being_preempted(other):
                return WAITING
    return None


def choose(
    pod: Obj, layout: Layout, verdicts: Mapping[str, Verdict], budgets: Sequence[Obj]
) -> Preemption | str:
    """Return the preemption that does the least harm, or the scheduler's message why there is none."""
    found: list[Preemption] = []
    reasons: dict[str, tuple[str, ...]] = {}
    for name, verdict in verdicts.items():
        place = layout.places[name]
        outcome = (NO_HELP,) if verdict.is_final else _victims(pod, place, layout, budgets)
        if isinstance(outcome, Preemption):
            found.append(outcome)
        else:
            reasons[name] = outcome
    return min(found, key=lambda one: one.rank) if found else unavailable(reasons)


def _victims(
    pod: Obj, place: Place, layout: Layout, budgets: Sequence[Obj]
) -> Preemption | tuple[str, ...]:
    """Take all lesser Pods away, then let stay who may, the most important first."""
    lesser = [one for one in layout.pods_at(place.name) if priority_of(one) < priority_of(pod)]
    if not lesser:
        return (NO_VICTIMS,)
    trial = layout.copy()
    for one in lesser:
        trial.take(one, place.name)
    refusals = Fitting(pod, trial).refusals(place)
    if refusals:
        return refusals
    lesser.sort(key=_importance)
    guarded = _violating(lesser, budgets)
    free = [one for one in lesser if one not in guarded]
    victims: list[Obj] = []
    for one in (*guarded, *free):
        trial.put(one, place.name)
        if Fitting(pod, trial).refusals(place):
            trial.take(one, place.name)
            victims.append(one)
    violations = sum(1 for one in victims if one in guarded)
    return Preemption(place.name, tuple(sorted(victims, key=_importance)), violations)


def _violating(pods: Sequence[Obj], budgets: Sequence[Obj]) -> list[Obj]:
    """Return the Pods whose end a budget doesn't allow, if the others go in this order."""
    allowed = [(one.get("status") or {}).get("disruptionsAllowed") or 0 for one in budgets]
    selectors = [selector_from((one.get("spec") or {}).get("selector")) for one in budgets]
    found = []
    for pod in pods:
        violates = False
        for index, budget in enumerate(budgets):
            if _guards(budget, selectors[index], pod):
                allowed[index] -= 1
                violates = violates or allowed[index] < 0
        if violates:
            found.append(pod)
    return found


def _guards(budget: Obj, selector: Selector, pod: Obj) -> bool:
    disrupted: Obj = (budget.get("status") or {}).get("disruptedPods") or {}
    return (
        namespace_of(budget) == namespace_of(pod)
        and bool(selector.requirements)
        and name_of(pod) not in disrupted
        and selector.matches(labels_of(pod))
    )


def _importance(pod: Obj) -> tuple[int, str]:
    return (-priority_of(pod), _start(pod))


def _start(pod: Obj) -> str:
    start: str = (pod.get("status") or {}).get("startTime") or ""
    return start or metadata_of(pod).get("creationTimestamp") or ""


def _began(pod: Obj) -> float:
    start = _start(pod)
    return datetime.fromisoformat(start).timestamp() if start else 0.0


def _is_being_preempted(pod: Obj) -> bool:
    condition = condition_of(pod, "DisruptionTarget") or {}
    return is_terminating(pod) and condition.get("reason") == BY_SCHEDULER
