"""A store on a virtual clock, and small objects to put into it."""

from __future__ import annotations

from datetime import UTC, datetime

from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.objects import Obj, name_of
from hooks.sandbox.store.kinds import SERVED
from hooks.sandbox.store.refusals import RefusedError
from hooks.sandbox.store.store import ObjectStore

START = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"


class World:
    """A store with its clock; ``events`` are those since the world was made or last asked."""

    def __init__(self) -> None:
        self.clock = VirtualClock(START)
        self.store = ObjectStore(self.clock.now, SERVED)
        self._seen = 0

    def events(self) -> list[tuple[str, str, str]]:
        news = self.store.events_after(self._seen)
        self._seen = self.store.revision
        return [(event.type, event.resource.kind, name_of(event.obj)) for event in news]


def node(name: str, **metadata: object) -> Obj:
    return {"metadata": {"name": name, **metadata}, "spec": {}}


def pod(name: str, **spec: object) -> Obj:
    containers = [{"name": "main", "image": "registry.example/app:1"}]
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": containers, **spec},
    }


def bound(name: str, **spec: object) -> Obj:
    return pod(name, nodeName="n1", **spec)


def asking(requests: Obj | None, limits: Obj | None = None) -> Obj:
    """The spec of a Pod whose one container asks for this."""
    resources = {"requests": requests, "limits": limits}
    given = {key: value for key, value in resources.items() if value is not None}
    return {"containers": [{"name": "main", "image": "registry.example/app:1", "resources": given}]}


def fields_of(error: RefusedError) -> list[str]:
    """The fields that a refusal names."""
    return [cause["field"] for cause in (error.details or {}).get("causes", ())]


def told(error: RefusedError) -> tuple[int, str, str]:
    return error.status, error.reason, str(error)
