"""Machines that Karpenter may disrupt, and what each of them is worth.

Owns what makes a machine untouchable: do-not-disrupt on the Node or a Pod, budgets that let no Pod
go, a Pod expected there, a disruption under way. Seen in ``disruption/types.go`` (NewCandidate) and
``state/statenode.go`` (ValidateNodeDisruptable, ValidatePodsDisruptable).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.instances import InstanceType
from hooks.sandbox.karpenter.plans import Plans
from hooks.sandbox.karpenter.pods import (
    BudgetLimits,
    eviction_cost,
    is_disruptable,
    is_reschedulable,
)
from hooks.sandbox.karpenter.template import is_static, spec_of
from hooks.sandbox.karpenter.view import Machine
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import name_of

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_BASE_COST = 1.0


@dataclass(frozen=True)
class Candidate:
    """A machine that may be disrupted."""

    machine: Machine
    claim: Obj
    pool: Obj
    instance: InstanceType | None
    moving: tuple[Obj, ...]
    """The Pods that would need a place elsewhere."""

    @property
    def provider_id(self) -> str:
        """The instance's ID."""
        return self.machine.provider_id

    @property
    def pool_name(self) -> str:
        """The NodePool's name."""
        return name_of(self.pool)

    @property
    def is_of_static_pool(self) -> bool:
        """Whether its pool is of a fixed size."""
        return is_static(self.pool)

    @property
    def cost(self) -> float:
        """What it costs to disrupt it."""
        return _BASE_COST + sum(max(0.0, eviction_cost(pod)) for pod in self.moving)

    @property
    def is_empty(self) -> bool:
        """Whether nothing would have to move."""
        return self.cost <= _BASE_COST

    @property
    def capacity_type(self) -> str:
        """Spot or on demand."""
        return self.machine.labels.get(words.CAPACITY_TYPE, "")

    @property
    def price(self) -> float:
        """What the machine costs, 0 when nobody knows."""
        zone = self.machine.labels.get(words.ZONE)
        offerings = () if self.instance is None else self.instance.offerings
        prices = (
            one.price
            for one in offerings
            if one.zone == zone and one.capacity_type == self.capacity_type
        )
        return next(prices, 0.0)


def candidates(
    world: World, plans: Plans, busy: Collection[str], now: datetime, *, forceful: bool
) -> list[Candidate]:
    """Return all machines that may be disrupted, the most saved for the least trouble first.

    ``busy`` are those of commands under way. A ``forceful`` disruption passes by what blocks
    evictions, where the claim has a terminationGracePeriod that will end it.
    """
    pools = {name_of(pool): pool for pool in plans.pools()}
    limits = plans.limits()
    found = [
        Candidate(
            machine,
            machine.claim,
            pools[machine.pool],
            world.catalogue.find(machine.labels.get(words.INSTANCE_TYPE, "")),
            tuple(pod for pod in machine.pods if is_reschedulable(pod)),
        )
        for machine in world.view().machines
        if machine.claim is not None
        and machine.pool in pools
        and machine.provider_id not in busy
        and _is_free(world, machine)
        and (
            _lets_pods_go(machine, limits, now)
            or (forceful and spec_of(machine.claim).get("terminationGracePeriod") is not None)
        )
    ]
    return sorted(found, key=lambda one: (-one.price / one.cost, one.provider_id))


def _is_free(world: World, machine: Machine) -> bool:
    return (
        machine.node is not None
        and machine.is_initialized
        and not machine.is_leaving
        and not world.is_nominated(machine.provider_id)
        and machine.annotations.get(words.DO_NOT_DISRUPT) != "true"
    )


def _lets_pods_go(machine: Machine, limits: BudgetLimits, now: datetime) -> bool:
    return all(is_disruptable(pod, now) and limits.may_be_evicted(pod, now) for pod in machine.pods)
