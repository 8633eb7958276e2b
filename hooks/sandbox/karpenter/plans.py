"""Simulations of the cluster as it is, and the NodeClaims that come of them.

Owns which machines, pools and Pods take part: Pods that found no place, and Pods of leaving machines
that will have to move. Seen in ``provisioning/provisioner.go`` (Schedule, NewScheduler, Create) and
``disruption/helpers.go`` (SimulateScheduling).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hooks.sandbox.failures import ApiError
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.claimplan import ClaimPlan, Template
from hooks.sandbox.karpenter.conditions import is_true
from hooks.sandbox.karpenter.marks import is_settling
from hooks.sandbox.karpenter.pods import BudgetLimits, is_provisionable
from hooks.sandbox.karpenter.simulation import Plan, Simulation
from hooks.sandbox.karpenter.template import by_weight, is_managed, is_static, spec_of, template_of
from hooks.sandbox.karpenter.view import Machine
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import is_terminating, labels_of, metadata_of, name_of, uid_of
from hooks.sandbox.scheduling.resources import amounts_of
from hooks.sandbox.store.kinds import (
    DAEMONSETS,
    NAMESPACES,
    NODECLAIMS,
    NODEPOOLS,
    PODDISRUPTIONBUDGETS,
)

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

# The letters of apimachinery's rand.String, as the API server generates names.
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX: Final = 5


@dataclass(frozen=True, slots=True)
class Prospect:
    """A plan, and the Pods that it is about beside those that wait."""

    plan: Plan
    waiting: Sequence[Obj]
    moving: Sequence[Obj] = field(default_factory=tuple)
    """Pods of machines that are leaving already."""


class Plans:
    """Simulations for everybody who needs one."""

    def __init__(self, world: World) -> None:
        """Look through ``world``."""
        self._world = world
        self._templates: dict[tuple[str, int, str], Template] = {}
        self._catalogue = world.catalogue

    def pools(self) -> list[Obj]:
        """Return the provider's NodePools."""
        pools = self._world.store.all(NODEPOOLS)
        return [pool for pool in pools if is_managed(template_of(pool).get("nodeClassRef"))]

    def limits(self) -> BudgetLimits:
        """Return the PodDisruptionBudgets as they are now."""
        return BudgetLimits(self._world.store.all(PODDISRUPTIONBUDGETS))

    def waiting(self) -> list[Obj]:
        """Return the Pods that found no place."""
        return [pod for pod in self._world.view().pods if is_provisionable(pod)]

    def coming_up(self) -> set[str]:
        """Return the provider IDs of machines that nothing should rest on yet."""
        return {one.provider_id for one in self._world.view().machines if not one.is_initialized}

    def moving(self) -> list[Obj]:
        """Return the Pods of leaving machines that will need a place elsewhere."""
        limits, now = self.limits(), self._world.clock.now()
        return [
            pod
            for machine in self._world.view().leaving
            for pod in machine.pods
            if limits.will_move(pod, now)
        ]

    def prospect(
        self,
        without: Collection[str] = (),
        also: Iterable[Obj] = (),
        *,
        consolidating: bool = False,
    ) -> Prospect:
        """Simulate; ``without`` these machines (provider IDs), and with ``also`` these Pods."""
        waiting, moving = self.waiting(), self.moving()
        pods = [*waiting, *also, *moving]
        if not pods:
            return Prospect(Plan(), waiting, moving)
        simulation = Simulation(
            [one for one in self._world.view().staying if one.provider_id not in without],
            self.templates(),
            self.daemons(),
            {name_of(one): labels_of(one) for one in self._world.store.all(NAMESPACES)},
            self._is_closed(moving) if consolidating else None,
        )
        return Prospect(simulation.solve(pods), waiting, moving)

    def templates(self) -> list[Template]:
        """Return the pools that new machines may come from, by weight."""
        usable = [
            pool
            for pool in self.pools()
            if not is_static(pool) and is_true(pool, words.READY) and not is_terminating(pool)
        ]
        return [self.template(pool) for pool in by_weight(usable)]

    def template(self, pool: Obj) -> Template:
        """Return a pool with its offers; kept until the pool or a DaemonSet changes."""
        if self._catalogue is not self._world.catalogue:
            self._templates.clear()
            self._catalogue = self._world.catalogue
        daemons = self.daemons()
        versions = ",".join(
            f"{uid_of(one)}@{metadata_of(one).get('generation')}"
            for one in self._world.store.all(DAEMONSETS)
        )
        key = (uid_of(pool), int(metadata_of(pool).get("generation") or 0), versions)
        if key not in self._templates:
            self._templates[key] = Template(pool, self._world.catalogue, daemons)
        # The offers are kept; what else is read from the pool must be its latest state.
        self._templates[key].pool = pool
        return self._templates[key]

    def daemons(self) -> list[Obj]:
        """Return a Pod of each DaemonSet, as it would be made."""
        return [_pod_of(one) for one in self._world.store.all(DAEMONSETS)]

    def create(self, plan: ClaimPlan) -> str | None:
        """Create a planned NodeClaim and return its name; None when its pool is gone or full."""
        pool = self._world.store.find(NODEPOOLS, "", plan.template.name)
        if pool is None or self._is_exceeded(pool):
            return None
        claim = plan.claim()
        rng = self._world.rng
        for _ in range(10):
            suffix = "".join(rng.choice(_LETTERS) for _ in range(_SUFFIX))
            claim["metadata"]["name"] = f"{claim['metadata']['generateName']}{suffix}"
            try:
                return name_of(self._world.store.create(NODECLAIMS, claim))
            except ApiError as error:
                if not error.is_already_exists:
                    raise
        return None

    def _is_exceeded(self, pool: Obj) -> bool:
        limits = amounts_of(spec_of(pool).get("limits"))
        used = self._world.view().resources_of(name_of(pool))
        return any(used.get(name, 0) > amount for name, amount in limits.items())

    def _is_closed(self, moving: Iterable[Obj]) -> _Settling:
        pools = {name_of(pool): pool for pool in self.pools()}
        return _Settling(pools, {uid_of(pod) for pod in moving}, self._world)


class _Settling:
    """Keeps Pods that needn't move away from machines that are still settling."""

    def __init__(self, pools: dict[str, Obj], moving: Collection[str], world: World) -> None:
        self._pools = pools
        self._moving = moving
        self._world = world

    def __call__(self, machine: Machine, pod: Obj) -> bool:
        pool = self._pools.get(machine.pool)
        if pool is None or machine.claim is None or uid_of(pod) in self._moving:
            return False
        if (pod.get("status") or {}).get("phase", "Pending") == "Pending":
            return False
        return is_settling(pool, machine.claim, self._world.clock.now())


def _pod_of(daemon_set: Obj) -> Obj:
    template: Obj = spec_of(daemon_set).get("template") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **(template.get("metadata") or {}),
            "namespace": metadata_of(daemon_set).get("namespace", ""),
        },
        "spec": spec_of(template),
    }
