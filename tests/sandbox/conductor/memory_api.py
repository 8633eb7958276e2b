"""An API server in memory, with resourceVersions, conflicts, UIDs, deletion and watches."""

from __future__ import annotations

import copy
import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator

from hooks.sandbox.apiport import Listing, Resource, WatchEvent
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, name_of, namespace_of, uid_of

Place = tuple[str, str, str]


class MemoryApi:
    """Implements hooks.sandbox.apiport.ApiPort. ``writes`` lists every write that was asked for."""

    def __init__(self, *served: Resource) -> None:
        self.served = list(served)
        self.writes: list[tuple[str, str, str]] = []
        self.refusals: dict[tuple[str, str], ApiError] = {}
        self._versions = itertools.count(1)
        self._version = 0
        self._watches: list[MemoryWatch] = []
        self._changed = threading.Condition(threading.RLock())
        self._objects: dict[str, dict[tuple[str, str], Obj]] = defaultdict(dict)
        self._log: dict[str, list[tuple[int, WatchEvent]]] = defaultdict(list)

    # --- The port ---

    def resources(self, api_version: str) -> list[Resource]:
        found = [resource for resource in self.served if resource.api_version == api_version]
        if not found:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        return found

    def list_all(self, resource: Resource) -> Listing:
        self._refuse("list", resource)
        with self._changed:
            items = [copy.deepcopy(obj) for obj in self._objects[resource.plural].values()]
            return Listing(items, str(self._version))

    def watch(self, resource: Resource, resource_version: str) -> MemoryWatch:
        self._refuse("watch", resource)
        watch = MemoryWatch(self, resource, int(resource_version))
        with self._changed:
            self._watches.append(watch)
        return watch

    def get(self, resource: Resource, namespace: str, name: str) -> Obj:
        with self._changed:
            return copy.deepcopy(self._stored(resource, namespace, name))

    def create(self, resource: Resource, obj: Obj) -> Obj:
        self._write("create", resource, obj)
        with self._changed:
            if (namespace_of(obj), name_of(obj)) in self._objects[resource.plural]:
                raise ApiError(
                    409, "AlreadyExists", f'{resource.plural} "{name_of(obj)}" already exists'
                )
            created = copy.deepcopy(obj)
            created["metadata"].setdefault("uid", f"uid-{next(self._versions)}")
            return self._store(resource, created, "ADDED")

    def update(self, resource: Resource, obj: Obj, subresource: str = "") -> Obj:
        self._write(f"update {subresource}".strip(), resource, obj)
        with self._changed:
            stored = self._stored(resource, namespace_of(obj), name_of(obj))
            if stored["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]:
                raise ApiError(409, "Conflict", "the object has been modified")
            updated = copy.deepcopy(obj)
            if subresource == "status":
                updated = stored | {"status": updated.get("status")}
            elif resource.has_status:
                updated["status"] = stored.get("status")
            return self._store(resource, updated, "MODIFIED")

    def delete(self, resource: Resource, obj: Obj) -> None:
        self._write("delete", resource, obj)
        with self._changed:
            stored = self._stored(resource, namespace_of(obj), name_of(obj))
            if uid_of(stored) != uid_of(obj):
                raise ApiError(409, "Conflict", "the UID in the precondition does not match")
            self._remove(resource, stored)

    # --- What the rest of the world does ---

    def put(self, obj: Obj) -> Obj:
        """Create or replace an object, as another client would."""
        resource = self.resource_of(obj)
        with self._changed:
            key = (namespace_of(obj), name_of(obj))
            known = self._objects[resource.plural].get(key)
            stored = copy.deepcopy(obj)
            uid = uid_of(known) if known else f"uid-{next(self._versions)}"
            stored["metadata"].setdefault("uid", uid)
            return self._store(resource, stored, "MODIFIED" if known else "ADDED")

    def place(self, obj: Obj) -> None:
        """Put an object exactly as it is, resourceVersion included, before anyone watches."""
        plural = self.resource_of(obj).plural
        self._objects[plural][namespace_of(obj), name_of(obj)] = copy.deepcopy(obj)

    def take_away(self, obj: Obj) -> None:
        """Remove an object at once, as the garbage collector would."""
        with self._changed:
            resource = self.resource_of(obj)
            self._remove(resource, self._stored(resource, namespace_of(obj), name_of(obj)))

    def refuse(self, verb: str, plural: str, error: ApiError) -> None:
        """Answer every such call with an error from now on."""
        self.refusals[verb, plural] = error

    def names(self, plural: str) -> list[str]:
        with self._changed:
            return sorted(name for _, name in self._objects[plural])

    def resource_of(self, obj: Obj) -> Resource:
        return next(
            resource
            for resource in self.served
            if (resource.api_version, resource.kind) == (obj["apiVersion"], obj["kind"])
        )

    def events_after(self, resource: Resource, version: int) -> list[tuple[int, WatchEvent]]:
        with self._changed:
            return [entry for entry in self._log[resource.plural] if entry[0] > version]

    def wait_for_change(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait(seconds)

    def is_watched(self, *plurals: str) -> bool:
        """Whether somebody hears of all that happens to objects of these kinds."""
        with self._changed:
            heard = {watch.plural for watch in self._watches if watch.is_open}
        return heard.issuperset(plurals)

    def put_untold(self, obj: Obj) -> None:
        """Replace an object in a way that no watch will ever tell."""
        log = self._log[self.resource_of(obj).plural]
        with self._changed:
            self.put(obj)
            log.pop()

    def break_watches(self, endings: dict[str, ApiError | None]) -> None:
        """End the open watches of these kinds, with an error or in peace."""
        with self._changed:
            for watch in self._watches:
                if watch.plural in endings:
                    watch.end(endings[watch.plural])

    def _store(self, resource: Resource, obj: Obj, event: str) -> Obj:
        self._version = next(self._versions)
        obj["metadata"]["resourceVersion"] = str(self._version)
        self._objects[resource.plural][namespace_of(obj), name_of(obj)] = obj
        self._tell(resource, WatchEvent(event, copy.deepcopy(obj)))
        return copy.deepcopy(obj)

    def _remove(self, resource: Resource, stored: Obj) -> None:
        if stored["metadata"].get("finalizers"):
            stored["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            self._store(resource, stored, "MODIFIED")
            return
        del self._objects[resource.plural][namespace_of(stored), name_of(stored)]
        self._version = next(self._versions)
        gone = copy.deepcopy(stored)
        gone["metadata"]["resourceVersion"] = str(self._version)
        self._tell(resource, WatchEvent("DELETED", gone))

    def _tell(self, resource: Resource, event: WatchEvent) -> None:
        self._log[resource.plural].append((self._version, event))
        self._changed.notify_all()

    def _stored(self, resource: Resource, namespace: str, name: str) -> Obj:
        stored = self._objects[resource.plural].get((namespace, name))
        if stored is None:
            raise ApiError(404, "NotFound", f'{resource.plural} "{name}" not found')
        return stored

    def _write(self, verb: str, resource: Resource, obj: Obj) -> None:
        if resource.kind != "Event":
            self.writes.append((verb, resource.kind, name_of(obj)))
        self._refuse(verb, resource)

    def _refuse(self, verb: str, resource: Resource) -> None:
        refusal = self.refusals.get((verb, resource.plural))
        if refusal is not None:
            raise refusal


class MemoryWatch:
    """Blocks for events as a real watch does."""

    def __init__(self, api: MemoryApi, resource: Resource, version: int) -> None:
        self.plural = resource.plural
        self._api = api
        self._resource = resource
        self._version = version
        self._closed = threading.Event()
        self._error: ApiError | None = None

    def __iter__(self) -> Iterator[WatchEvent]:
        while not self._closed.is_set():
            for version, event in self._api.events_after(self._resource, self._version):
                self._version = version
                yield event
            self._api.wait_for_change(0.02)
        if self._error is not None:
            raise self._error

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    def close(self) -> None:
        self._closed.set()

    def end(self, error: ApiError | None) -> None:
        self._error = error
        self._closed.set()
