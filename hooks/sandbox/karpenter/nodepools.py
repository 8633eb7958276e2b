"""A NodePool's own state: defaults, hash, conditions, and what its machines amount to.

Owns ``status`` of NodePools and their hash annotations. The count lags behind by up to five seconds, as
the real one does. Seen in ``pkg/controllers/nodepool`` (hash, validation, readiness,
registrationhealth, counter) and the recorded rotation.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import OF_POOLS, Conditions, condition_of
from hooks.sandbox.karpenter.plans import Plans
from hooks.sandbox.karpenter.quantities import resource_list
from hooks.sandbox.karpenter.reconciler import Reconciler, next_tick
from hooks.sandbox.karpenter.registrations import HEALTHY
from hooks.sandbox.karpenter.template import fill_in, hash_of, template_of
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import annotations_of, generation_of, is_terminating, name_of
from hooks.sandbox.scheduling.resources import ZERO
from hooks.sandbox.store.kinds import KWOKNODECLASSES, NODECLAIMS, NODEPOOLS, NODES

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

COUNT_PERIOD: Final = timedelta(seconds=5)
_COUNTED: Final = ("cpu", "memory", "pods", "ephemeral-storage", "nodes")


class PoolStatus(Reconciler):
    """Fills in defaults, keeps the hash and the conditions."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODEPOOLS, KWOKNODECLASSES})

    def __init__(self, world: World, plans: Plans) -> None:
        """Find pools through ``plans``."""
        super().__init__(world)
        self._plans = plans

    @override
    def reconcile(self, now: datetime) -> None:
        for pool in self._plans.pools():
            self.store.modify(NODEPOOLS, "", name_of(pool), _complete)
            self.store.modify(
                NODEPOOLS, "", name_of(pool), lambda obj: self._judge(obj, now), "status"
            )

    def _judge(self, pool: Obj, now: datetime) -> None:
        conditions = Conditions(pool, OF_POOLS, now)
        conditions.begin()
        wrong = _problem(pool)
        if wrong:
            conditions.set_false("ValidationSucceeded", "NodePoolValidationFailed", wrong)
        else:
            conditions.set_true("ValidationSucceeded")
        reference: Obj = template_of(pool).get("nodeClassRef") or {}
        node_class = self.store.find(KWOKNODECLASSES, "", reference.get("name", ""))
        _judge_class(conditions, node_class)
        if node_class is None:
            return
        known = condition_of(pool, HEALTHY)
        observed = pool["status"].get("nodeClassObservedGeneration")
        if (
            known is None
            or observed != generation_of(node_class)
            or known["observedGeneration"] != generation_of(pool)
        ):
            conditions.set_unknown(
                HEALTHY, "AwaitingReconciliation", "object is awaiting reconciliation"
            )
        pool["status"]["nodeClassObservedGeneration"] = generation_of(node_class)


class PoolCounts(Reconciler):
    """Counts what each pool's machines amount to."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODEPOOLS, NODECLAIMS, NODES})

    def __init__(self, world: World, plans: Plans) -> None:
        """Count the periods from now."""
        super().__init__(world)
        self._plans = plans
        self._origin = world.clock.now()
        self._tick: datetime | None = None

    @override
    def reconcile(self, now: datetime) -> None:
        stale = [pool for pool in self._plans.pools() if self._is_stale(pool)]
        if not stale or not self.world.view().is_complete:
            # Nothing is counted while an instance is being launched.
            self._tick = None
            return
        fresh = [pool for pool in stale if "resources" not in (pool.get("status") or {})]
        self._tick = self._tick or next_tick(now, COUNT_PERIOD, self._origin)
        is_time = now >= self._tick
        for pool in stale if is_time else fresh:
            self.store.modify(NODEPOOLS, "", name_of(pool), self._count, "status")
        if is_time:
            self._tick = None
        elif len(fresh) < len(stale):
            self.wake_at(self._tick)

    def _is_stale(self, pool: Obj) -> bool:
        status: Obj = pool.get("status") or {}
        return bool(status.get("resources") != self._resources(pool))

    def _count(self, pool: Obj) -> None:
        status: Obj = pool.setdefault("status", {})
        status["resources"] = self._resources(pool)
        status["nodes"] = int(status["resources"]["nodes"])

    def _resources(self, pool: Obj) -> dict[str, str]:
        known = self.world.view().resources_of(name_of(pool))
        return resource_list({**dict.fromkeys(_COUNTED, ZERO), **known})


def _complete(pool: Obj) -> None:
    fill_in(pool)
    pool["metadata"]["annotations"] = {
        **annotations_of(pool),
        words.HASH: hash_of(pool),
        words.HASH_VERSION: words.HASH_IS_V3,
    }


def _problem(pool: Obj) -> str:
    requirements: list[Obj] = template_of(pool).get("requirements") or []
    if any(item.get("key") == words.POOL for item in requirements):
        return f'invalid key: "{words.POOL}" in requirements, restricted'
    return ""


def _judge_class(conditions: Conditions, node_class: Obj | None) -> None:
    kind = "NodeClassReady"
    if node_class is None:
        conditions.set_false(kind, "NodeClassNotFound", "NodeClass not found on cluster")
    elif is_terminating(node_class):
        conditions.set_false(kind, "NodeClassTerminating", "NodeClass is Terminating")
    elif (ready := condition_of(node_class, words.READY)) and ready["status"] == "False":
        conditions.set_false(kind, ready.get("reason", ""), ready.get("message", ""))
    else:
        conditions.set_true(kind)
