"""The object store: what etcd and the API server are to a cluster.

Owns the lock and the order in which a write passes the rules; the rules themselves are in the
modules beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, metadata_of, name_of, namespace_of
from hooks.sandbox.store import admission, deletion, kinds, namespaces, patching
from hooks.sandbox.store.identity import copied, generated, stamp, uid_at
from hooks.sandbox.store.kinds import SERVED
from hooks.sandbox.store.refusals import already_exists, not_found, not_served
from hooks.sandbox.store.shelves import Shelf, Shelves, StoreEvent
from hooks.sandbox.store.syntax import check_metadata
from hooks.sandbox.store.writing import merged, tidy_metadata

__all__ = ["ObjectStore", "StoreEvent"]


class ObjectStore:
    """Objects, the rules of their writes, and the log of their changes; safe for any thread.

    Reads hand out the stored objects themselves: whoever reads must not change them. Every refusal
    is a :class:`hooks.sandbox.failures.ApiError`.
    """

    def __init__(self, clock: Callable[[], datetime], served: Iterable[Resource] = SERVED) -> None:
        """Begin empty; ``clock`` gives creation and deletion times."""
        self.listeners: list[Callable[[StoreEvent], None]] = []
        """Called after each write, within it: they may write, and the writer doesn't notice."""
        self._clock = clock
        self._shelves = Shelves(served)
        self._names = 0

    # --- Reading ---

    @property
    def revision(self) -> int:
        """The number of the latest write."""
        return self._shelves.revision

    @property
    def served(self) -> tuple[Resource, ...]:
        """The kinds that this server knows."""
        return self._shelves.served()

    def now(self) -> datetime:
        """The present moment of the store's clock."""
        return self._clock()

    def get(self, resource: Resource, namespace: str, name: str) -> Obj:
        """Return one object; raises 404 NotFound."""
        found = self.find(resource, namespace, name)
        if found is None:
            raise not_found(resource, name)
        return found

    def find(self, resource: Resource, namespace: str, name: str) -> Obj | None:
        """Return one object, if it is there."""
        with self._shelves.lock:
            return self._shelf(resource).find(namespace if resource.namespaced else "", name)

    def all(self, resource: Resource, namespace: str | None = None) -> list[Obj]:
        """Return every object of a kind, or of one namespace, by namespace and name."""
        with self._shelves.lock:
            return self._shelf(resource).all(namespace)

    def snapshot(self, resource: Resource, namespace: str | None = None) -> tuple[list[Obj], int]:
        """Return the same as :meth:`all`, with the revision at which it was so."""
        with self._shelves.lock:
            return self.all(resource, namespace), self.revision

    def events_after(self, revision: int) -> list[StoreEvent]:
        """Return every change after a revision; the log is kept from the beginning."""
        with self._shelves.lock:
            return self._shelves.events_after(revision)

    def wait_for_change(self, revision: int, seconds: float) -> None:
        """Wait, in real time, until something was written after this revision."""
        self._shelves.wait_for_change(revision, seconds)

    # --- Writing ---

    def create(self, resource: Resource, obj: Obj, *, dry_run: bool = False) -> Obj:
        """Store a new object; raises 409 AlreadyExists, or what admission refuses."""
        with self._shelves.lock:
            fresh = self._fresh(resource, obj)
            shelf = self._shelf(resource)
            if shelf.find(namespace_of(fresh), name_of(fresh)) is not None:
                raise already_exists(resource, name_of(fresh))
            check_metadata(resource, fresh)
            admission.admit(self._shelves, resource, fresh, self._clock())
            if dry_run:
                return fresh
            return self._record("ADDED", resource, fresh)

    def update(
        self, resource: Resource, obj: Obj, subresource: str = "", *, dry_run: bool = False
    ) -> Obj:
        """Replace an object or its status; raises 404 NotFound, or 409 Conflict for an old version.

        A write that changes nothing makes no event.
        """
        with self._shelves.lock:
            stored = self.get(resource, namespace_of(obj), name_of(obj))
            return self._replace(resource, stored, copied(obj), subresource, dry_run=dry_run)

    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch: Obj | list[Obj],
        content_type: str,
        subresource: str = "",
        *,
        dry_run: bool = False,
    ) -> Obj:
        """Apply a patch to the object as it is; a server-side apply may create it."""
        with self._shelves.lock:
            stored = self.find(resource, namespace, name)
            if stored is None:
                if content_type == patching.APPLY_PATCH and isinstance(patch, dict):
                    named = {"name": name, "namespace": namespace}
                    whole = patch | {"metadata": metadata_of(patch) | named}
                    return self.create(resource, whole, dry_run=dry_run)
                raise not_found(resource, name)
            wanted = patching.patched(resource, stored, patch, content_type)
            return self._replace(resource, stored, wanted, subresource, dry_run=dry_run)

    def modify(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Callable[[Obj], None],
        subresource: str = "",
    ) -> bool:
        """Let ``change`` work on a copy and store it; False when it is gone or nothing changed."""
        with self._shelves.lock:
            stored = self.find(resource, namespace, name)
            if stored is None:
                return False
            before = self.revision
            wanted = copied(stored)
            change(wanted)
            self._replace(resource, stored, wanted, subresource, dry_run=False)
            return self.revision > before

    def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        resource_version: str = "",
        grace_seconds: int | None = None,
        propagation: str = "",
        dry_run: bool = False,
    ) -> Obj:
        """Delete an object, or mark it as being deleted, and return it as it then is or last was.

        Raises 404 NotFound, or 409 Conflict when it isn't of this UID or version. Finalizers keep
        it; a Pod that was bound and isn't finished is kept for its grace period. ``propagation`` is
        Foreground, Orphan or Background: what becomes of what it owns.
        """
        with self._shelves.lock:
            stored = self.get(resource, namespace, name)
            deletion.check_preconditions(resource, stored, uid, resource_version)
            outcome = deletion.outcome_of(
                resource, stored, grace_seconds, propagation, self._clock()
            )
            if dry_run:
                return outcome.stored
            if outcome.stored is not stored:
                stored = self._record("MODIFIED", resource, outcome.stored)
            if outcome.goes:
                return self._remove(resource, stored)
            if resource == kinds.NAMESPACES:
                self._empty(name)
            return stored

    # --- Parts of a write ---

    def _shelf(self, resource: Resource) -> Shelf:
        shelf = self._shelves.of(resource)
        if shelf is None:
            raise not_served()
        return shelf

    def _fresh(self, resource: Resource, obj: Obj) -> Obj:
        """Copy an object with the identity that the server gives it."""
        fresh = copied(obj)
        fresh["apiVersion"], fresh["kind"] = resource.api_version, resource.kind
        metadata = fresh["metadata"] = metadata_of(fresh)
        tidy_metadata(metadata)
        for key in ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"):
            metadata.pop(key, None)
        if not metadata.get("name") and metadata.get("generateName"):
            self._names += 1
            metadata["name"] = generated(metadata["generateName"], self._names)
        if resource.namespaced:
            metadata.setdefault("namespace", "default")
        else:
            metadata.pop("namespace", None)
        metadata["uid"] = uid_at(self.revision + 1)
        metadata["creationTimestamp"] = stamp(self._clock())
        metadata.pop("generation", None)
        if kinds.counts_generations(resource):
            metadata["generation"] = 1
        return fresh

    def _replace(
        self, resource: Resource, stored: Obj, wanted: Obj, subresource: str, *, dry_run: bool
    ) -> Obj:
        result = merged(resource, stored, wanted, subresource)
        if result is stored or dry_run:
            return result
        if deletion.is_over(result):
            # The last event shows the object as it was stored, the answer what was wanted.
            self._remove(resource, stored)
            return result
        return self._record("MODIFIED", resource, result)

    def _remove(self, resource: Resource, obj: Obj) -> Obj:
        if self.find(resource, namespace_of(obj), name_of(obj)) is None:
            # A listener was quicker.
            return obj
        gone = self._record("DELETED", resource, obj)
        if resource.namespaced:
            self._end_if_empty(namespace_of(obj))
        return gone

    def _empty(self, namespace: str) -> None:
        for resource, obj in namespaces.contents_of(self._shelves, namespace):
            self.delete(resource, namespace, name_of(obj))
        self._end_if_empty(namespace)

    def _end_if_empty(self, name: str) -> None:
        namespace = namespaces.emptied(self._shelves, name)
        if namespace is not None:
            self._record("DELETED", kinds.NAMESPACES, namespace)

    def _record(self, event: str, resource: Resource, obj: Obj) -> Obj:
        told = self._shelves.record(event, self._clock(), resource, obj)
        for listener in tuple(self.listeners):
            listener(told)
        return told.obj
