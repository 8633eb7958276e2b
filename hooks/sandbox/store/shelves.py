"""The objects of every kind, and the log of their changes.

Owns the revision, the order of lists, and waiting for a change; knows no rule of Kubernetes. Stored
objects are never changed in place, so they can be handed out as they are.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, TypeAlias

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, name_of, namespace_of

Key: TypeAlias = tuple[str, str]


class StoreEvent(NamedTuple):
    """One change: ADDED, MODIFIED or DELETED, with the object as it is since, or was at the end."""

    revision: int
    at: datetime
    type: str
    resource: Resource
    obj: Obj


class Shelf:
    """The objects of one kind, by namespace and name."""

    def __init__(self) -> None:
        self._objects: dict[Key, Obj] = {}
        self._keys: list[Key] = []

    def find(self, namespace: str, name: str) -> Obj | None:
        """Return the stored object, if it is there."""
        return self._objects.get((namespace, name))

    def all(self, namespace: str | None) -> list[Obj]:
        """Return the objects of a namespace, or of all, in order."""
        if namespace is None:
            return [self._objects[key] for key in self._keys]
        first = bisect_left(self._keys, (namespace, ""))
        behind = bisect_left(self._keys, (namespace + "\0", ""))
        return [self._objects[key] for key in self._keys[first:behind]]

    def put(self, obj: Obj) -> None:
        """Store an object, new or not."""
        key = (namespace_of(obj), name_of(obj))
        if key not in self._objects:
            insort(self._keys, key)
        self._objects[key] = obj

    def remove(self, obj: Obj) -> None:
        """Forget an object."""
        key = (namespace_of(obj), name_of(obj))
        del self._objects[key]
        del self._keys[bisect_left(self._keys, key)]


class Shelves:
    """All kinds together, and what happened to them since the beginning."""

    def __init__(self, served: Iterable[Resource]) -> None:
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)
        self._log: list[StoreEvent] = []
        self._served = tuple(served)
        self._shelves = {(each.api_version, each.plural): Shelf() for each in self._served}

    @property
    def revision(self) -> int:
        """The number of changes so far: each change is one entry of the log."""
        return len(self._log)

    def served(self) -> tuple[Resource, ...]:
        """Return the kinds that have a shelf."""
        return self._served

    def of(self, resource: Resource) -> Shelf | None:
        """Return the shelf of a kind; None when it isn't served."""
        return self._shelves.get((resource.api_version, resource.plural))

    def all(self, resource: Resource, namespace: str | None) -> list[Obj]:
        """Return the objects of a kind; none when it isn't served."""
        shelf = self.of(resource)
        return [] if shelf is None else shelf.all(namespace)

    def record(self, event: str, at: datetime, resource: Resource, obj: Obj) -> StoreEvent:
        """Store an object under the next revision, or take it away, and tell who waits."""
        revision = self.revision + 1
        written = obj | {"metadata": obj["metadata"] | {"resourceVersion": str(revision)}}
        shelf = self._shelves[resource.api_version, resource.plural]
        if event == "DELETED":
            shelf.remove(obj)
        else:
            shelf.put(written)
        told = StoreEvent(revision, at, event, resource, written)
        self._log.append(told)
        self._changed.notify_all()
        return told

    def events_after(self, revision: int) -> list[StoreEvent]:
        """Return the changes after a revision, in order."""
        return self._log[max(revision, 0) :]

    def wait_for_change(self, revision: int, seconds: float) -> None:
        """Wait until there is a later revision, or for so many seconds of real time."""
        with self._changed:
            self._changed.wait_for(lambda: self.revision > revision, seconds)
