"""Pools of a fixed size: as many machines as ``spec.replicas`` says.

Owns filling up and cutting back; machines that are pending disruption don't count as running. Seen in
``pkg/controllers/static`` and ``pkg/controllers/state/statenodepool.go``.

A difference: KWOK's provider can't launch a NodeClaim without instance types among its requirements,
so on the real one a static pool must name them; here anything that the pool allows is launched.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.claimplan import static_plan
from hooks.sandbox.karpenter.conditions import is_true
from hooks.sandbox.karpenter.moments import created_at, span_of
from hooks.sandbox.karpenter.plans import Plans
from hooks.sandbox.karpenter.pods import eviction_cost, is_of_daemon_set, is_protected
from hooks.sandbox.karpenter.reconciler import Reconciler
from hooks.sandbox.karpenter.template import is_static, spec_of
from hooks.sandbox.karpenter.view import provider_id_of_claim
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import is_terminating, labels_of, name_of, uid_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODEPOOLS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

FULL_AGAIN: Final = timedelta(seconds=30)
"""How long it waits when the pool's limit on nodes is reached."""


class StaticPools(Reconciler):
    """Keeps each pool of a fixed size at its size."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODEPOOLS, NODECLAIMS})

    def __init__(self, world: World, plans: Plans) -> None:
        """Create NodeClaims through ``plans``."""
        super().__init__(world)
        self._plans = plans

    @override
    def reconcile(self, now: datetime) -> None:
        for pool in self._plans.pools():
            if is_static(pool) and not is_terminating(pool):
                self._keep(pool, now)

    def _keep(self, pool: Obj, now: datetime) -> None:
        claims = [
            claim
            for claim in self.world.view().claims
            if labels_of(claim).get(words.POOL) == name_of(pool)
        ]
        leaving = [claim for claim in claims if self._is_leaving(claim)]
        pending = [claim for claim in leaving if self._is_pending_disruption(claim)]
        running = [claim for claim in claims if claim not in leaving]
        wanted = int(spec_of(pool)["replicas"])
        if len(running) > wanted:
            for claim in self._dispensable(running, now)[: len(running) - wanted]:
                self.store.delete(NODECLAIMS, "", name_of(claim), uid=uid_of(claim))
        elif len(running) + len(pending) < wanted and is_true(pool, words.READY):
            limit: str | None = (spec_of(pool).get("limits") or {}).get("nodes")
            room = wanted if limit is None else int(limit) - len(claims)
            missing = min(wanted - len(running), room)
            if missing <= 0:
                self.wake_at(now + FULL_AGAIN)
            for number in range(missing):
                template = self._plans.template(pool)
                self._plans.create(static_plan(template, f"static-{number}"))

    def _is_leaving(self, claim: Obj) -> bool:
        machine = self.world.view().machine_of(claim)
        return is_terminating(claim) or (machine is not None and machine.is_leaving)

    def _is_pending_disruption(self, claim: Obj) -> bool:
        """Tell whether it only waits for its replacement."""
        given_up = provider_id_of_claim(claim) in self.world.memory.given_up
        return given_up and not is_terminating(claim)

    def _dispensable(self, claims: Sequence[Obj], now: datetime) -> list[Obj]:
        """Return NodeClaims in the order in which they can be spared."""
        return sorted(claims, key=lambda claim: self._worth(claim, now))

    def _worth(self, claim: Obj, now: datetime) -> tuple[bool, bool, bool, float, str]:
        machine = self.world.view().machine_of(claim)
        pods = () if machine is None else machine.pods
        is_protecting = any(is_protected(pod, now) for pod in pods)
        is_empty = all(is_of_daemon_set(pod) for pod in pods) and not is_protecting
        lifetime = span_of(spec_of(claim).get("expireAfter"))
        left = 1.0 if lifetime is None else 1 - (now - created_at(claim)) / lifetime
        cost = sum(map(eviction_cost, pods)) * max(0.0, left)
        is_launched = bool(provider_id_of_claim(claim))
        return is_launched, not is_empty, is_protecting, 0.0 if is_empty else cost, name_of(claim)
