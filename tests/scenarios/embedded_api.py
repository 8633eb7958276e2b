"""The embedded cluster as its administrator sees it.

Owns the administrator's calls: straight on the store, in no time.
"""

from __future__ import annotations

from hooks.sandbox.failures import ApiError
from hooks.sandbox.store import kinds
from hooks.sandbox.store.deletion import BACKGROUND, FOREGROUND
from hooks.sandbox.store.matching import matcher_from
from hooks.sandbox.store.patching import APPLY_PATCH, MERGE_PATCH
from hooks.sandbox.store.store import ObjectStore
from tests.scenarios.stage import Object

RESOURCES = {one.kind: one for one in kinds.SERVED}
"""Kind to resource."""


class StoreApi:
    """The administrator's calls, straight on the store."""

    def __init__(self, store: ObjectStore) -> None:
        """Nothing is read yet."""
        self._store = store

    def find(self, kind: str, **selectors: str) -> list[Object]:
        """All objects of a kind that the selectors take."""
        resource = RESOURCES[kind]
        takes = matcher_from(
            resource, selectors.get("labelSelector", ""), selectors.get("fieldSelector", "")
        )
        return [one for one in self._store.all(resource) if takes.matches(one)]

    def find_one(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """One object, if it is there."""
        return self._store.find(RESOURCES[kind], namespace, name)

    def get(self, kind: str, name: str, namespace: str = "") -> Object:
        """One object; raises ApiError."""
        return self._store.get(RESOURCES[kind], namespace, name)

    def patch(
        self, kind: str, name: str, change: Object, namespace: str = "", subresource: str = ""
    ) -> Object:
        """Merge a change into one object."""
        return self._store.patch(RESOURCES[kind], namespace, name, change, MERGE_PATCH, subresource)

    def delete(
        self, kind: str, name: str, namespace: str = "", *, foreground: bool = False
    ) -> None:
        """Delete one object, which may be gone already."""
        propagation = FOREGROUND if foreground else BACKGROUND
        try:
            self._store.delete(RESOURCES[kind], namespace, name, propagation=propagation)
        except ApiError as error:
            if not error.is_not_found:
                raise

    def apply_objects(self, *objects: Object) -> None:
        """Create each, or merge it into what is there."""
        for one in objects:
            metadata = one["metadata"]
            namespace, name = metadata.get("namespace", ""), metadata["name"]
            self._store.patch(RESOURCES[one["kind"]], namespace, name, one, APPLY_PATCH)
