"""Disruption commands: taint the old machines, bring the new ones first, then delete the old.

Owns the queue, which lives in Karpenter's memory: what is lost with it is undone by
:mod:`hooks.sandbox.karpenter.disruption`. Seen in ``pkg/controllers/disruption/queue.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.candidates import Candidate
from hooks.sandbox.karpenter.claimplan import ClaimPlan
from hooks.sandbox.karpenter.conditions import is_true
from hooks.sandbox.karpenter.plans import Plans
from hooks.sandbox.karpenter.provider import drop_taint
from hooks.sandbox.karpenter.reconciler import Reconciler
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import is_terminating, name_of, uid_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODES

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

LONGEST_WAIT: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Command:
    """Machines to delete, and machines to have before that."""

    reason: str
    candidates: Sequence[Candidate]
    replacements: Sequence[ClaimPlan] = ()
    expected_at: Sequence[str] = ()
    """Provider IDs of the machines that the Pods would go to."""


@dataclass(slots=True)
class _Running:
    """A command under way."""

    command: Command
    since: datetime
    replacements: list[str] = field(default_factory=list)


class Commands(Reconciler):
    """The commands under way."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODECLAIMS})

    def __init__(self, world: World, plans: Plans) -> None:
        """Create replacements through ``plans``."""
        super().__init__(world)
        self._plans = plans
        self._running: list[_Running] = []

    @property
    def busy(self) -> set[str]:
        """The provider IDs of the machines that are being disrupted."""
        return {one.provider_id for running in self._running for one in running.command.candidates}

    def start(self, command: Command, now: datetime) -> bool:
        """Taint the candidates and create their replacements; False when these can't be had."""
        running = _Running(command, now)
        for candidate in command.candidates:
            if candidate.machine.node is not None:
                self.store.modify(NODES, "", name_of(candidate.machine.node), _add_taint)
            self.world.set_conditions(
                candidate.claim,
                lambda conditions: conditions.set_true(
                    words.DISRUPTION_REASON, command.reason, command.reason
                ),
            )
        for plan in command.replacements:
            name = self._plans.create(plan)
            if name is None:
                self._undo(running)
                return False
            running.replacements.append(name)
        # Only now, or provisioning would bring machines for the same Pods a second time.
        self.world.memory.given_up.update(one.provider_id for one in command.candidates)
        self.world.nominate(command.expected_at)
        self._running.append(running)
        self.wake_at(now)
        return True

    @override
    def reconcile(self, now: datetime) -> None:
        for running in list(self._running):
            replacements = [self.store.find(NODECLAIMS, "", one) for one in running.replacements]
            if now - running.since > LONGEST_WAIT or None in replacements:
                self._running.remove(running)
                self._undo(running)
            elif all(one is not None and is_true(one, words.INITIALIZED) for one in replacements):
                self._running.remove(running)
                self._finish(running)
            else:
                self.wake_at(running.since + LONGEST_WAIT + timedelta(seconds=1))
        alive = {machine.provider_id for machine in self.world.view().machines}
        self.world.memory.given_up &= alive

    def _finish(self, running: _Running) -> None:
        for candidate in running.command.candidates:
            claim = self.store.find(NODECLAIMS, "", name_of(candidate.claim))
            if claim is not None and uid_of(claim) == uid_of(candidate.claim):
                self.store.delete(NODECLAIMS, "", name_of(claim), uid=uid_of(claim))

    def _undo(self, running: _Running) -> None:
        for candidate in running.command.candidates:
            self.world.memory.given_up.discard(candidate.provider_id)
            release(self.world, candidate.machine.node, candidate.claim)


def release(world: World, node: Obj | None, claim: Obj) -> None:
    """Take the marks of a disruption off a machine that isn't deleted."""
    if node is not None and not is_terminating(node):
        world.store.modify(NODES, "", name_of(node), lambda obj: drop_taint(obj, words.DISRUPTED))
    world.set_conditions(claim, lambda conditions: conditions.clear(words.DISRUPTION_REASON))


def _add_taint(node: Obj) -> None:
    if not words.has_taint(node, words.DISRUPTED):
        taints: list[Obj] = node["spec"].get("taints") or []
        node["spec"]["taints"] = [*taints, dict(words.DISRUPTED)]
