"""The scheduler: a Node for each Pod that has none.

Owns the order of the Pods, binding, the condition PodScheduled and the deletion of victims. Leaves
what fits to :mod:`hooks.sandbox.scheduling` and whom to push aside to
:mod:`hooks.sandbox.controllers.preemption`. Seen in kube-scheduler v1.36.3 ``schedule_one.go``
(handleSchedulingFailure), ``framework/preemption/executor.go`` (PreemptPod); kube-apiserver
``pkg/registry/core/pod/storage/storage.go`` (setPodNodeAndMetadata); the messages and the topology
labels of a bound Pod in the recording rotation-with-pdb-blocked-drain; in a run on the real control
plane that a Pod is told before its victims go, and not again while they end. A Pod that fits nowhere
is tried again at each change; the real backoff of 1 to 10 s is not modelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.conditions import condition_of, pod_condition, set_condition
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.controllers.podfacts import is_active, priority_of
from hooks.sandbox.controllers.preemption import (
    BY_SCHEDULER,
    WAITING,
    Preemption,
    choose,
    may_not_preempt,
)
from hooks.sandbox.objects import (
    generation_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.layout import node_name_of
from hooks.sandbox.scheduling.placement import NO_NODES, Fitting, Layout, Place, unavailable
from hooks.sandbox.scheduling.scoring import best
from hooks.sandbox.store.kinds import NAMESPACES, NODES, PODDISRUPTIONBUDGETS, PODS
from hooks.sandbox.store.writing import BINDING

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

SCHEDULED: Final = "PodScheduled"
_NAME: Final = "default-scheduler"
_TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
"""The labels of its Node that a Pod gets with the binding."""


class Scheduler(LevelController):
    """Binds Pods, the most important and then the oldest first."""

    watches: ClassVar[frozenset[Resource]] = frozenset({PODS, NODES})

    def __init__(self, store: ObjectStore, clock: VirtualClock, rng: Random) -> None:
        super().__init__(store, clock)
        self._rng = rng

    @override
    def reconcile(self, now: datetime) -> None:
        pods = self.store.all(PODS)
        waiting = sorted((pod for pod in pods if _is_waiting(pod)), key=_turn)
        if not waiting:
            return
        layout = Layout.of(self.store.all(NODES), pods, self.store.all(NAMESPACES))
        for pod in waiting:
            if not self._schedule(pod, waiting, layout, now):
                # Victims change what there is for the others.
                return

    def _schedule(self, pod: Obj, waiting: Sequence[Obj], layout: Layout, now: datetime) -> bool:
        """Bind a Pod or say why not; False when Pods were pushed aside for it."""
        if not layout.places:
            self._refuse(pod, NO_NODES, "", now)
            return True
        seen = _with_nominated(pod, waiting, layout)
        fitting = Fitting(pod, seen)
        verdicts = {name: fitting.verdict(place) for name, place in seen.places.items()}
        fit = [place for name, place in seen.places.items() if not verdicts[name].reasons]
        if fit:
            place = self._choose(pod, fit, seen)
            self._bind(pod, place, now)
            layout.put(pod, place.name)
            return True
        message = unavailable({name: verdict.reasons for name, verdict in verdicts.items()})
        nominated = _nominated(pod)
        why: Preemption | str | None = may_not_preempt(pod, seen, verdicts)
        if why is None:
            why = choose(pod, seen, verdicts, self.store.all(PODDISRUPTIONBUDGETS))
            nominated = why.node if isinstance(why, Preemption) else ""
        if isinstance(why, Preemption):
            self._refuse(pod, message, nominated, now)
            self._push_aside(why, now)
            return False
        if why == WAITING:
            # The end of a victim brings its next turn; until then it was told all there is.
            return True
        told = f"{message} no new claims to deallocate, preemption: {why}"
        self._refuse(pod, told, nominated, now)
        return True

    def _choose(self, pod: Obj, fit: list[Place], layout: Layout) -> Place:
        nominated = _nominated(pod)
        for place in fit:
            if place.name == nominated:
                return place
        equal = best(pod, fit, layout)
        return equal[0] if len(equal) == 1 else self._rng.choice(equal)

    def _bind(self, pod: Obj, place: Place, now: datetime) -> None:
        topology = {key: place.labels[key] for key in _TOPOLOGY if key in place.labels}

        def bound(it: Obj) -> None:
            it["spec"]["nodeName"] = place.name
            if topology:
                it["metadata"]["labels"] = {**labels_of(it), **topology}
            it.setdefault("status", {}).pop("nominatedNodeName", None)
            set_condition(it, now, pod_condition(SCHEDULED, "True"))

        self.store.modify(PODS, namespace_of(pod), name_of(pod), bound, BINDING)

    def _refuse(self, pod: Obj, message: str, nominated: str, now: datetime) -> None:
        condition = pod_condition(SCHEDULED, "False", "Unschedulable", message)
        known: Obj = condition_of(pod, SCHEDULED) or {}
        if (known.get("message"), _nominated(pod)) == (message, nominated):
            return

        def refused(it: Obj) -> None:
            set_condition(it, now, {**condition, "observedGeneration": generation_of(it)})
            if nominated:
                it["status"]["nominatedNodeName"] = nominated
            else:
                it["status"].pop("nominatedNodeName", None)

        self.store.modify(PODS, namespace_of(pod), name_of(pod), refused, "status")

    def _push_aside(self, preemption: Preemption, now: datetime) -> None:
        message = f"{_NAME}: preempting to accommodate a higher priority pod"
        condition = pod_condition("DisruptionTarget", "True", BY_SCHEDULER, message)
        for victim in preemption.victims:
            if not is_active(victim):
                continue

            def marked(it: Obj) -> None:
                set_condition(it, now, {**condition, "observedGeneration": generation_of(it)})

            self.store.modify(PODS, namespace_of(victim), name_of(victim), marked, "status")
            self.store.delete(PODS, namespace_of(victim), name_of(victim), uid=uid_of(victim))


def _is_waiting(pod: Obj) -> bool:
    spec: Obj = pod.get("spec") or {}
    return (
        not node_name_of(pod)
        and is_active(pod)
        and not spec.get("schedulingGates")
        and (spec.get("schedulerName") or _NAME) == _NAME
    )


def _turn(pod: Obj) -> tuple[int, str]:
    return (-priority_of(pod), metadata_of(pod)["creationTimestamp"])


def _nominated(pod: Obj) -> str:
    """Return the Node on which room was made for a Pod."""
    name: str = (pod.get("status") or {}).get("nominatedNodeName") or ""
    return name


def _with_nominated(pod: Obj, waiting: Sequence[Obj], layout: Layout) -> Layout:
    """Return the layout with the room kept for Pods that are at least as important."""
    kept = [
        (other, _nominated(other))
        for other in waiting
        if _nominated(other) in layout.places
        and other is not pod
        and priority_of(other) >= priority_of(pod)
    ]
    if not kept:
        return layout
    seen = layout.copy()
    for other, node in kept:
        # One that was bound a moment ago is on a Node already.
        if not any(one is other for place in seen.places for one in seen.pods_at(place)):
            seen.put(other, node)
    return seen
