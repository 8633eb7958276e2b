"""The few API verbs that a conductor needs, as a port.

Owns the shape of the calls. :mod:`hooks.sandbox.conductor.apiserver` makes them over HTTP; tests bring a
store in memory. Every call raises :class:`hooks.sandbox.failures.ApiError` and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hooks.sandbox.objects import Obj


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind as discovery tells it."""

    api_version: str
    plural: str
    kind: str
    namespaced: bool
    has_status: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects of a kind at one moment, each with apiVersion and kind filled in."""

    items: list[Obj]
    resource_version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch: ADDED, MODIFIED, DELETED or BOOKMARK, with the object."""

    type: str
    obj: Obj


class Watch(Protocol):
    """An open watch; iterating blocks until the next event, or ends when the server ends it."""

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yield the events in order."""
        ...

    def close(self) -> None:
        """End the watch from any thread; a blocked iteration ends at once."""
        ...


class ApiPort(Protocol):
    """A Kubernetes API server."""

    def resources(self, api_version: str) -> list[Resource]:
        """Return what a group version serves, subresources folded into ``has_status``."""
        ...

    def list_all(self, resource: Resource) -> Listing:
        """Return every object of the kind, in all namespaces."""
        ...

    def watch(self, resource: Resource, resource_version: str) -> Watch:
        """Return the events of the kind after a version."""
        ...

    def get(self, resource: Resource, namespace: str, name: str) -> Obj:
        """Return one object."""
        ...

    def create(self, resource: Resource, obj: Obj) -> Obj:
        """Store a new object in the namespace that it names."""
        ...

    def update(self, resource: Resource, obj: Obj, subresource: str = "") -> Obj:
        """Replace an object; refused when its resourceVersion is not the stored one."""
        ...

    def delete(self, resource: Resource, obj: Obj) -> None:
        """Delete an object only if it still has this UID, its dependents in the background."""
        ...
