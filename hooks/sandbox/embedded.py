"""The embedded cluster: store, controllers, Karpenter and conductor on one virtual clock.

Owns the loop. Everybody does one thing at a time, in turn, until nobody has anything left to do
now; then the clock jumps to the next moment at which somebody has. Nothing here knows real time:
while a hook is called, which takes some, the clock stands still. The same seed gives the same
history.
"""

from __future__ import annotations

import heapq
import itertools
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Final

from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.conductor.stepped import SteppedConductor
from hooks.sandbox.controller import Controller, Pace
from hooks.sandbox.controllers.crew import all_controllers
from hooks.sandbox.face import Face
from hooks.sandbox.karpenter import Karpenter
from hooks.sandbox.store.kinds import NAMESPACES
from hooks.sandbox.store.store import ObjectStore
from hooks.sandbox.webhooks import EvictionApi, Gate, Services

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.sandbox.karpenter.instances import Catalogue

NAMESPACES_AT_THE_START: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
"""What the real API server makes when it first starts."""
MOST_AT_ONCE: Final = 50_000
"""Steps at one moment; more than this means that two of the parts undo each other for ever."""


class RestlessError(RuntimeError):
    """The cluster doesn't come to rest: its parts go on changing things at one moment."""


class EmbeddedCluster:
    """A cluster in memory. Add the DecoratorController and start a hook server to have it rotated."""

    def __init__(
        self,
        start: datetime,
        *,
        seed: int = 0,
        pace: Pace | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        """Begin at ``start``, with nothing but its first namespaces."""
        self.clock = VirtualClock(start)
        self.store = ObjectStore(self.clock.now)
        for name in NAMESPACES_AT_THE_START:
            self.store.create(NAMESPACES, {"metadata": {"name": name}})
        random, chosen = Random(seed), pace or Pace()
        self.services: Services = {}
        """Who stands for the Services that webhooks name."""
        self._evictions = EvictionApi(self.store, self.clock, Gate(self.store, self.services))
        evict = self._evictions.for_karpenter
        karpenter = Karpenter(self.store, self.clock, chosen, random, catalogue, evict=evict)
        self.conductor = SteppedConductor(self.store, self.clock)
        self._parts: list[Controller] = [
            *all_controllers(self.store, self.clock, chosen, random),
            *karpenter.controllers(),
            self.conductor,
        ]
        self._turn = 0
        self._at_this_moment = 0
        self._happenings: list[tuple[datetime, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def door(self) -> Face:
        """Return one more door to the API, evictions included; it isn't open yet."""
        return Face(self.store, subresources={("pods", "eviction"): self._evictions.door})

    def add(self, part: Controller) -> None:
        """Let one more controller take part, after all others."""
        self._parts.append(part)

    def at(self, moment: datetime, action: Callable[[], None]) -> None:
        """Let something happen at a moment, once."""
        heapq.heappush(self._happenings, (moment, next(self._order), action))

    def step(self) -> bool:
        """Let the next part that has something to do now do one thing; False when none has."""
        if self._happenings and self._happenings[0][0] <= self.clock.now():
            _, _, action = heapq.heappop(self._happenings)
            action()
            return True
        for _ in self._parts:
            part = self._parts[self._turn]
            self._turn = (self._turn + 1) % len(self._parts)
            if part.step():
                self._count()
                return True
        return False

    def next_due(self) -> datetime | None:
        """The next moment at which anybody has something to do."""
        dues = [due for part in self._parts if (due := part.next_due()) is not None]
        if self._happenings:
            dues.append(self._happenings[0][0])
        return min(dues, default=None)

    def jump(self, latest: datetime) -> None:
        """Move the clock to the next moment, or to ``latest`` when that comes before it."""
        due = self.next_due()
        self.clock.advance_to(latest if due is None else min(due, latest))
        self._at_this_moment = 0

    def run(self, until: Callable[[], bool], limit: timedelta) -> bool:
        """Go on until it holds, or for ``limit``; tell whether it holds. Asked after each step."""
        end = self.clock.now() + limit
        while not until():
            if self.step():
                continue
            if self.clock.now() >= end:
                return False
            self.jump(end)
        return True

    def close(self) -> None:
        """Void the connections to hooks."""
        self.conductor.close()

    def _count(self) -> None:
        self._at_this_moment += 1
        if self._at_this_moment > MOST_AT_ONCE:
            raise RestlessError(f"no rest at {self.clock.now().isoformat()}")
