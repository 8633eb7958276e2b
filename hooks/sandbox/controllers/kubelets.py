"""The kubelets of all Nodes: a bound Pod starts, gets ready, and ends.

Owns when; how a Pod's status then looks is in :mod:`hooks.sandbox.controllers.podstatus`. Leaves Pods
of Nodes that are gone to :mod:`hooks.sandbox.controllers.nodelifecycle`. The stages are KWOK's
(v0.8.0 ``kustomize/stage/pod/general``: create, ready, delete), as in the recording
rotation-with-pdb-blocked-drain. Annotations of the sandbox's own slow a Pod down or stop a kubelet.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.levels import LevelController, varied
from hooks.sandbox.controllers.podfacts import is_ready, phase_of
from hooks.sandbox.controllers.podstatus import created, ready, running
from hooks.sandbox.durations import nanoseconds
from hooks.sandbox.objects import (
    annotations_of,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.layout import is_finished, node_name_of
from hooks.sandbox.store.kinds import NODES, PODS

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.controller import Pace
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

READY_AFTER: Final = "sandbox.noderotation.io/ready-after"
"""On a Pod: a Go duration from Running to Ready, or ``never``."""
STOP_AFTER: Final = "sandbox.noderotation.io/stop-after"
"""On a Pod: a Go duration from its deletion to its end, if its grace period allows that much."""
KUBELET: Final = "sandbox.noderotation.io/kubelet"
"""On a Node: with the value ``dead`` its Pods stay as they are."""
DEAD: Final = "dead"
_NEVER: Final = "never"


class Kubelets(LevelController):
    """Moves bound Pods on; remembers when each is due, and begins anew if that is lost."""

    watches: ClassVar[frozenset[Resource]] = frozenset({PODS, NODES})

    def __init__(self, store: ObjectStore, clock: VirtualClock, pace: Pace, rng: Random) -> None:
        super().__init__(store, clock)
        self._pace = pace
        self._rng = rng
        self._timers: dict[tuple[str, str], datetime] = {}

    @override
    def reconcile(self, now: datetime) -> None:
        nodes = {name_of(node): node for node in self.store.all(NODES)}
        timers: dict[tuple[str, str], datetime] = {}
        for pod in self.store.all(PODS):
            node = nodes.get(node_name_of(pod))
            if node is None or annotations_of(node).get(KUBELET) == DEAD:
                continue
            self._move(pod, node, timers, now)
        self._timers = timers
        for due in timers.values():
            self.wake_at(due)

    def _move(
        self, pod: Obj, node: Obj, timers: dict[tuple[str, str], datetime], now: datetime
    ) -> None:
        stage = _stage(pod)
        if stage is None:
            return
        key = (uid_of(pod), stage)
        due = self._timers.get(key)
        if due is None:
            span = self._span(pod, stage)
            if span is None:
                return
            due = now + span
        if stage == "stop":
            # Its grace may be short, and a second delete makes it shorter.
            due = min(due, datetime.fromisoformat(metadata_of(pod)["deletionTimestamp"]))
        if due > now:
            timers[key] = due
            return
        self._advance(pod, node, stage, now)

    def _span(self, pod: Obj, stage: str) -> timedelta | None:
        """Return how long a stage takes, None for ever."""
        annotations = annotations_of(pod)
        if stage == "stop":
            after = annotations.get(STOP_AFTER)
            return self._varied(self._pace.pod_stop) if after is None else _duration(after)
        if stage == "ready":
            after = annotations.get(READY_AFTER, "0s")
            return None if after == _NEVER else _duration(after)
        return self._varied(self._pace.pod_start) / 2

    def _varied(self, span: timedelta) -> timedelta:
        return varied(span, self._pace.spread, self._rng)

    def _advance(self, pod: Obj, node: Obj, stage: str, now: datetime) -> None:
        where = (PODS, namespace_of(pod), name_of(pod))
        if stage == "stop":
            self.store.delete(*where, uid=uid_of(pod), grace_seconds=0)
            return
        waits = READY_AFTER in annotations_of(pod)

        def moved(it: Obj) -> None:
            if stage == "create":
                created(it, node, now)
            elif stage == "run":
                running(it, now, is_ready=not waits)
            else:
                ready(it, now)

        self.store.modify(*where, moved, "status")


def _stage(pod: Obj) -> str | None:
    """Return what comes next for a Pod, None when it stays as it is."""
    if is_terminating(pod):
        return "stop"
    if is_finished(pod):
        return None
    if phase_of(pod) == "Pending":
        return "run" if (pod.get("status") or {}).get("podIP") else "create"
    return None if is_ready(pod) else "ready"


def _duration(text: str) -> timedelta:
    return timedelta(microseconds=nanoseconds(text) / 1000)
