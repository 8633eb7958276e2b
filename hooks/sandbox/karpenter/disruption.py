"""Voluntary disruption: empty machines, drifted ones, and consolidation, in this order.

Owns when Karpenter looks (every ten seconds, here only when something could have changed, and again
at once after a command), and that a consolidation is looked at again after 15 s. Seen in
``pkg/controllers/disruption`` (controller.go, emptiness.go, drift.go, staticdrift.go, validation.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.allowances import allowances, next_change
from hooks.sandbox.karpenter.candidates import Candidate, candidates
from hooks.sandbox.karpenter.claimplan import static_plan
from hooks.sandbox.karpenter.commands import Command, Commands, release
from hooks.sandbox.karpenter.conditions import changed_at, condition_of, is_true
from hooks.sandbox.karpenter.consolidation import Consolidation, is_sound
from hooks.sandbox.karpenter.moments import NEVER
from hooks.sandbox.karpenter.plans import Plans
from hooks.sandbox.karpenter.pods import protected_until
from hooks.sandbox.karpenter.reconciler import Reconciler, next_tick
from hooks.sandbox.karpenter.template import disruption_of, spec_of
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import is_terminating, labels_of
from hooks.sandbox.store.kinds import (
    NODECLAIMS,
    NODEPOOLS,
    NODES,
    PODDISRUPTIONBUDGETS,
    PODS,
)

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

PERIOD: Final = timedelta(seconds=10)
SECOND_LOOK: Final = timedelta(seconds=15)
A_MOMENT: Final = timedelta(seconds=1)


class Disruption(Reconciler):
    """Decides on commands."""

    watches: ClassVar[frozenset[Resource]] = frozenset(
        {NODECLAIMS, NODES, PODS, NODEPOOLS, PODDISRUPTIONBUDGETS}
    )

    def __init__(self, world: World, plans: Plans, commands: Commands) -> None:
        """Run commands through ``commands``."""
        super().__init__(world)
        self._plans = plans
        self._commands = commands
        self._consolidation = Consolidation(plans)
        self._origin = world.clock.now()
        self._tick: datetime | None = None
        self._considered: tuple[Command, datetime] | None = None

    @override
    def reconcile(self, now: datetime) -> None:
        if self._considered is not None:
            self._look_again(now)
            return
        if not self._has_work():
            self._tick = None
            return
        self._tick = self._tick or next_tick(now, PERIOD, self._origin)
        if now < self._tick:
            self.wake_at(self._tick)
            return
        self._tick = None
        self._release_forgotten()
        if not self.world.view().is_complete:
            self._go_on_at(now + A_MOMENT)
        elif self._decide(now):
            self._go_on_at(now)
        else:
            self.wake_at_next(now, self._later(now))

    def _go_on_at(self, moment: datetime) -> None:
        """Look again out of turn: after a command at once, while an instance is launched soon."""
        self._tick = moment
        self.wake_at(moment)

    def _has_work(self) -> bool:
        """Tell whether any machine is marked for something, so that a look is worth while."""
        marks = (words.DRIFTED, words.CONSOLIDATABLE)
        return any(
            is_true(claim, mark)
            for claim in self.world.view().claims
            for mark in marks
            if not is_terminating(claim)
        ) or any(self._is_forgotten(claim) for claim in self.world.view().claims)

    def _decide(self, now: datetime) -> bool:
        """Start the first command that is found; tell whether there was one."""
        for command in (self._empty(now), self._drifted_static(now), self._drifted(now)):
            if command is None:
                continue
            if command.reason == words.EMPTY:
                self._consider(command, now)
                return True
            return self._commands.start(command, now)
        found = [one for one in self._found(now, forceful=False) if _is_consolidatable(one)]
        left = self._left(words.UNDERUTILIZED, now)
        command = self._consolidation.several(found, left, now) or self._consolidation.single(
            found, left, now
        )
        if command is None:
            return False
        self._consider(command, now)
        return True

    def _consider(self, command: Command, now: datetime) -> None:
        self._considered = (command, now + SECOND_LOOK)
        self.wake_at(now + SECOND_LOOK)

    def _look_again(self, now: datetime) -> None:
        """Start a command that was considered a while ago, if it is still right."""
        if self._considered is None:
            return
        command, due = self._considered
        if now < due:
            self.wake_at(due)
            return
        self._considered = None
        still = {one.provider_id: one for one in self._found(now, forceful=False)}
        left = self._left(command.reason, now)
        chosen: list[Candidate] = []
        for one in command.candidates:
            fresh = still.get(one.provider_id)
            if fresh is None or not _is_right(fresh, command.reason) or left[one.pool_name] <= 0:
                continue
            left[one.pool_name] -= 1
            chosen.append(fresh)
        is_whole = len(chosen) == len(command.candidates)
        if command.reason == words.EMPTY:
            is_valid = bool(chosen)
        else:
            is_valid = is_whole and self._consolidation.still_holds(command, now)
        started = is_valid and self._commands.start(replace(command, candidates=chosen), now)
        self._go_on_at(now if started else next_tick(now, PERIOD, self._origin))

    def _empty(self, now: datetime) -> Command | None:
        left = self._left(words.EMPTY, now)
        chosen: list[Candidate] = []
        for one in self._found(now, forceful=False):
            if _is_right(one, words.EMPTY) and left[one.pool_name] > 0:
                left[one.pool_name] -= 1
                chosen.append(one)
        return Command(words.EMPTY, chosen) if chosen else None

    def _drifted(self, now: datetime) -> Command | None:
        left = self._left(words.DRIFTED, now)
        drifted = [
            one
            for one in self._found(now, forceful=True)
            if is_true(one.claim, words.DRIFTED) and not one.is_of_static_pool
        ]
        drifted.sort(key=lambda one: (bool(one.moving), changed_at(one.claim, words.DRIFTED)))
        for one in drifted:
            if left[one.pool_name] <= 0:
                continue
            prospect = self._consolidation.prospect([one], now, consolidating=False)
            if is_sound(prospect, self._plans):
                plan = prospect.plan
                return Command(words.DRIFTED, [one], plan.claims, tuple(plan.placed))
        return None

    def _drifted_static(self, now: datetime) -> Command | None:
        left = self._left(words.DRIFTED, now)
        for one in self._found(now, forceful=True):
            if not one.is_of_static_pool or not is_true(one.claim, words.DRIFTED):
                continue
            claims = [
                claim
                for claim in self.world.view().claims
                if labels_of(claim).get(words.POOL) == one.pool_name
            ]
            staying = [claim for claim in claims if not is_terminating(claim)]
            limit: str | None = (spec_of(one.pool).get("limits") or {}).get("nodes")
            is_room = limit is None or len(claims) < int(limit)
            is_settled = len(staying) <= int(spec_of(one.pool)["replicas"])
            if left[one.pool_name] > 0 and is_room and is_settled:
                plan = static_plan(self._plans.template(one.pool), "static-replacement")
                return Command(words.DRIFTED, [one], [plan])
        return None

    def _found(self, now: datetime, *, forceful: bool) -> Sequence[Candidate]:
        return candidates(self.world, self._plans, self._commands.busy, now, forceful=forceful)

    def _left(self, reason: str, now: datetime) -> dict[str, int]:
        return allowances(self._plans.pools(), self.world.view().machines, reason, now)

    def _later(self, now: datetime) -> list[datetime | None]:
        """Return when an answer may change although nothing is written."""
        moments = [
            *self.world.memory.nominated.values(),
            *(next_change(pool, now) for pool in self._plans.pools()),
            *(protected_until(pod) for pod in self.world.view().pods),
        ]
        return [
            next_tick(one, PERIOD, self._origin) for one in moments if one is not None and one > now
        ]

    def _release_forgotten(self) -> None:
        """Take the marks of disruption off machines that no command knows (any more)."""
        for claim in self.world.view().claims:
            if self._is_forgotten(claim):
                release(self.world, self.world.view().node_of(claim), claim)

    def _is_forgotten(self, claim: Obj) -> bool:
        machine = self.world.view().machine_of(claim)
        if machine is None or machine.is_leaving or machine.provider_id in self._commands.busy:
            return False
        has_taint = machine.node is not None and words.has_taint(machine.node, words.DISRUPTED)
        return has_taint or condition_of(claim, words.DISRUPTION_REASON) is not None


def _is_right(candidate: Candidate, reason: str) -> bool:
    """Tell whether a candidate is one for this reason."""
    if reason == words.EMPTY:
        return (
            candidate.is_empty
            and not candidate.is_of_static_pool
            and _may_be_consolidated(candidate)
        )
    return _is_consolidatable(candidate)


def _is_consolidatable(candidate: Candidate) -> bool:
    return (
        not candidate.is_of_static_pool
        and not candidate.is_empty
        and candidate.instance is not None
        and disruption_of(candidate.pool).get("consolidationPolicy") != "WhenEmpty"
        and _may_be_consolidated(candidate)
    )


def _may_be_consolidated(candidate: Candidate) -> bool:
    after = disruption_of(candidate.pool).get("consolidateAfter", "0s")
    return after != NEVER and is_true(candidate.claim, words.CONSOLIDATABLE)
