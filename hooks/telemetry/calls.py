"""Counts the calls to the API server by verb, resource and result, on their way through.

Owns the words for results. Leaves the calls to :mod:`hooks.cluster.verbs`. Source:
design/observability.md *Metrics*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from hooks.cluster import errors
from hooks.cluster.answers import Json
from hooks.cluster.verbs import Api
from hooks.telemetry.metrics import Metrics

T = TypeVar("T")

OK: Final = "ok"
NOT_FOUND: Final = "notFound"
ALREADY_EXISTS: Final = "alreadyExists"
RESULTS: Final = (
    (errors.NotFound, NOT_FOUND),
    (errors.AlreadyExists, ALREADY_EXISTS),
    (errors.Conflict, "conflict"),
    (errors.NotServed, "notServed"),
    (errors.Refused, "refused"),
    (errors.OutOfTime, "outOfTime"),
    (errors.ClusterError, "unavailable"),
)
"""Error class and result; the first that fits."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Implements :class:`hooks.cluster.verbs.Api` by another one, and counts what comes of it."""

    api: Api
    metrics: Metrics

    def within(self, deadline: float) -> Counted:
        """See :meth:`Api.within`."""
        return replace(self, api=self.api.within(deadline))

    def briefly(self, seconds: float) -> Counted:
        """See :meth:`Api.briefly`."""
        return replace(self, api=self.api.briefly(seconds))

    def get_nodepool(self, name: str) -> Json | None:
        """See :meth:`Api.get_nodepool`."""
        return self._read("nodepools", lambda: self.api.get_nodepool(name))

    def get_nodeclaim(self, name: str) -> Json | None:
        """See :meth:`Api.get_nodeclaim`."""
        return self._read("nodeclaims", lambda: self.api.get_nodeclaim(name))

    def get_node(self, name: str) -> Json | None:
        """See :meth:`Api.get_node`."""
        return self._read("nodes", lambda: self.api.get_node(name))

    def get_pod(self, namespace: str, name: str) -> Json | None:
        """See :meth:`Api.get_pod`."""
        return self._read("pods", lambda: self.api.get_pod(namespace, name))

    def list_pods_on(self, node: str) -> list[Json]:
        """See :meth:`Api.list_pods_on`."""
        return self._count("list", "pods", lambda: self.api.list_pods_on(node))

    def list_poddisruptionbudgets(self) -> list[Json]:
        """See :meth:`Api.list_poddisruptionbudgets`."""
        return self._count("list", "poddisruptionbudgets", self.api.list_poddisruptionbudgets)

    def patch_nodeclaim(self, name: str, ops: Sequence[Json]) -> Json:
        """See :meth:`Api.patch_nodeclaim`."""
        return self._count("patch", "nodeclaims", lambda: self.api.patch_nodeclaim(name, ops))

    def patch_node(self, name: str, ops: Sequence[Json]) -> Json:
        """See :meth:`Api.patch_node`."""
        return self._count("patch", "nodes", lambda: self.api.patch_node(name, ops))

    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        """See :meth:`Api.delete_nodeclaim`."""
        self._count(
            "delete",
            "nodeclaims",
            lambda: self.api.delete_nodeclaim(name, uid=uid, resource_version=resource_version),
        )

    def create_event(self, namespace: str, body: Json) -> bool:
        """See :meth:`Api.create_event`."""
        return self._count(
            "create",
            "events",
            lambda: self.api.create_event(namespace, body),
            lambda created: OK if created else ALREADY_EXISTS,
        )

    def _read(self, resource: str, call: Callable[[], Json | None]) -> Json | None:
        return self._count("get", resource, call, there)

    def _count(
        self,
        verb: str,
        resource: str,
        call: Callable[[], T],
        result: Callable[[T], str] = lambda _: OK,
    ) -> T:
        return counting(self.metrics, verb, resource, call, result)


def there(found: Json | None) -> str:
    """Word for what a read gave."""
    return NOT_FOUND if found is None else OK


def counting(
    metrics: Metrics,
    verb: str,
    resource: str,
    call: Callable[[], T],
    result: Callable[[T], str] = lambda _: OK,
) -> T:
    """Make the call, and count it by what ``result`` says of its answer, or by its error."""
    try:
        answer = call()
    except errors.ClusterError as error:
        kind = next(word for kind, word in RESULTS if isinstance(error, kind))
        metrics.called(verb, resource, kind)
        raise
    metrics.called(verb, resource, result(answer))
    return answer
