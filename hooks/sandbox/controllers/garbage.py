"""The garbage collector: what belongs to nobody any more is deleted, and what waits for it may go.

Owns who belongs to whom, learnt from the store's log and learnt anew if it is lost. An object that
is deleted in the foreground goes when what blocks it has gone; one that is deleted as an orphan's
owner goes when its dependents don't name it any more. Seen in Kubernetes v1.36.3
``pkg/controller/garbagecollector/garbagecollector.go`` (attemptToDeleteItem, classifyReferences,
processDeletingDependentsItem, attemptToOrphanWorker) and ``graph_builder.go`` (processTransitions).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.objects import is_terminating, metadata_of, name_of, namespace_of, uid_of
from hooks.sandbox.store.deletion import (
    BACKGROUND,
    FOREGROUND,
    FOREGROUND_FINALIZER,
    ORPHAN,
    ORPHAN_FINALIZER,
)
from hooks.sandbox.store.kinds import EVENTS, SERVED

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

_Item: TypeAlias = tuple[Resource, str, str]


class GarbageCollector(LevelController):
    """Follows owner references."""

    watches: ClassVar[frozenset[Resource]] = frozenset(SERVED) - {EVENTS}

    def __init__(self, store: ObjectStore, clock: VirtualClock) -> None:
        super().__init__(store, clock)
        self._read = 0
        self._dependents: dict[str, set[_Item]] = {}
        self._items: dict[str, _Item] = {}
        self._owners_of: dict[str, frozenset[str]] = {}
        self._kinds = {(one.api_version, one.kind): one for one in store.served}

    @override
    def reconcile(self, now: datetime) -> None:
        suspects: set[_Item] = set()
        for event in self.store.events_after(self._read):
            self._read = event.revision
            if event.resource in self.watches:
                suspects |= self._learn(event.type, event.resource, event.obj)
        for item in sorted(suspects, key=lambda one: (one[0].plural, one[1], one[2])):
            self._judge(item)

    def _learn(self, what: str, resource: Resource, obj: Obj) -> set[_Item]:
        """Take in one change, and return who has to be looked at because of it."""
        item, uid = (resource, namespace_of(obj), name_of(obj)), uid_of(obj)
        before = self._owners_of.get(uid, frozenset())
        if what == "DELETED":
            self._items.pop(uid, None)
            self._owners_of.pop(uid, None)
            # An owner may have waited for this one.
            return self._dependents.pop(uid, set()) | self._known(before)
        self._items[uid] = item
        owners = _owners(obj)
        if owners != before:
            self._owners_of[uid] = owners
        for owner in owners:
            self._dependents.setdefault(owner, set()).add(item)
        held = _is_held(obj, FOREGROUND_FINALIZER)
        dependents = self._dependents.get(uid, set()) if held else set()
        return {item} | dependents | self._known(before - owners)

    def _known(self, uids: frozenset[str]) -> set[_Item]:
        return {self._items[uid] for uid in uids if uid in self._items}

    def _judge(self, item: _Item) -> None:
        obj = self.store.find(*item)
        if obj is None:
            return
        if _is_held(obj, ORPHAN_FINALIZER):
            self._make_free(item, obj)
        elif _is_held(obj, FOREGROUND_FINALIZER):
            if not any(_blocks(one, obj) for _, one in self._dependents_of(obj)):
                self._let_go(item, FOREGROUND_FINALIZER)
        elif _references(obj) and not is_terminating(obj):
            self._judge_owners(item, obj)

    def _judge_owners(self, item: _Item, obj: Obj) -> None:
        solid: list[Obj] = []
        waiting = False
        for reference in _references(obj):
            is_there, waits = self._owner(reference, namespace_of(obj))
            waiting = waiting or waits
            if is_there and not waits:
                solid.append(reference)
        if not solid:
            # Whoever owns something itself is deleted in the way of its owner.
            foreground = waiting and any(True for _ in self._dependents_of(obj))
            policy = FOREGROUND if foreground else _policy_of(obj)
            self.store.delete(*item, uid=uid_of(obj), propagation=policy)
        elif len(solid) < len(_references(obj)):
            self._refer(item, solid)

    def _make_free(self, item: _Item, obj: Obj) -> None:
        for dependent, one in list(self._dependents_of(obj)):
            kept = [each for each in _references(one) if each["uid"] != uid_of(obj)]
            self._refer(dependent, kept)
        self._let_go(item, ORPHAN_FINALIZER)

    def _refer(self, item: _Item, references: list[Obj]) -> None:
        def kept(it: Obj) -> None:
            it["metadata"]["ownerReferences"] = references

        self.store.modify(*item, kept)

    def _let_go(self, item: _Item, finalizer: str) -> None:
        def freed(it: Obj) -> None:
            it["metadata"]["finalizers"].remove(finalizer)

        self.store.modify(*item, freed)

    def _dependents_of(self, obj: Obj) -> Iterator[tuple[_Item, Obj]]:
        """The objects that refer to this one now, in order."""
        items = self._dependents.get(uid_of(obj), ())
        for item in sorted(items, key=lambda one: (one[0].plural, one[1], one[2])):
            found = self.store.find(*item)
            if found is not None and uid_of(obj) in _owners(found):
                yield item, found

    def _owner(self, reference: Obj, namespace: str) -> tuple[bool, bool]:
        """Whether an owner is there, and whether it waits for what it owns to go."""
        resource = self._kinds.get((reference["apiVersion"], reference["kind"]))
        if resource is None:
            # Nobody can tell, so nothing is done.
            return True, False
        owner = self.store.find(resource, namespace, reference["name"])
        if owner is None or uid_of(owner) != reference["uid"]:
            return False, False
        return True, _is_held(owner, FOREGROUND_FINALIZER)


def _references(obj: Obj) -> list[Obj]:
    references: list[Obj] = metadata_of(obj).get("ownerReferences") or []
    return references


def _owners(obj: Obj) -> frozenset[str]:
    return frozenset(reference["uid"] for reference in _references(obj))


def _is_held(obj: Obj, finalizer: str) -> bool:
    """Whether it is being deleted and waits for the collector."""
    return is_terminating(obj) and finalizer in (metadata_of(obj).get("finalizers") or ())


def _blocks(dependent: Obj, owner: Obj) -> bool:
    return any(
        reference["uid"] == uid_of(owner) and reference.get("blockOwnerDeletion")
        for reference in _references(dependent)
    )


def _policy_of(obj: Obj) -> str:
    """What a finalizer that is there already asks for."""
    finalizers = metadata_of(obj).get("finalizers") or ()
    if ORPHAN_FINALIZER in finalizers:
        return ORPHAN
    return FOREGROUND if FOREGROUND_FINALIZER in finalizers else BACKGROUND
