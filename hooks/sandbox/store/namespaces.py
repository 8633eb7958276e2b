"""The end of a namespace: everything in it goes first.

Owns what the namespace controller and the ``kubernetes`` finalizer do together. Seen in: kubernetes
v1.36.3 pkg/registry/core/namespace/storage and pkg/controller/namespace/deletion.
"""

from __future__ import annotations

from datetime import datetime

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, is_terminating, metadata_of, name_of
from hooks.sandbox.store import kinds
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.shelves import Shelves


def terminating(namespace: Obj, now: datetime) -> Obj:
    """Return the namespace as one that is being deleted."""
    metadata = metadata_of(namespace) | {"deletionTimestamp": stamp(now)}
    return namespace | {"metadata": metadata, "status": {"phase": "Terminating"}}


def contents_of(shelves: Shelves, name: str) -> list[tuple[Resource, Obj]]:
    """Return everything that lives in a namespace."""
    return [
        (resource, obj)
        for resource in shelves.served()
        if resource.namespaced
        for obj in shelves.all(resource, name)
    ]


def emptied(shelves: Shelves, name: str) -> Obj | None:
    """Return the namespace if it is being deleted and nothing is left in it."""
    shelf = shelves.of(kinds.NAMESPACES)
    namespace = None if shelf is None else shelf.find("", name)
    if namespace is None or not is_terminating(namespace):
        return None
    return None if contents_of(shelves, name_of(namespace)) else namespace
