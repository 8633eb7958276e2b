"""Forceful expiry, and NodeClaims whose instance is gone.

Owns both reasons for which Karpenter deletes a NodeClaim without asking anybody: its own
``expireAfter`` counted from its creation, and a Node that vanished. Seen in
``pkg/controllers/nodeclaim/expiration`` and ``nodeclaim/garbagecollection``.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import is_true
from hooks.sandbox.karpenter.moments import created_at, span_of
from hooks.sandbox.karpenter.reconciler import Reconciler, next_tick
from hooks.sandbox.karpenter.template import is_managed_claim, spec_of
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import is_terminating, name_of, uid_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODES

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

SEARCH_PERIOD: Final = timedelta(minutes=2)


class Expiration(Reconciler):
    """Deletes NodeClaims that are too old."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODECLAIMS})

    @override
    def reconcile(self, now: datetime) -> None:
        for claim in self.store.all(NODECLAIMS):
            if is_terminating(claim) or not is_managed_claim(claim):
                continue
            lifetime = span_of(spec_of(claim).get("expireAfter"))
            if lifetime is None:
                continue
            if now < created_at(claim) + lifetime:
                self.wake_at(created_at(claim) + lifetime)
            else:
                self.store.delete(NODECLAIMS, "", name_of(claim), uid=uid_of(claim))


class LostInstances(Reconciler):
    """Deletes registered NodeClaims without a Node; looks every two minutes."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODECLAIMS, NODES})

    def __init__(self, world: World) -> None:
        """Count the periods from now."""
        super().__init__(world)
        self._origin = world.clock.now()
        self._noticed: datetime | None = None

    @override
    def reconcile(self, now: datetime) -> None:
        lost = [claim for claim in self.world.view().claims if self._is_lost(claim)]
        if not lost:
            self._noticed = None
            return
        if self._noticed is None:
            self._noticed = next_tick(now, SEARCH_PERIOD, self._origin)
        if now < self._noticed:
            self.wake_at(self._noticed)
            return
        self._noticed = None
        for claim in lost:
            self.store.delete(NODECLAIMS, "", name_of(claim), uid=uid_of(claim))

    def _is_lost(self, claim: Obj) -> bool:
        return (
            is_true(claim, words.REGISTERED)
            and not is_terminating(claim)
            and is_managed_claim(claim)
            and self.world.view().node_of(claim) is None
        )
