"""What a graceful drain may do on the cluster: these verbs and nothing else.

Owns the list of verbs, which the RBAC of the webhook and of the hook server mirrors, and how its two
writes look on the wire. Leaves the transport to :mod:`hooks.cluster.connection` and when to write
what to :mod:`hooks.drain`. Objects go in and out as plain JSON. Source: design/drain.md *The two
pieces*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.connection import Connection
from hooks.cluster.herald import stamped
from hooks.cluster.patches import amend
from hooks.cluster.resources import DEPLOYMENTS, PODS, REPLICASETS
from hooks.cluster.verbs import Verbs, found
from hooks.drain.writes import Announcement, PatchDeployment


class DrainApi(Protocol):
    """The verbs of one request. Each raises a :class:`hooks.cluster.errors.ClusterError`."""

    def within(self, deadline: float) -> DrainApi:
        """Give the same verbs, refusing with OutOfTime from ``deadline`` (time.monotonic) on."""

    def briefly(self, seconds: float) -> DrainApi:
        """Give the same verbs, with a deadline at most ``seconds`` from now."""

    def get_pod(self, namespace: str, name: str) -> Json | None:
        """Read a Pod; None when the API server says that it doesn't exist."""

    def get_replicaset(self, namespace: str, name: str) -> Json | None:
        """Read a ReplicaSet; None when it doesn't exist."""

    def get_deployment(self, namespace: str, name: str) -> Json | None:
        """Read a Deployment; None when it doesn't exist."""

    def patch_deployment(self, namespace: str, name: str, ops: Sequence[Json]) -> Json:
        """Apply a JSON Patch; raises NotFound, or Conflict when a test of it fails.

        It costs one call: a patch that the server can't apply for another reason is a Conflict
        too, so the caller reads the Deployment again and goes by what it finds.
        """

    def create_event(self, namespace: str, body: Json) -> bool:
        """Create an Event; False when one of that name is there already."""


@dataclass(frozen=True, slots=True)
class DrainVerbs:
    """The verbs on a real API server."""

    connection: Connection

    def within(self, deadline: float) -> DrainVerbs:
        """See :meth:`DrainApi.within`."""
        return DrainVerbs(self.connection.within(deadline))

    def briefly(self, seconds: float) -> DrainVerbs:
        """See :meth:`DrainApi.briefly`."""
        return DrainVerbs(Verbs(self.connection).briefly(seconds).connection)

    def get_pod(self, namespace: str, name: str) -> Json | None:
        """See :meth:`DrainApi.get_pod`."""
        return found(lambda: self.connection.get(PODS.one(name, namespace)))

    def get_replicaset(self, namespace: str, name: str) -> Json | None:
        """See :meth:`DrainApi.get_replicaset`."""
        return found(lambda: self.connection.get(REPLICASETS.one(name, namespace)))

    def get_deployment(self, namespace: str, name: str) -> Json | None:
        """See :meth:`DrainApi.get_deployment`."""
        return found(lambda: self.connection.get(DEPLOYMENTS.one(name, namespace)))

    def patch_deployment(self, namespace: str, name: str, ops: Sequence[Json]) -> Json:
        """See :meth:`DrainApi.patch_deployment`."""
        return self.connection.patch(DEPLOYMENTS.one(name, namespace), ops, ask=False)

    def create_event(self, namespace: str, body: Json) -> bool:
        """See :meth:`DrainApi.create_event`; it takes a second at most."""
        return Verbs(self.connection).create_event(namespace, body)


def send(api: DrainApi, write: PatchDeployment, observed: Json) -> None:
    """Send the one patch, computed on the Deployment as it was ``observed``; errors as the verb's.

    One that would change nothing isn't sent.
    """
    operations = amend(
        observed, annotations=dict(write.annotations), restarted_at=write.restarted_at
    )
    if operations:
        api.patch_deployment(write.namespace, write.name, operations)


def event_body(announcement: Announcement) -> Json:
    """The events.k8s.io/v1 Event, which lives beside its Deployment."""
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": announcement.name, "namespace": announcement.namespace},
        "action": "Drain",
        "reason": announcement.reason,
        "type": names.DRAIN_EVENTS[announcement.reason],
        "reportingInstance": names.DRAIN_CONTROLLER,
        "regarding": {
            "apiVersion": "apps/v1",
            "kind": names.DEPLOYMENT,
            "namespace": announcement.namespace,
            "name": announcement.regarding,
            "uid": announcement.regarding_uid,
        },
        **stamped(announcement.at, announcement.note),
    }
