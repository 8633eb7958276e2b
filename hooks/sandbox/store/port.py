"""The store as an API server for the conductor.

Owns the translation to :class:`hooks.sandbox.apiport.ApiPort`: copies for those who may change what
they get, and watches that block in real time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from hooks.sandbox.apiport import Listing, Resource, WatchEvent
from hooks.sandbox.objects import Obj, name_of, namespace_of, uid_of
from hooks.sandbox.store.doors import inwards, outwards, stored_kind, with_second_doors
from hooks.sandbox.store.identity import copied
from hooks.sandbox.store.refusals import not_served, too_old

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore

_LOOK_AGAIN_SECONDS: Final = 0.1


class StorePort:
    """Implements :class:`hooks.sandbox.apiport.ApiPort` on a store in the same process."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def resources(self, api_version: str) -> list[Resource]:
        """Return what a group version serves; raises 404 for one that isn't there."""
        served = with_second_doors(self._store.served)
        found = [each for each in served if each.api_version == api_version]
        if not found:
            raise not_served()
        return found

    def list_all(self, resource: Resource) -> Listing:
        """Return copies of every object of the kind."""
        stored, revision = self._store.snapshot(stored_kind(resource))
        items = [copied(outwards(resource, obj)) for obj in stored]
        return Listing(items, str(revision))

    def watch(self, resource: Resource, resource_version: str) -> StoreWatch:
        """Return the events of the kind after a version; raises 410 for one that can't be known."""
        since = int(resource_version or 0)
        if since > self._store.revision:
            raise too_old(resource_version)
        return StoreWatch(self._store, resource, since)

    def get(self, resource: Resource, namespace: str, name: str) -> Obj:
        """Return a copy of one object."""
        return copied(outwards(resource, self._store.get(stored_kind(resource), namespace, name)))

    def create(self, resource: Resource, obj: Obj) -> Obj:
        """Store a new object in the namespace that it names."""
        created = self._store.create(stored_kind(resource), inwards(resource, obj))
        return copied(outwards(resource, created))

    def update(self, resource: Resource, obj: Obj, subresource: str = "") -> Obj:
        """Replace an object, or its status."""
        updated = self._store.update(stored_kind(resource), inwards(resource, obj), subresource)
        return copied(outwards(resource, updated))

    def delete(self, resource: Resource, obj: Obj) -> None:
        """Delete an object only if it still has this UID."""
        kind = stored_kind(resource)
        self._store.delete(kind, namespace_of(obj), name_of(obj), uid=uid_of(obj))


class StoreWatch:
    """An open watch on the store."""

    def __init__(self, store: ObjectStore, resource: Resource, since: int) -> None:
        self._store = store
        self._resource = resource
        self._since = since
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yield events until the watch is closed."""
        kind = stored_kind(self._resource)
        while not self._closed.is_set():
            for event in self._store.events_after(self._since):
                self._since = event.revision
                if event.resource == kind:
                    yield WatchEvent(event.type, copied(outwards(self._resource, event.obj)))
                if self._closed.is_set():
                    return
            self._store.wait_for_change(self._since, _LOOK_AGAIN_SECONDS)

    def close(self) -> None:
        """End the watch; an iteration that waits ends within a moment."""
        self._closed.set()
