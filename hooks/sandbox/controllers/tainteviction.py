"""Pods that don't put up with a NoExecute taint of their Node are deleted, now or after a while.

Owns when. Seen in Kubernetes v1.36.3 ``pkg/controller/tainteviction/taint_eviction.go``
(processPodOnNode, addConditionAndDeletePod). The while counts from when the taint was added, so that
nothing has to be remembered; the real one counts from when it saw it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.conditions import pod_condition, set_condition
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.objects import generation_of, is_terminating, name_of, namespace_of, uid_of
from hooks.sandbox.scheduling.layout import node_name_of
from hooks.sandbox.scheduling.taints import tolerations_for
from hooks.sandbox.store.kinds import NODES, PODS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj


class TaintEviction(LevelController):
    """Deletes Pods whose Node doesn't want them any more."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODES, PODS})

    @override
    def reconcile(self, now: datetime) -> None:
        tainted = {name_of(node): _no_execute(node) for node in self.store.all(NODES)}
        if not any(tainted.values()):
            return
        for pod in self.store.all(PODS):
            taints = tainted.get(node_name_of(pod))
            if not taints or is_terminating(pod):
                continue
            due = _due(pod, taints, now)
            if due is not None and due <= now:
                self._evict(pod, now)
            elif due is not None:
                self.wake_at(due)

    def _evict(self, pod: Obj, now: datetime) -> None:
        condition = pod_condition(
            "DisruptionTarget",
            "True",
            "DeletionByTaintManager",
            "Taint manager: deleting due to NoExecute taint",
        )

        def marked(it: Obj) -> None:
            set_condition(it, now, {**condition, "observedGeneration": generation_of(it)})

        where = (PODS, namespace_of(pod), name_of(pod))
        self.store.modify(*where, marked, "status")
        self.store.delete(*where, uid=uid_of(pod))


def _no_execute(node: Obj) -> list[Obj]:
    taints: list[Obj] = (node.get("spec") or {}).get("taints") or []
    return [taint for taint in taints if taint.get("effect") == "NoExecute"]


def _due(pod: Obj, taints: Sequence[Obj], now: datetime) -> datetime | None:
    """Return when a Pod has to go, None for never."""
    moments: list[datetime] = []
    for taint in taints:
        toleration = next(iter(tolerations_for(pod, taint)), None)
        if toleration is None:
            return now
        seconds: int | None = toleration.get("tolerationSeconds")
        if seconds is not None:
            added: str | None = taint.get("timeAdded")
            since = now if added is None else datetime.fromisoformat(added)
            moments.append(since + timedelta(seconds=seconds))
    return min(moments, default=None)
