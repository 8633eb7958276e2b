"""What becomes of Nodes that aren't well, and of the Pods of Nodes that are gone.

Owns the taints that follow from a Node's conditions and its cordon, and the end of orphaned Pods.
Leaves Pods that don't tolerate a taint to :mod:`hooks.sandbox.controllers.tainteviction`. Seen in
Kubernetes v1.36.3 ``pkg/controller/nodelifecycle/node_lifecycle_controller.go``
(doNoScheduleTaintingPass, doNoExecuteTaintingPass) and ``pkg/controller/podgc/gc_controller.go``
(gcOrphaned: 40 s after the Node was missed; its period of 20 s isn't modelled).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.conditions import condition_of, pod_condition, set_condition
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.objects import generation_of, name_of, namespace_of, uid_of
from hooks.sandbox.scheduling.layout import is_finished, node_name_of
from hooks.sandbox.scheduling.taints import NOT_READY, UNREACHABLE, UNSCHEDULABLE
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.kinds import NODES, PODS

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

QUARANTINE: Final = timedelta(seconds=40)
_READINESS: Final = {"False": NOT_READY, "Unknown": UNREACHABLE}
_PRESSURES: Final = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_OURS: Final = frozenset(
    {
        *((key, "NoSchedule") for key in (*_READINESS.values(), *_PRESSURES.values())),
        (UNSCHEDULABLE, "NoSchedule"),
        (NOT_READY, "NoExecute"),
        (UNREACHABLE, "NoExecute"),
    }
)


class NodeLifecycle(LevelController):
    """Taints Nodes, and removes the Pods of those that are gone."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODES, PODS})

    def __init__(self, store: ObjectStore, clock: VirtualClock) -> None:
        super().__init__(store, clock)
        self._missed: dict[str, datetime] = {}

    @override
    def reconcile(self, now: datetime) -> None:
        nodes = self.store.all(NODES)
        for node in nodes:
            self._taint(node, now)
        self._remove_orphans({name_of(node) for node in nodes}, now)

    def _taint(self, node: Obj, now: datetime) -> None:
        wanted = _wanted(node)
        present: list[Obj] = (node.get("spec") or {}).get("taints") or []
        ours = [taint for taint in present if _key(taint) in _OURS]
        if {_key(taint) for taint in ours} == wanted:
            return
        kept = [taint for taint in present if _key(taint) not in _OURS - wanted]
        missing = sorted(wanted - {_key(taint) for taint in ours})
        added = [{"key": key, "effect": effect, "timeAdded": stamp(now)} for key, effect in missing]

        def tainted(it: Obj) -> None:
            it.setdefault("spec", {})["taints"] = [*kept, *added]
            if not it["spec"]["taints"]:
                del it["spec"]["taints"]

        self.store.modify(NODES, "", name_of(node), tainted)

    def _remove_orphans(self, nodes: set[str], now: datetime) -> None:
        orphans = [
            pod
            for pod in self.store.all(PODS)
            if node_name_of(pod) and node_name_of(pod) not in nodes
        ]
        missed = {node_name_of(pod) for pod in orphans}
        self._missed = {name: self._missed.get(name, now) for name in sorted(missed)}
        for name, since in self._missed.items():
            if now < since + QUARANTINE:
                self.wake_at(since + QUARANTINE)
            else:
                self._remove([pod for pod in orphans if node_name_of(pod) == name], now)

    def _remove(self, pods: Sequence[Obj], now: datetime) -> None:
        condition = pod_condition(
            "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"
        )

        def failed(it: Obj) -> None:
            set_condition(it, now, {**condition, "observedGeneration": generation_of(it)})
            it["status"].update(phase="Failed", observedGeneration=generation_of(it))

        for pod in pods:
            where = (PODS, namespace_of(pod), name_of(pod))
            if not is_finished(pod):
                self.store.modify(*where, failed, "status")
            self.store.delete(*where, uid=uid_of(pod), grace_seconds=0)


def _key(taint: Obj) -> tuple[str, str]:
    return (taint.get("key", ""), taint.get("effect", ""))


def _wanted(node: Obj) -> set[tuple[str, str]]:
    """Return the taints that follow from what a Node says about itself."""
    wanted: set[tuple[str, str]] = set()
    readiness = condition_of(node, "Ready")
    if readiness is None:
        # The taint that admission gives to each new Node stays until the kubelet reports.
        wanted.add((NOT_READY, "NoSchedule"))
    elif readiness["status"] in _READINESS:
        key = _READINESS[readiness["status"]]
        wanted |= {(key, "NoSchedule"), (key, "NoExecute")}
    for kind, key in _PRESSURES.items():
        condition = condition_of(node, kind)
        if condition is not None and condition["status"] == "True":
            wanted.add((key, "NoSchedule"))
    if (node.get("spec") or {}).get("unschedulable") is True:
        wanted.add((UNSCHEDULABLE, "NoSchedule"))
    return wanted
