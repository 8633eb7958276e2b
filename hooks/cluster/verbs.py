"""What the hook server may do on the cluster for a rotation: these verbs and nothing else.

Owns the list of verbs, which the RBAC of the hook server mirrors. Leaves the transport to
:mod:`hooks.cluster.connection`. Objects go in and out as plain JSON. Source: design/rotation.md
section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from hooks.cluster.answers import Json
from hooks.cluster.connection import Connection
from hooks.cluster.errors import AlreadyExists, NotFound
from hooks.cluster.resources import (
    NODECLAIMS,
    NODEPOOLS,
    NODES,
    PODDISRUPTIONBUDGETS,
    PODS,
    events,
    field_value,
)

EVENT_TIME: Final = 1.0
"""Seconds that the creation of one Event may take."""


class Api(Protocol):
    """The verbs of one pass. Each raises a :class:`hooks.cluster.errors.ClusterError`."""

    def within(self, deadline: float) -> Api:
        """Give the same verbs, refusing with OutOfTime from ``deadline`` (time.monotonic) on."""

    def briefly(self, seconds: float) -> Api:
        """Give the same verbs, with a deadline at most ``seconds`` from now."""

    def get_nodepool(self, name: str) -> Json | None:
        """Read a NodePool; None when the API server says that it doesn't exist."""

    def get_nodeclaim(self, name: str) -> Json | None:
        """Read a NodeClaim; None when it doesn't exist."""

    def get_node(self, name: str) -> Json | None:
        """Read a Node; None when it doesn't exist."""

    def get_pod(self, namespace: str, name: str) -> Json | None:
        """Read one Pod (the placeholder); None when it doesn't exist."""

    def list_pods_on(self, node: str) -> list[Json]:
        """Read all Pods that are bound to the Node, of every namespace."""

    def list_poddisruptionbudgets(self) -> list[Json]:
        """Read all PodDisruptionBudgets, of every namespace."""

    def patch_nodeclaim(self, name: str, ops: Sequence[Json]) -> Json:
        """Apply a JSON Patch; raises NotFound, or Conflict when a test of it fails."""

    def patch_node(self, name: str, ops: Sequence[Json]) -> Json:
        """Apply a JSON Patch; raises NotFound, or Conflict when a test of it fails."""

    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        """Delete it if both still hold; raises NotFound or Conflict otherwise."""

    def create_event(self, namespace: str, body: Json) -> bool:
        """Create an Event; False when one of that name is there already."""


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verbs on a real API server."""

    connection: Connection

    def within(self, deadline: float) -> Verbs:
        """See :meth:`Api.within`."""
        return replace(self, connection=self.connection.within(deadline))

    def briefly(self, seconds: float) -> Verbs:
        """See :meth:`Api.briefly`."""
        soon = self.connection.clock() + seconds
        return self.within(min(self.connection.deadline, soon))

    def get_nodepool(self, name: str) -> Json | None:
        """See :meth:`Api.get_nodepool`."""
        return found(lambda: self.connection.get(NODEPOOLS.one(name)))

    def get_nodeclaim(self, name: str) -> Json | None:
        """See :meth:`Api.get_nodeclaim`."""
        return found(lambda: self.connection.get(NODECLAIMS.one(name)))

    def get_node(self, name: str) -> Json | None:
        """See :meth:`Api.get_node`."""
        return found(lambda: self.connection.get(NODES.one(name)))

    def get_pod(self, namespace: str, name: str) -> Json | None:
        """See :meth:`Api.get_pod`."""
        return found(lambda: self.connection.get(PODS.one(name, namespace)))

    def list_pods_on(self, node: str) -> list[Json]:
        """See :meth:`Api.list_pods_on`."""
        if not node:
            # An empty value would select the Pods that are bound nowhere.
            return []
        selector = f"spec.nodeName={field_value(node)}"
        return list(self.connection.items(PODS.every(), {"fieldSelector": selector}))

    def list_poddisruptionbudgets(self) -> list[Json]:
        """See :meth:`Api.list_poddisruptionbudgets`."""
        return list(self.connection.items(PODDISRUPTIONBUDGETS.every()))

    def patch_nodeclaim(self, name: str, ops: Sequence[Json]) -> Json:
        """See :meth:`Api.patch_nodeclaim`."""
        return self.connection.patch(NODECLAIMS.one(name), ops)

    def patch_node(self, name: str, ops: Sequence[Json]) -> Json:
        """See :meth:`Api.patch_node`."""
        return self.connection.patch(NODES.one(name), ops)

    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        """See :meth:`Api.delete_nodeclaim`."""
        path = NODECLAIMS.one(name)
        self.connection.delete(path, uid=uid, resource_version=resource_version)

    def create_event(self, namespace: str, body: Json) -> bool:
        """See :meth:`Api.create_event`.

        It takes a second at most: a hanging Event API must leave time for the writes that follow.
        """
        connection = self.briefly(EVENT_TIME).connection
        try:
            connection.create(events(body["apiVersion"]).every(namespace), body)
        except AlreadyExists:
            return False
        return True


def found(read: Callable[[], Json]) -> Json | None:
    """Give what a read answers; None when the API server says that there is no such object."""
    try:
        return read()
    except NotFound:
        return None
