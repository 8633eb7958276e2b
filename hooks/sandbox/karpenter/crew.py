"""All of Karpenter's controllers, in their order.

Owns how they are put together. What they remember in common is in
:class:`hooks.sandbox.karpenter.world.World`.
"""

from __future__ import annotations

from random import Random

from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.controller import Controller, Pace
from hooks.sandbox.karpenter.commands import Commands
from hooks.sandbox.karpenter.disruption import Disruption
from hooks.sandbox.karpenter.endings import Endings
from hooks.sandbox.karpenter.evictions import EvictionCall, Evictions
from hooks.sandbox.karpenter.expiration import Expiration, LostInstances
from hooks.sandbox.karpenter.instances import Catalogue, kwok_catalogue
from hooks.sandbox.karpenter.lifecycle import Lifecycle
from hooks.sandbox.karpenter.marks import Marks, PodEvents
from hooks.sandbox.karpenter.nodepools import PoolCounts, PoolStatus
from hooks.sandbox.karpenter.plans import Plans
from hooks.sandbox.karpenter.provider import Provider
from hooks.sandbox.karpenter.provisioning import Provisioning
from hooks.sandbox.karpenter.static import StaticPools
from hooks.sandbox.karpenter.termination import Termination
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.store.store import ObjectStore


class Karpenter:
    """Karpenter with its KWOK provider, as one process."""

    def __init__(
        self,
        store: ObjectStore,
        clock: VirtualClock,
        pace: Pace,
        rng: Random,
        catalogue: Catalogue | None = None,
        *,
        evict: EvictionCall | None = None,
    ) -> None:
        """Without a catalogue there are KWOK's own instance types.

        ``evict`` is the way to the eviction API where it passes admission webhooks.
        """
        self.world = World(store, clock, pace, rng, catalogue or kwok_catalogue())
        self._evict = evict

    def controllers(self) -> list[Controller]:
        """Return new controllers; their memory begins empty, as after a restart."""
        world = self.world
        plans = Plans(world)
        provider = Provider(world)
        evictions = Evictions(world, self._evict)
        commands = Commands(world, plans)
        return [
            PoolStatus(world, plans),
            Expiration(world),
            LostInstances(world),
            Endings(world, provider),
            Termination(world, evictions),
            evictions,
            Lifecycle(world, provider),
            provider,
            PodEvents(world),
            Marks(world),
            StaticPools(world, plans),
            Provisioning(world, plans),
            commands,
            Disruption(world, plans, commands),
            PoolCounts(world, plans),
        ]
