"""The end of a NodeClaim: its deadline, its Node first, then its instance, then its finalizer.

Seen in ``pkg/controllers/nodeclaim/lifecycle/controller.go`` (finalize) and the recorded rotation.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import is_true
from hooks.sandbox.karpenter.moments import deleted_at, span_of
from hooks.sandbox.karpenter.provider import Provider
from hooks.sandbox.karpenter.reconciler import Reconciler, Timers
from hooks.sandbox.karpenter.template import spec_of
from hooks.sandbox.karpenter.termination import drop_finalizer, has_finalizer
from hooks.sandbox.karpenter.view import provider_id_of_claim
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import annotations_of, is_terminating, name_of, uid_of
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.kinds import NODECLAIMS, NODES

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj


class Endings(Reconciler):
    """Takes each deleted NodeClaim to its end."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODECLAIMS, NODES})

    def __init__(self, world: World, provider: Provider) -> None:
        """End instances through ``provider``."""
        super().__init__(world)
        self._provider = provider
        self._timers = Timers()

    @override
    def reconcile(self, now: datetime) -> None:
        for claim in self.world.view().claims:
            if is_terminating(claim) and has_finalizer(claim):
                self._end(claim, now)

    def _end(self, claim: Obj, now: datetime) -> None:
        self._set_deadline(claim)
        node = self.world.view().node_of(claim)
        if is_true(claim, words.REGISTERED) and node is not None:
            if not is_terminating(node):
                self.store.delete(NODES, "", name_of(node), uid=uid_of(node))
            return
        if provider_id_of_claim(claim):
            self.world.set_conditions(
                claim, lambda conditions: conditions.set_true(words.INSTANCE_TERMINATING)
            )
            if not is_true(claim, words.REGISTERED) and self._is_stopping(claim, now):
                return
            self._provider.terminate(claim)
        self.store.modify(NODECLAIMS, "", name_of(claim), drop_finalizer)

    def _set_deadline(self, claim: Obj) -> None:
        grace = span_of(spec_of(claim).get("terminationGracePeriod"))
        deleted = deleted_at(claim)
        if grace is None or deleted is None or words.TERMINATION_TIME in annotations_of(claim):
            return
        deadline = stamp(deleted + grace)

        def annotate(obj: Obj) -> None:
            obj["metadata"]["annotations"] = {
                **annotations_of(obj),
                words.TERMINATION_TIME: deadline,
            }

        self.store.modify(NODECLAIMS, "", name_of(claim), annotate)

    def _is_stopping(self, claim: Obj, now: datetime) -> bool:
        key = uid_of(claim)
        due = self._timers.due(key, now, lambda: self.world.vary(self.world.pace.instance_stop))
        if due > now:
            self.wake_at(due)
            return True
        self._timers.forget(key)
        return False
