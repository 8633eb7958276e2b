"""StatefulSets: Pods with names of their own, one after the other or all at once.

Owns Pods, order and status. Volumes aren't modelled, and neither are ControllerRevisions: a Pod below
the partition that has to be made anew gets the present template. Seen in Kubernetes v1.36.3
``pkg/controller/statefulset/stateful_set_control.go`` (updateStatefulSet, processReplica,
processCondemned, updateStatefulSetAfterInvariantEstablished) and ``stateful_set_utils.go``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.controllers.podfacts import available_at, is_owned_by, is_ready, phase_of
from hooks.sandbox.controllers.shares import scaled
from hooks.sandbox.controllers.template import hash_of, pod_from
from hooks.sandbox.objects import (
    generation_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.layout import is_finished
from hooks.sandbox.store.kinds import PODS, STATEFULSETS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

REVISION: Final = "controller-revision-hash"
_POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
_INDEX: Final = "apps.kubernetes.io/pod-index"


@dataclass(frozen=True, slots=True)
class _Set:
    """A StatefulSet with its Pods at one moment."""

    obj: Obj
    pods: dict[int, Obj]
    revision: str
    """The name of the present template's revision."""
    now: datetime

    @property
    def wanted(self) -> range:
        """The ordinals that there are to be."""
        spec: Obj = self.obj["spec"]
        start = int((spec.get("ordinals") or {}).get("start") or 0)
        return range(start, start + int(spec.get("replicas", 1)))

    @property
    def condemned(self) -> list[Obj]:
        """The Pods that there are too many, the highest first."""
        return [
            self.pods[index]
            for index in sorted(self.pods, reverse=True)
            if index not in self.wanted
        ]

    @property
    def is_ordered(self) -> bool:
        """Whether each Pod waits for the one before it."""
        return bool(self.obj["spec"].get("podManagementPolicy", "OrderedReady") == "OrderedReady")

    @property
    def min_ready(self) -> timedelta:
        """How long a Pod must be ready to be available."""
        return timedelta(seconds=self.obj["spec"].get("minReadySeconds") or 0)

    def is_available(self, pod: Obj | None) -> bool:
        """Tell whether a Pod is there to stay, runs, and has been ready for long enough."""
        return pod is not None and not is_terminating(pod) and self.counts_as_available(pod)

    def counts_as_available(self, pod: Obj) -> bool:
        """Tell whether the status counts a Pod, even one that is leaving."""
        if phase_of(pod) != "Running":
            return False
        since = available_at(pod, self.min_ready)
        return since is not None and since <= self.now


class StatefulSets(LevelController):
    """Creates, replaces and deletes the Pods of each set."""

    watches: ClassVar[frozenset[Resource]] = frozenset({STATEFULSETS, PODS})

    @override
    def reconcile(self, now: datetime) -> None:
        for obj in self.store.all(STATEFULSETS):
            revision = f"{name_of(obj)}-{hash_of(obj['spec']['template'])}"
            present = _Set(obj, self._pods(obj), revision, now)
            if not is_terminating(obj) and not self._fill(present) and not self._shrink(present):
                self._update(present)
            # As it was before: what was done shows next time, as on the real control plane.
            self._report(present)

    def _pods(self, obj: Obj) -> dict[int, Obj]:
        found: dict[int, Obj] = {}
        for pod in self.store.all(PODS, namespace_of(obj)):
            if is_owned_by(pod, uid_of(obj)):
                _, _, index = name_of(pod).rpartition("-")
                found[int(index)] = pod
        return found

    def _fill(self, there: _Set) -> bool:
        """Create what is missing; True when the rest has to wait for it."""
        waits = False
        for index in there.wanted:
            pod = there.pods.get(index)
            if pod is not None and is_finished(pod):
                if not is_terminating(pod):
                    self._delete(pod)
                waits = True
            elif pod is None:
                self._create(there, index)
                waits = waits or there.is_ordered
            elif there.is_ordered and not there.is_available(pod):
                waits = True
            if waits and there.is_ordered:
                return True
        return waits

    def _shrink(self, there: _Set) -> bool:
        """Delete who is too many; True when the update has to wait for it."""
        condemned = there.condemned
        unhealthy = [there.pods.get(index) for index in there.wanted]
        known = [*unhealthy, *condemned[::-1]]
        first_unhealthy = next((pod for pod in known if not there.is_available(pod)), None)
        acted = False
        for pod in condemned:
            if is_terminating(pod):
                if there.is_ordered:
                    return True
                continue
            if there.is_ordered and not there.is_available(pod) and pod is not first_unhealthy:
                return True
            self._delete(pod)
            acted = True
            if there.is_ordered:
                return True
        return acted

    def _update(self, there: _Set) -> None:
        """Delete Pods of an older revision, the highest first, as long as few are unavailable."""
        strategy: Obj = there.obj["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        rolling: Obj = strategy.get("rollingUpdate") or {}
        share = rolling.get("maxUnavailable", 1)
        allowed = max(1, scaled(share, len(there.wanted), round_up=False))
        pods = [there.pods.get(index) for index in there.wanted]
        allowed -= sum(1 for pod in pods if not there.is_available(pod))
        for pod in pods[int(rolling.get("partition") or 0) :][::-1]:
            if pod is None or is_terminating(pod) or _revision(pod) == there.revision:
                continue
            if allowed > 0:
                self._delete(pod)
                allowed -= 1

    def _create(self, there: _Set, index: int) -> None:
        obj = there.obj
        name = f"{name_of(obj)}-{index}"
        pod = pod_from(obj)
        del pod["metadata"]["generateName"]
        pod["metadata"]["name"] = name
        own = {_POD_NAME: name, _INDEX: str(index), REVISION: there.revision}
        pod["metadata"]["labels"] = {**labels_of(pod), **own}
        pod["spec"]["hostname"] = name
        if obj["spec"].get("serviceName"):
            pod["spec"]["subdomain"] = obj["spec"]["serviceName"]
        self.attempt(f"{uid_of(obj)}/{index}", lambda: self.store.create(PODS, pod))

    def _delete(self, pod: Obj) -> None:
        self.store.delete(PODS, namespace_of(pod), name_of(pod), uid=uid_of(pod))

    def _report(self, there: _Set) -> None:
        pods = list(there.pods.values())
        for pod in pods:
            since = available_at(pod, there.min_ready)
            if since is not None and since > there.now:
                self.wake_at(since)
        running = [pod for pod in pods if phase_of(pod) == "Running" and is_ready(pod)]
        status: Obj = there.obj.get("status") or {}
        updated = [pod for pod in pods if _counts(pod, there.revision)]
        is_done = len(updated) == len(there.wanted) == len(running)
        current = there.revision if is_done else status.get("currentRevision") or there.revision
        counts = {
            "readyReplicas": len(running),
            "currentReplicas": sum(1 for pod in pods if _counts(pod, current)),
            "updatedReplicas": len(updated),
        }
        available = sum(1 for pod in pods if there.counts_as_available(pod))
        told = {
            "observedGeneration": generation_of(there.obj),
            "replicas": len(pods),
            # Zeros aren't written.
            **{key: count for key, count in counts.items() if count},
            "availableReplicas": available,
            "currentRevision": current,
            "updateRevision": there.revision,
            "collisionCount": 0,
        }
        self.put_status(STATEFULSETS, there.obj, told)


def _revision(pod: Obj) -> str:
    return labels_of(pod).get(REVISION, "")


def _counts(pod: Obj, revision: str) -> bool:
    return _revision(pod) == revision and not is_terminating(pod)
