"""A local copy of all objects of one kind, fed by list and watch, and who is told of changes.

Owns client-go's informer semantics: the copy changes first, then handlers are told in order, each
with the old and the new object; a new list is compared with the copy, so that nothing is missed
after a gap. Leaves sockets and threads to :mod:`hooks.sandbox.conductor.reflector`.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias

from hooks.sandbox.apiport import Resource, WatchEvent
from hooks.sandbox.objects import Obj, controller_ref, name_of, namespace_of

Handler: TypeAlias = Callable[[Obj | None, Obj | None], None]
Key: TypeAlias = tuple[str, str]


def key_of(obj: Obj) -> Key:
    """Return namespace and name."""
    return namespace_of(obj), name_of(obj)


def _owner_of(obj: Obj) -> str | None:
    reference = controller_ref(obj)
    return None if reference is None else reference.get("uid")


class Informer:
    """The copy of one kind. A handler gets (None, new), (old, new) or (old, None)."""

    def __init__(self, resource: Resource, handler: Handler) -> None:
        """Start empty and unsynced."""
        self.resource = resource
        self.synced = threading.Event()
        self._handler = handler
        self._lock = threading.Lock()
        self._objects: dict[Key, Obj] = {}
        self._owned: defaultdict[str, dict[Key, Obj]] = defaultdict(dict)
        self._untold: queue.SimpleQueue[tuple[Obj | None, Obj | None] | None] = queue.SimpleQueue()

    def get(self, namespace: str, name: str) -> Obj | None:
        """Return the copy of one object; callers must not change it."""
        with self._lock:
            return self._objects.get((namespace, name))

    def all(self) -> list[Obj]:
        """Return the copies of all objects, by namespace and name; callers must not change them."""
        with self._lock:
            return [self._objects[key] for key in sorted(self._objects)]

    def owned_by(self, uid: str) -> list[Obj]:
        """Return the copies of the objects whose controller has this UID, by namespace and name."""
        with self._lock:
            owned = self._owned.get(uid, {})
            return [owned[key] for key in sorted(owned)]

    def replace(self, items: Iterable[Obj]) -> None:
        """Take over a whole list; what it no longer has was deleted meanwhile."""
        listed = {key_of(item): item for item in items}
        with self._lock:
            gone = [key for key in self._objects if key not in listed]
            for key in gone:
                self._put(key, None)
            for key, item in listed.items():
                self._put(key, item)
        self.synced.set()

    def apply(self, event: WatchEvent) -> None:
        """Take over one watch event; bookmarks change nothing."""
        if event.type == "BOOKMARK":
            return
        with self._lock:
            self._put(key_of(event.obj), None if event.type == "DELETED" else event.obj)

    def resync(self) -> None:
        """Tell the handler every object once more, old and new the same."""
        with self._lock:
            for obj in self._objects.values():
                self._untold.put((obj, obj))

    def tell_pending(self) -> int:
        """Tell the handler what is pending, without waiting; return how much it was."""
        told = 0
        while not self._untold.empty():
            told += self.tell_next()
        return told

    def tell_next(self) -> bool:
        """Wait for the next change and tell it; False once :meth:`close` was called."""
        change = self._untold.get()
        if change is None:
            return False
        self._handler(*change)
        return True

    def close(self) -> None:
        """End :meth:`tell_next` after what is pending."""
        self._untold.put(None)

    def _put(self, key: Key, new: Obj | None) -> None:
        old = self._objects.pop(key, None)
        if old is not None:
            self._disown(key, old)
        if new is not None:
            self._objects[key] = new
            owner = _owner_of(new)
            if owner is not None:
                self._owned[owner][key] = new
        if old is not None or new is not None:
            self._untold.put((old, new))

    def _disown(self, key: Key, old: Obj) -> None:
        owner = _owner_of(old)
        if owner is not None:
            self._owned[owner].pop(key, None)
            if not self._owned[owner]:
                del self._owned[owner]
