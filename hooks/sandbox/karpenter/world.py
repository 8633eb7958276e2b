"""What all of Karpenter's parts share: store, clock, pace, catalogue, and a memory.

Owns the memory, which lives only in Karpenter's process: which machines are given up, which ones a
Pod is expected at. It may be lost without harm. Seen in ``pkg/controllers/state/statenode.go``
(markedForDeletion, nominatedUntil).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Final

from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.controller import Pace
from hooks.sandbox.controllers.levels import varied
from hooks.sandbox.karpenter.conditions import OF_CLAIMS, Conditions
from hooks.sandbox.karpenter.instances import Catalogue
from hooks.sandbox.karpenter.view import View
from hooks.sandbox.objects import name_of
from hooks.sandbox.store.kinds import NODECLAIMS
from hooks.sandbox.store.store import ObjectStore

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

NOMINATION: Final = timedelta(seconds=20)
"""Twice the longest batch."""


@dataclass(slots=True)
class Memory:
    """What only Karpenter's process knows."""

    given_up: set[str] = field(default_factory=set)
    """Provider IDs of machines that a disruption command is about to delete."""
    nominated: dict[str, datetime] = field(default_factory=dict)
    """Provider IDs of machines with the time until which a Pod is expected there."""


class World:
    """The surroundings of each of Karpenter's controllers."""

    def __init__(
        self,
        store: ObjectStore,
        clock: VirtualClock,
        pace: Pace,
        rng: Random,
        catalogue: Catalogue,
    ) -> None:
        """All chance comes from ``rng``."""
        self.store = store
        self.clock = clock
        self.pace = pace
        self.rng = rng
        self.catalogue = catalogue
        self.memory = Memory()
        self._view: View | None = None
        self._view_of: tuple[int, frozenset[str]] = (-1, frozenset())

    def view(self) -> View:
        """Return the machines as they are now."""
        key = (self.store.revision, frozenset(self.memory.given_up))
        if self._view is None or self._view_of != key:
            self._view = View(self.store, key[1])
            self._view_of = key
        return self._view

    def vary(self, span: timedelta) -> timedelta:
        """Return a span with the pace's spread."""
        return varied(span, self.pace.spread, self.rng)

    def nominate(self, provider_ids: Iterable[str]) -> None:
        """Expect a Pod at each of these machines for a while."""
        for provider_id in provider_ids:
            self.memory.nominated[provider_id] = self.clock.now() + NOMINATION

    def is_nominated(self, provider_id: str) -> bool:
        """Tell whether a Pod is expected at a machine."""
        until = self.memory.nominated.get(provider_id)
        return until is not None and until > self.clock.now()

    def set_conditions(self, claim: Obj, change: Callable[[Conditions], None]) -> bool:
        """Let ``change`` work on a NodeClaim's conditions and write its status, if it differs."""

        def written(obj: Obj) -> None:
            change(Conditions(obj, OF_CLAIMS, self.clock.now()))

        stored = self.store.find(NODECLAIMS, "", name_of(claim))
        if stored is None:
            return False
        # Tried on a shallow copy first: mostly nothing changes, and a whole copy is dear.
        status: Obj = stored.get("status") or {}
        tried = {**stored, "status": dict(status)}
        written(tried)
        if tried["status"] == status:
            return False
        return self.store.modify(NODECLAIMS, "", name_of(claim), written, "status")
