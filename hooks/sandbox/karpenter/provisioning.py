"""Provisioning: new machines for Pods that found no place, and for those whose machine is leaving.

Owns the batch: it begins with the first Pod or leaving Node that asks, ends after a second in which
no other one asks, or after ten. Each of them asks again every ten seconds. Seen in
``pkg/controllers/provisioning`` (batcher.go, controller.go, provisioner.go).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.plans import Plans
from hooks.sandbox.karpenter.pods import is_provisionable
from hooks.sandbox.karpenter.reconciler import Reconciler
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import resource_version_of, uid_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODES, PODS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

IDLE: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(seconds=10)
ASK_AGAIN: Final = timedelta(seconds=10)


class Batch:
    """The objects that ask for a plan, and when it is made."""

    def __init__(self) -> None:
        """Begin with none."""
        self._members: set[str] = set()
        self._begun: datetime | None = None
        self._idle_at: datetime | None = None
        self._asked: dict[str, tuple[str, datetime]] = {}

    def hear(self, asking: list[Obj], now: datetime) -> None:
        """Take notice of all that ask now: those that are new, changed, or due again."""
        known = {uid_of(obj): resource_version_of(obj) for obj in asking}
        self._asked = {uid: seen for uid, seen in self._asked.items() if uid in known}
        for uid, version in known.items():
            seen = self._asked.get(uid)
            if seen is None or seen[0] != version or seen[1] + ASK_AGAIN <= now:
                self._asked[uid] = (version, now)
                self._trigger(uid, now)

    def due(self) -> datetime | None:
        """Return when the plan is to be made, None while nothing has asked."""
        if self._begun is None or self._idle_at is None:
            return None
        return min(self._begun + LONGEST, self._idle_at)

    def close(self) -> None:
        """End the batch; who asks from now on belongs to the next one."""
        self._members.clear()
        self._begun = self._idle_at = None

    def asks_again(self) -> datetime | None:
        """Return when the first of them asks again."""
        return min((seen[1] + ASK_AGAIN for seen in self._asked.values()), default=None)

    def _trigger(self, uid: str, now: datetime) -> None:
        if uid in self._members:
            return
        self._members.add(uid)
        self._begun = self._begun or now
        self._idle_at = now + IDLE


class Provisioning(Reconciler):
    """Makes a plan for each batch and creates the NodeClaims of it."""

    watches: ClassVar[frozenset[Resource]] = frozenset({PODS, NODES, NODECLAIMS})

    def __init__(self, world: World, plans: Plans) -> None:
        """Plan with ``plans``."""
        super().__init__(world)
        self._plans = plans
        self._batch = Batch()
        self._idle: tuple[int, tuple[str, ...]] | None = None

    @override
    def reconcile(self, now: datetime) -> None:
        self._batch.hear(self._asking(), now)
        due = self._batch.due()
        if due is not None and due <= now:
            self._batch.close()
            # While an instance is being launched nobody knows what it will take, so the plan is
            # left out; those who still need one ask again.
            if self.world.view().is_complete:
                self._plan()
        self.wake_at_next(now, [self._batch.due(), self._batch.asks_again()])

    def _asking(self) -> list[Obj]:
        pods = [pod for pod in self.world.view().pods if is_provisionable(pod)]
        nodes = [n for n in self.store.all(NODES) if words.has_taint(n, words.DISRUPTED)]
        return [*pods, *nodes]

    def _plan(self) -> None:
        if self._idle is not None and self._idle[0] == self.store.revision:
            # Nothing was written since a plan that needed no machine: it would be the same again.
            self.world.nominate(self._idle[1])
            return
        plan = self._plans.prospect().plan
        self.world.nominate(plan.placed)
        self._idle = None if plan.claims else (self.store.revision, tuple(plan.placed))
        for claim in plan.claims:
            self._plans.create(claim)
