"""Consolidation: machines that aren't needed, or that a cheaper one could replace.

Owns which command comes of a set of candidates. Leaves when to look, and the second look 15 s later, to
:mod:`hooks.sandbox.karpenter.disruption`. Seen in ``disruption/consolidation.go``,
``multinodeconsolidation.go``, ``singlenodeconsolidation.go``. Spot machines are never replaced by spot
ones (the feature is off by default).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.candidates import Candidate
from hooks.sandbox.karpenter.claimplan import ClaimPlan
from hooks.sandbox.karpenter.commands import Command
from hooks.sandbox.karpenter.offers import Offer, worst_launch_price
from hooks.sandbox.karpenter.plans import Plans, Prospect
from hooks.sandbox.karpenter.pods import is_provisionable
from hooks.sandbox.objects import uid_of

if TYPE_CHECKING:
    from datetime import datetime

    from hooks.sandbox.objects import Obj

MOST_AT_ONCE: Final = 100


class Consolidation:
    """Finds commands that make a cluster cheaper."""

    def __init__(self, plans: Plans) -> None:
        """Simulate with ``plans``."""
        self._plans = plans

    def several(
        self, found: Sequence[Candidate], left: dict[str, int], now: datetime
    ) -> Command | None:
        """Return a command for as many machines as can be given up for at most one new one."""
        chosen: list[Candidate] = []
        budget = dict(left)
        for candidate in found:
            if budget.get(candidate.pool_name, 0) > 0:
                budget[candidate.pool_name] -= 1
                chosen.append(candidate)
        low, high = 1, min(len(chosen) - 1, MOST_AT_ONCE)
        best: Command | None = None
        while low <= high:
            middle = (low + high) // 2
            command = self.command_for(chosen[: middle + 1], now)
            if command is not None and command.replacements:
                command = _without_same_type(command)
            if command is None:
                high = middle - 1
            else:
                best, low = command, middle + 1
        return best

    def single(
        self, found: Sequence[Candidate], left: dict[str, int], now: datetime
    ) -> Command | None:
        """Return a command for the first machine that can be given up or made cheaper."""
        for candidate in found:
            if left.get(candidate.pool_name, 0) > 0:
                command = self.command_for([candidate], now)
                if command is not None:
                    return command
        return None

    def command_for(self, chosen: Sequence[Candidate], now: datetime) -> Command | None:
        """Return what would become of these machines together, None when they are needed."""
        prospect = self.prospect(chosen, now)
        if not is_sound(prospect, self._plans) or len(prospect.plan.claims) > 1:
            return None
        expected_at = tuple(prospect.plan.placed)
        if not prospect.plan.claims:
            return Command(words.UNDERUTILIZED, chosen, (), expected_at)
        (plan,) = prospect.plan.claims
        kinds = {offer.offering.capacity_type for offer in plan.offers}
        if all(one.capacity_type == words.SPOT for one in chosen) and words.SPOT in kinds:
            return None
        cheaper = _cheaper_than(plan.offers, sum(one.price for one in chosen))
        if {words.SPOT, words.ON_DEMAND} <= kinds:
            cheaper = [one for one in cheaper if one.offering.capacity_type == words.SPOT]
        if not cheaper:
            return None
        plan.offers = cheaper
        return Command(words.UNDERUTILIZED, chosen, [plan], expected_at)

    def prospect(
        self, chosen: Iterable[Candidate], now: datetime, *, consolidating: bool = True
    ) -> Prospect:
        """Simulate a cluster without these machines."""
        limits = self._plans.limits()
        gone = list(chosen)
        return self._plans.prospect(
            [one.provider_id for one in gone],
            [pod for one in gone for pod in one.moving if limits.will_move(pod, now)],
            consolidating=consolidating,
        )

    def still_holds(self, command: Command, now: datetime) -> bool:
        """Tell whether a simulation of today comes to what the command was made for."""
        prospect = self.prospect(command.candidates, now)
        if not is_sound(prospect, self._plans):
            return False
        if len(prospect.plan.claims) != len(command.replacements):
            return False
        return all(
            set(old.instances) <= set(new.instances)
            for old, new in zip(command.replacements, prospect.plan.claims, strict=True)
        )


def is_sound(prospect: Prospect, plans: Plans) -> bool:
    """Tell whether every Pod that isn't waiting anyway has a place on a machine that is up.

    Pods of leaving machines may count on machines that are still coming up.
    """
    if any(not is_provisionable(pod) for pod in prospect.plan.homeless):
        return False
    moving = {uid_of(pod) for pod in prospect.moving}
    coming = plans.coming_up()
    return not any(
        uid_of(pod) not in moving
        for provider_id, pods in prospect.plan.placed.items()
        if provider_id in coming
        for pod in _settled(pods)
    )


def _settled(pods: Iterable[Obj]) -> list[Obj]:
    """Return the Pods that aren't waiting for a place anyway."""
    return [pod for pod in pods if not is_provisionable(pod)]


def _cheaper_than(offers: Sequence[Offer], price: float) -> list[Offer]:
    instances = {offer.instance.name: offer.instance for offer in offers}
    good = {name for name, one in instances.items() if worst_launch_price(offers, one) < price}
    return [offer for offer in offers if offer.instance.name in good]


def _without_same_type(command: Command) -> Command | None:
    """Return a command that doesn't replace machines by one of their own types at the same price."""
    (plan,) = command.replacements
    prices: dict[str, float] = {}
    for one in command.candidates:
        if one.instance is not None:
            name = one.instance.name
            prices[name] = min(one.price, prices.get(name, one.price))
    most = min((prices[name] for name in plan.instances if name in prices), default=float("inf"))
    left = _cheaper_than(plan.offers, most)
    if not left:
        return None
    narrowed = ClaimPlan(plan.template, plan.hostname, left, plan.pods)
    return replace(command, replacements=[narrowed])
