"""The end of a Node: taint, drain, end of the instance, finalizer; and the NodeClaim goes with it.

Owns the Node's finalizer and the conditions Drained, VolumesDetached and InstanceTerminating. Volumes
aren't modelled: there are never any to wait for. Seen in
``pkg/controllers/node/termination/controller.go`` and the recorded rotation (api-t77jf).

As with KWOK, a Node that isn't Ready goes without a drain: the provider says that a deleted Node's
instance is gone.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.failures import ApiError
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import Conditions, changed_at, condition_of, is_true
from hooks.sandbox.karpenter.drain import DrainStep, drain_step
from hooks.sandbox.karpenter.evictions import Evictions
from hooks.sandbox.karpenter.moments import moment_of
from hooks.sandbox.karpenter.reconciler import Reconciler, Timers
from hooks.sandbox.karpenter.view import ready_condition
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import (
    annotations_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.store.kinds import NODECLAIMS, NODES, PODS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

MIN_DRAIN: Final = timedelta(seconds=5)
"""How long a drain lasts at least, for Pods that were bound before the taint was seen."""


class Termination(Reconciler):
    """Takes each deleted Node to its end."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODES, NODECLAIMS, PODS})

    def __init__(self, world: World, evictions: Evictions) -> None:
        """Evict through ``evictions``."""
        super().__init__(world)
        self._evictions = evictions
        self._timers = Timers()

    @override
    def reconcile(self, now: datetime) -> None:
        for node in self.store.all(NODES):
            if is_terminating(node) and has_finalizer(node):
                self._end(node, now)

    def _end(self, node: Obj, now: datetime) -> None:
        claim = self.world.view().claim_of(node)
        if claim is not None and not is_terminating(claim):
            self.store.delete(NODECLAIMS, "", name_of(claim), uid=uid_of(claim))
        if ready_condition(node) != "True":
            self.store.modify(NODES, "", name_of(node), drop_finalizer)
            return
        self.store.modify(NODES, "", name_of(node), _mark_disrupted)
        step = drain_step(self.world.view().pods_on(node), now, _deadline(claim))
        self._carry_out(step, now)
        if claim is None:
            if not step.waiting:
                self.store.modify(NODES, "", name_of(node), drop_finalizer)
            return
        if step.waiting or self._is_young(claim, now):
            self.world.set_conditions(claim, _draining)
            return
        self.world.set_conditions(claim, _drained)
        self._stop_instance(node, now)

    def _carry_out(self, step: DrainStep, now: datetime) -> None:
        for pod, seconds in step.delete:
            try:
                self.store.delete(
                    PODS, namespace_of(pod), name_of(pod), uid=uid_of(pod), grace_seconds=seconds
                )
            except ApiError as error:
                if not error.is_not_found and not error.is_conflict:
                    raise
        self._evictions.add(step.evict, now)
        self.wake_at_next(now, step.look_again)

    def _is_young(self, claim: Obj, now: datetime) -> bool:
        if is_true(claim, words.DRAINED):
            return False
        since = changed_at(claim, words.DRAINED) or now
        self.wake_at_next(now, [since + MIN_DRAIN])
        return now < since + MIN_DRAIN

    def _stop_instance(self, node: Obj, now: datetime) -> None:
        key = uid_of(node)
        due = self._timers.due(key, now, lambda: self.world.vary(self.world.pace.instance_stop))
        if due > now:
            self.wake_at(due)
            return
        self._timers.forget(key)
        self.store.modify(NODES, "", name_of(node), drop_finalizer)


def has_finalizer(obj: Obj) -> bool:
    """Tell whether Karpenter still holds an object."""
    return words.FINALIZER in (metadata_of(obj).get("finalizers") or ())


def drop_finalizer(obj: Obj) -> None:
    """Let an object go, in place."""
    finalizers: list[str] = metadata_of(obj).get("finalizers") or []
    obj["metadata"]["finalizers"] = [one for one in finalizers if one != words.FINALIZER]


def _deadline(claim: Obj | None) -> datetime | None:
    text = annotations_of(claim or {}).get(words.TERMINATION_TIME)
    return None if text is None else moment_of(text)


def _mark_disrupted(node: Obj) -> None:
    taints: list[Obj] = node["spec"].get("taints") or []
    if not words.has_taint(node, words.DISRUPTED):
        others = [one for one in taints if one.get("key") != words.DISRUPTED["key"]]
        node["spec"]["taints"] = [*others, dict(words.DISRUPTED)]
    node["metadata"]["labels"] = {**labels_of(node), words.NO_BALANCERS: "karpenter"}


def _draining(conditions: Conditions) -> None:
    if condition_of(conditions.obj, words.DRAINED) is None:
        conditions.set_unknown(words.DRAINED, "Draining", "Draining")


def _drained(conditions: Conditions) -> None:
    for kind in (words.DRAINED, words.VOLUMES_DETACHED, words.INSTANCE_TERMINATING):
        conditions.set_true(kind)
