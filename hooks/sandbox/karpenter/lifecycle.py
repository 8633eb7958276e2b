"""A NodeClaim's life up to its Ready Node: launch, registration, initialization, or giving up.

Owns the order and the conditions Launched, Registered and Initialized. Leaves the end of its life to
:mod:`hooks.sandbox.karpenter.termination`. Seen in ``pkg/controllers/nodeclaim/lifecycle`` and the
recorded rotation (api-cqtm9).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import Conditions, changed_at, is_true
from hooks.sandbox.karpenter.provider import (
    Provider,
    drop_taint,
    launched_amounts,
    launched_labels,
)
from hooks.sandbox.karpenter.reconciler import Reconciler, Timers
from hooks.sandbox.karpenter.registrations import Registrations
from hooks.sandbox.karpenter.template import is_managed_claim, spec_of
from hooks.sandbox.karpenter.view import is_ephemeral
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import annotations_of, is_terminating, labels_of, name_of, uid_of
from hooks.sandbox.scheduling.resources import amounts_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODES

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

REGISTRATION_TIMEOUT: Final = timedelta(minutes=15)


class Lifecycle(Reconciler):
    """Moves each NodeClaim that isn't deleted on by one stage."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODECLAIMS, NODES})

    def __init__(self, world: World, provider: Provider) -> None:
        """Launch through ``provider``."""
        super().__init__(world)
        self._provider = provider
        self._registrations = Registrations(world)
        self._timers = Timers()

    @override
    def reconcile(self, now: datetime) -> None:
        for claim in self.world.view().claims:
            if is_managed_claim(claim) and not is_terminating(claim):
                self._advance(claim, now)

    def _advance(self, claim: Obj, now: datetime) -> None:
        if words.FINALIZER not in (claim["metadata"].get("finalizers") or ()):
            self.store.modify(NODECLAIMS, "", name_of(claim), _add_finalizer)
        elif not is_true(claim, words.LAUNCHED):
            self._launch(claim, now)
        elif not is_true(claim, words.REGISTERED):
            self._register(claim, now)
        elif not is_true(claim, words.INITIALIZED):
            self._initialize(claim)

    def _launch(self, claim: Obj, now: datetime) -> None:
        key = uid_of(claim)
        due = self._timers.due(key, now, lambda: self.world.vary(self.world.pace.launch))
        if due > now:
            self.wake_at(due)
            return
        self._timers.forget(key)
        launched = self._provider.launch(claim)
        if launched is None:
            # Insufficient capacity, or no node class: the next plan may find another way.
            self.store.delete(NODECLAIMS, "", name_of(claim), uid=uid_of(claim))
            return
        offer, instance = launched

        def describe(obj: Obj) -> None:
            obj["metadata"]["labels"] = {**launched_labels(offer, claim), **labels_of(claim)}
            obj["metadata"]["annotations"] = {**annotations_of(claim), words.KWOK_NODE: "fake"}

        def record(conditions: Conditions) -> None:
            conditions.begin()
            conditions.set_true(words.LAUNCHED)
            conditions.set_unknown(
                words.REGISTERED, "NodeNotFound", "Node not registered with cluster"
            )
            conditions.obj["status"] |= {
                **launched_amounts(offer, claim),
                "providerID": f"{words.PROVIDER_PREFIX}{instance}",
            }

        self.store.modify(NODECLAIMS, "", name_of(claim), describe)
        self.world.set_conditions(claim, record)

    def _register(self, claim: Obj, now: datetime) -> None:
        node = self.world.view().node_of(claim)
        if node is None:
            self._give_up_in_time(claim, now)
            return
        self.store.modify(NODES, "", name_of(node), lambda obj: _sync(claim, obj))

        def record(conditions: Conditions) -> None:
            conditions.set_true(words.REGISTERED)
            conditions.obj["status"]["nodeName"] = name_of(node)

        self.world.set_conditions(claim, record)
        self._registrations.record(claim, succeeded=True)

    def _give_up_in_time(self, claim: Obj, now: datetime) -> None:
        since = changed_at(claim, words.REGISTERED) or now
        if now < since + REGISTRATION_TIMEOUT:
            self.wake_at(since + REGISTRATION_TIMEOUT)
            return
        self._registrations.record(claim, succeeded=False)
        self.store.delete(NODECLAIMS, "", name_of(claim), uid=uid_of(claim))

    def _initialize(self, claim: Obj) -> None:
        node = self.world.view().node_of(claim)
        why = _uninitialized(claim, node)
        if why is not None:
            self.world.set_conditions(
                claim, lambda conditions: conditions.set_unknown(words.INITIALIZED, *why)
            )
        elif node is not None:
            self.store.modify(NODES, "", name_of(node), _mark_initialized)
            self.world.set_conditions(
                claim, lambda conditions: conditions.set_true(words.INITIALIZED)
            )


def _uninitialized(claim: Obj, node: Obj | None) -> tuple[str, str] | None:
    """Return reason and message of a Node that Pods can't rely on yet, None when they can."""
    if node is None:
        return "NodeNotFound", "Node not registered with cluster"
    if not is_true(node, words.READY):
        return "NodeNotReady", "Node status is NotReady"
    startup: list[Obj] = spec_of(claim).get("startupTaints") or []
    taints: list[Obj] = spec_of(node).get("taints") or []
    for taint in taints:
        if any(words.same_taint(taint, one) for one in startup):
            return "StartupTaintsExist", f'StartupTaint "{_taint_text(taint)}" still exists'
    for taint in taints:
        if is_ephemeral(taint):
            message = f'KnownEphemeralTaint "{_taint_text(taint)}" still exists'
            return "KnownEphemeralTaintsExist", message
    there = amounts_of((node.get("status") or {}).get("allocatable"))
    requests = amounts_of((spec_of(claim).get("resources") or {}).get("requests"))
    for name, amount in requests.items():
        if amount and not there.get(name):
            return "ResourceNotRegistered", f'Resource "{name}" was requested but not registered'
    return None


def _sync(claim: Obj, node: Obj) -> None:
    """Put on the Node what it shares with its NodeClaim."""
    meta = node["metadata"]
    _add_finalizer(node)
    owners: list[Obj] = meta.setdefault("ownerReferences", [])
    if not any(owner.get("uid") == uid_of(claim) for owner in owners):
        owners.append(_owner(claim))
    if labels_of(node).get(words.NO_TAINT_SYNC) != "true":
        taints: list[Obj] = node["spec"].setdefault("taints", [])
        spec = spec_of(claim)
        for taint in (*(spec.get("taints") or ()), *(spec.get("startupTaints") or ())):
            if not any(words.same_taint(taint, one) for one in taints):
                taints.append(dict(taint))
    meta["annotations"] = {**annotations_of(node), **annotations_of(claim)}
    meta["labels"] = {**labels_of(node), **labels_of(claim), words.REGISTERED_LABEL: "true"}
    drop_taint(node, words.UNREGISTERED)


def _owner(claim: Obj) -> Obj:
    return {
        "apiVersion": "karpenter.sh/v1",
        "blockOwnerDeletion": True,
        "kind": "NodeClaim",
        "name": name_of(claim),
        "uid": uid_of(claim),
    }


def _add_finalizer(obj: Obj) -> None:
    finalizers: list[str] = obj["metadata"].setdefault("finalizers", [])
    if words.FINALIZER not in finalizers:
        finalizers.append(words.FINALIZER)


def _mark_initialized(node: Obj) -> None:
    node["metadata"]["labels"] = {**labels_of(node), words.INITIALIZED_LABEL: "true"}


def _taint_text(taint: Obj) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"
