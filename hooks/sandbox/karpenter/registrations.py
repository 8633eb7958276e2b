"""Whether a NodePool's nodes come up: the condition NodeRegistrationHealthy.

Owns the last four outcomes of each pool, in memory, and the condition that follows from them. Seen in
``pkg/state/nodepoolhealth`` and ``pkg/controllers/nodepool/registrationhealth``.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import OF_POOLS, Conditions
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import labels_of, metadata_of, name_of, uid_of
from hooks.sandbox.store.kinds import NODEPOOLS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

HEALTHY: Final = "NodeRegistrationHealthy"
_REMEMBERED: Final = 4
_TOO_MANY: Final = 2


class Registrations:
    """The outcomes, by NodePool."""

    def __init__(self, world: World) -> None:
        """Begin with none."""
        self._world = world
        self._outcomes: dict[str, deque[bool]] = {}

    def record(self, claim: Obj, *, succeeded: bool) -> None:
        """Count an outcome of a NodeClaim's registration and tell it on its NodePool."""
        pool = self._world.store.find(NODEPOOLS, "", labels_of(claim).get(words.POOL, ""))
        if pool is None or not _owns(pool, claim):
            return
        outcomes = self._outcomes.setdefault(uid_of(pool), deque(maxlen=_REMEMBERED))
        outcomes.append(succeeded)
        is_healthy = outcomes.count(False) < _TOO_MANY
        if is_healthy != succeeded:
            return

        def tell(obj: Obj) -> None:
            conditions = Conditions(obj, OF_POOLS, self._world.clock.now())
            conditions.begin()
            if is_healthy:
                conditions.set_true(HEALTHY)
            else:
                conditions.set_false(HEALTHY, "RegistrationFailed", "Failed to register node")

        self._world.store.modify(NODEPOOLS, "", name_of(pool), tell, "status")


def _owns(pool: Obj, claim: Obj) -> bool:
    owners: list[Obj] = metadata_of(claim).get("ownerReferences") or []
    return any(owner.get("uid") == uid_of(pool) for owner in owners)
