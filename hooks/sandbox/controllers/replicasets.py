"""ReplicaSets: as many Pods as they ask for.

Owns the count, the choice of who goes first, and the status. Pods belong by their owner reference
alone; adopting and releasing by labels isn't modelled. Seen in Kubernetes v1.36.3
``pkg/controller/replicaset/replica_set.go`` (manageReplicas), ``replica_set_utils.go``
(calculateStatus), ``pkg/controller/controller_utils.go`` (ActivePodsWithRanks).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.conditions import condition_of
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.controllers.podfacts import available_at, is_active, is_ready, phase_of
from hooks.sandbox.controllers.template import pod_from
from hooks.sandbox.objects import (
    annotations_of,
    controller_ref,
    generation_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.layout import is_finished, node_name_of
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.kinds import PODS, REPLICASETS

if TYPE_CHECKING:
    from hooks.sandbox.failures import ApiError
    from hooks.sandbox.objects import Obj

_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}
_FAILURE: Final = "ReplicaFailure"


class ReplicaSets(LevelController):
    """Creates and deletes Pods, and counts them."""

    watches: ClassVar[frozenset[Resource]] = frozenset({REPLICASETS, PODS})

    @override
    def reconcile(self, now: datetime) -> None:
        owned: dict[str, list[Obj]] = {}
        for pod in self.store.all(PODS):
            owner = controller_ref(pod)
            if owner is not None:
                owned.setdefault(owner["uid"], []).append(pod)
        for replica_set in self.store.all(REPLICASETS):
            self._sync(replica_set, owned.get(uid_of(replica_set), []), now)

    def _sync(self, replica_set: Obj, pods: Sequence[Obj], now: datetime) -> None:
        active = [pod for pod in pods if is_active(pod)]
        error = None if is_terminating(replica_set) else self._manage(replica_set, active)
        min_ready = timedelta(seconds=replica_set["spec"].get("minReadySeconds") or 0)
        moments = [available_at(pod, min_ready) for pod in active]
        for moment in moments:
            if moment is not None and moment > now:
                self.wake_at(moment)
        counts = {
            "fullyLabeledReplicas": _fully_labelled(replica_set, active),
            "readyReplicas": sum(1 for pod in active if is_ready(pod)),
            "availableReplicas": sum(1 for at in moments if at is not None and at <= now),
        }
        leaving = sum(1 for pod in pods if is_terminating(pod) and not is_finished(pod))
        conditions = _failures(replica_set, len(active), error, now)
        status = {
            "replicas": len(active),
            "terminatingReplicas": leaving,
            "observedGeneration": generation_of(replica_set),
            # Zeros aren't written.
            **{key: count for key, count in counts.items() if count},
            **({"conditions": conditions} if conditions else {}),
        }
        self.put_status(REPLICASETS, replica_set, status)

    def _manage(self, replica_set: Obj, active: Sequence[Obj]) -> ApiError | None:
        missing = int(replica_set["spec"].get("replicas", 1)) - len(active)
        for _ in range(missing):
            error = self.attempt(uid_of(replica_set), lambda: self._create(replica_set))
            if error is not None:
                return error
        if missing < 0:
            for pod in by_worth(active)[:-missing]:
                self.store.delete(PODS, namespace_of(pod), name_of(pod), uid=uid_of(pod))
        return None

    def _create(self, replica_set: Obj) -> None:
        self.store.create(PODS, pod_from(replica_set))


def by_worth(pods: Sequence[Obj]) -> list[Obj]:
    """Return Pods in the order in which they are given up.

    First who has no Node, who is pending, who isn't ready, who costs least, who shares a Node with
    most others, and who was ready or created last. Ages are compared as they are; the real one
    compares their logarithms and then the UIDs.
    """
    crowds = Counter(node_name_of(pod) for pod in pods)

    def worth(pod: Obj) -> tuple[bool, int, bool, int, int, float, float]:
        ready = available_at(pod, timedelta())
        return (
            bool(node_name_of(pod)),
            _PHASES.get(phase_of(pod), 1),
            ready is not None,
            int(annotations_of(pod).get(_DELETION_COST) or 0),
            -crowds[node_name_of(pod)],
            -ready.timestamp() if ready is not None else 0.0,
            -datetime.fromisoformat(metadata_of(pod)["creationTimestamp"]).timestamp(),
        )

    return sorted(pods, key=worth)


def _fully_labelled(replica_set: Obj, active: Sequence[Obj]) -> int:
    wanted = labels_of(replica_set["spec"]["template"]).items()
    return sum(1 for pod in active if wanted <= labels_of(pod).items())


def _failures(replica_set: Obj, active: int, error: ApiError | None, now: datetime) -> list[Obj]:
    """Return the conditions: a failure that goes on keeps its first message."""
    known = condition_of(replica_set, _FAILURE)
    if error is None:
        return []
    if known is not None:
        return [known]
    missing = active < int(replica_set["spec"].get("replicas", 1))
    return [
        {
            "type": _FAILURE,
            "status": "True",
            "reason": "FailedCreate" if missing else "FailedDelete",
            "message": str(error),
            "lastTransitionTime": stamp(now),
        }
    ]
