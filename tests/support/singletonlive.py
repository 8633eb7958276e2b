"""A cluster in memory behind the verbs of a graceful drain, with all calls in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from typing_extensions import override

from hooks.cluster.errors import ClusterError
from tests.support.live import EVENING, Json, Live

DEPLOYMENT, REPLICASET = "deployments", "replicasets"


class SingletonLive(Live):
    """Keeps Deployments and ReplicaSets, too; ``writes`` holds every call, reads included."""

    def __init__(self, objects: dict[str, dict[str, Json]], now: str = EVENING) -> None:
        super().__init__(objects, now)
        self.objects |= {kind: dict(objects.get(kind, {})) for kind in (DEPLOYMENT, REPLICASET)}

    @override
    def within(self, _deadline: float) -> SingletonLive:
        return self

    @override
    def briefly(self, _seconds: float) -> SingletonLive:
        return self

    @override
    def _get(self, kind: str, name: str) -> Json | None:
        self.writes.append({"get": f"{kind}/{name}"})
        return super()._get(kind, name)

    def get_replicaset(self, namespace: str, name: str) -> Json | None:
        return self._get(REPLICASET, f"{namespace}/{name}")

    def get_deployment(self, namespace: str, name: str) -> Json | None:
        return self._get(DEPLOYMENT, f"{namespace}/{name}")

    def patch_deployment(self, namespace: str, name: str, ops: Sequence[Json]) -> Json:
        target = f"{DEPLOYMENT}/{namespace}/{name}"
        before = self.objects[DEPLOYMENT].get(f"{namespace}/{name}")
        try:
            with self._noting("patch", target):
                return self._patch(DEPLOYMENT, f"{namespace}/{name}", ops)
        finally:
            changed = self.objects[DEPLOYMENT].get(f"{namespace}/{name}")
            if before and changed and before["spec"] != changed["spec"]:
                changed["metadata"]["generation"] += 1

    @override
    def create_event(self, namespace: str, body: Json) -> bool:
        name = body["metadata"]["name"]
        with self._noting("event", name):
            is_new = super().create_event(namespace, body)
        if not is_new:
            self.writes.append({"event": name, "there": True})
        return is_new

    @contextmanager
    def _noting(self, verb: str, target: str) -> Iterator[None]:
        """Note a write that didn't land, too."""
        before = len(self.writes)
        try:
            yield
        except ClusterError as error:
            if len(self.writes) == before:
                self.writes.append({verb: target, "raises": type(error).__name__})
            raise
