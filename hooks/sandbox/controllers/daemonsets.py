"""DaemonSets: one Pod on each Node that suits.

Owns which Nodes those are, and how a new template reaches them; a rollout with maxSurge isn't
modelled. Seen in Kubernetes v1.36.3 ``pkg/controller/daemon/daemon_controller.go``
(NodeShouldRunDaemonPod, podsShouldBeOnNode), ``update.go`` (rollingUpdate),
``util/daemonset_util.go`` (tolerations, node affinity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.controllers.podfacts import available_at, is_owned_by, is_ready
from hooks.sandbox.controllers.shares import scaled
from hooks.sandbox.controllers.template import hash_of, pod_from
from hooks.sandbox.objects import (
    generation_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.affinity import matches_node, named_nodes, node_terms
from hooks.sandbox.scheduling.layout import is_finished, node_name_of
from hooks.sandbox.scheduling.taints import tolerates
from hooks.sandbox.store.kinds import DAEMONSETS, NODES, PODS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_REVISION: Final = "controller-revision-hash"
_GENERATION: Final = "pod-template-generation"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TOLERATED: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_ON_HOST_NETWORK: Final = (("node.kubernetes.io/network-unavailable", "NoSchedule"),)


class DaemonSets(LevelController):
    """Creates and deletes Pods Node by Node."""

    watches: ClassVar[frozenset[Resource]] = frozenset({DAEMONSETS, NODES, PODS})

    @override
    def reconcile(self, now: datetime) -> None:
        nodes = self.store.all(NODES)
        for daemon_set in self.store.all(DAEMONSETS):
            if not is_terminating(daemon_set):
                wanted = self._manage(daemon_set, nodes)
                self._update(daemon_set, wanted, now)
                self._report(daemon_set, wanted, now)

    def _pods(self, daemon_set: Obj) -> dict[str, list[Obj]]:
        """Return the Pods by the Node that they are on or made for."""
        found: dict[str, list[Obj]] = {}
        for pod in self.store.all(PODS, namespace_of(daemon_set)):
            if is_owned_by(pod, uid_of(daemon_set)):
                found.setdefault(_target(pod), []).append(pod)
        return found

    def _manage(self, daemon_set: Obj, nodes: Sequence[Obj]) -> set[str]:
        """Create and delete Pods; return the Nodes that are to have one."""
        template = _pod(daemon_set)
        pods, wanted = self._pods(daemon_set), set()
        for node in nodes:
            there = pods.pop(name_of(node), [])
            should_run, may_stay = _suits(template, node)
            if should_run:
                wanted.add(name_of(node))
            if should_run and not there:
                self._create(daemon_set, name_of(node))
            elif may_stay:
                self._delete([pod for pod in there if is_finished(pod)])
                running = [pod for pod in there if not is_finished(pod) and not is_terminating(pod)]
                self._delete(sorted(running, key=_age)[1:])
            else:
                self._delete(there)
        # Those that were made for a Node that went before they were bound.
        self._delete([pod for left in pods.values() for pod in left if not node_name_of(pod)])
        return wanted

    def _update(self, daemon_set: Obj, wanted: set[str], now: datetime) -> None:
        """Delete Pods of an older template, as long as few are unavailable."""
        strategy: Obj = daemon_set["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        share = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
        allowed = max(1, scaled(share, len(wanted), round_up=True))
        revision = _revision(daemon_set)
        broken: list[Obj] = []
        candidates: list[Obj] = []
        for there in self._pods(daemon_set).values():
            living = [pod for pod in there if not is_terminating(pod)]
            if len(living) != 1 or not _is_available(daemon_set, living[0], now):
                allowed -= 1
                broken += [pod for pod in living if _revision_of(pod) != revision]
            elif _revision_of(living[0]) != revision:
                candidates += living
        self._delete([*broken, *candidates[: max(0, allowed)]])

    def _create(self, daemon_set: Obj, node: str) -> None:
        pod = _pod(daemon_set)
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        affinity: Obj = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
        affinity[_REQUIRED] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        self.attempt(f"{uid_of(daemon_set)}/{node}", lambda: self.store.create(PODS, pod))

    def _delete(self, pods: Sequence[Obj]) -> None:
        for pod in pods:
            if not is_terminating(pod):
                self.store.delete(PODS, namespace_of(pod), name_of(pod), uid=uid_of(pod))

    def _report(self, daemon_set: Obj, wanted: set[str], now: datetime) -> None:
        pods = self._pods(daemon_set)
        for there in pods.values():
            for pod in there:
                since = available_at(pod, _min_ready(daemon_set))
                if since is not None and since > now:
                    self.wake_at(since)
        counts = _counts(daemon_set, pods, wanted, now)
        status = {**counts, "observedGeneration": generation_of(daemon_set)}
        self.put_status(DAEMONSETS, daemon_set, status)


def _pod(daemon_set: Obj) -> Obj:
    """Return a Pod of the template as it would be on any Node."""
    pod = pod_from(daemon_set)
    own = {_REVISION: _revision(daemon_set), _GENERATION: str(generation_of(daemon_set))}
    pod["metadata"]["labels"] = {**labels_of(pod), **own}
    spec: Obj = pod["spec"]
    extra = (*_TOLERATED, *(_ON_HOST_NETWORK if spec.get("hostNetwork") else ()))
    tolerations = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in extra]
    known: list[Obj] = spec.get("tolerations") or []
    spec["tolerations"] = [*known, *(one for one in tolerations if one not in known)]
    return pod


def _revision(daemon_set: Obj) -> str:
    return hash_of(daemon_set["spec"]["template"])


def _suits(pod: Obj, node: Obj) -> tuple[bool, bool]:
    """Tell whether a Node is to have such a Pod, and whether one that is there may stay."""
    name = name_of(node)
    if node_name_of(pod) not in {"", name} or not matches_node(
        node_terms(pod), labels_of(node), name
    ):
        return False, False
    taints: list[Obj] = (node.get("spec") or {}).get("taints") or []
    return tolerates(pod, taints), tolerates(pod, taints, ("NoExecute",))


def _target(pod: Obj) -> str:
    return node_name_of(pod) or next(iter(named_nodes(pod) or ()), "")


def _age(pod: Obj) -> tuple[bool, str]:
    """Sort those that have a Node first, then the oldest."""
    return (not node_name_of(pod), metadata_of(pod)["creationTimestamp"])


def _revision_of(pod: Obj) -> str:
    return labels_of(pod).get(_REVISION, "")


def _min_ready(daemon_set: Obj) -> timedelta:
    return timedelta(seconds=daemon_set["spec"].get("minReadySeconds") or 0)


def _is_available(daemon_set: Obj, pod: Obj, now: datetime) -> bool:
    since = available_at(pod, _min_ready(daemon_set))
    return since is not None and since <= now


def _counts(
    daemon_set: Obj, pods: Mapping[str, Sequence[Obj]], wanted: set[str], now: datetime
) -> dict[str, int]:
    # One Pod stands for each Node: the oldest that has it.
    on_wanted = [min(pods[name], key=_age) for name in sorted(wanted) if pods.get(name)]
    available = sum(1 for pod in on_wanted if _is_available(daemon_set, pod, now))
    revision = _revision(daemon_set)
    updated = sum(1 for pod in on_wanted if _revision_of(pod) == revision)
    optional = {
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberUnavailable": len(wanted) - available,
    }
    return {
        "currentNumberScheduled": len(on_wanted),
        "desiredNumberScheduled": len(wanted),
        "numberMisscheduled": sum(1 for name in pods if name not in wanted),
        "numberReady": sum(1 for pod in on_wanted if is_ready(pod)),
        # Zeros aren't written.
        **{key: count for key, count in optional.items() if count},
    }
