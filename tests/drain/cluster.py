"""A small model of all that surrounds a Deployment: its controllers, kubelets, an API server.

Each move is one step of one of them, so that a test can put them in any order. The Deployment is the
value that the core sees, changed under a resourceVersion; ReplicaSets and Pods are beside it. Rolling
as Kubernetes v1.36.3 does it (``rolling.go``) with maxSurge 1 and maxUnavailable 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final

from hooks import names
from hooks.drain.model import Case, Deployment, Kind, Owner, Pod, Read, ReplicaSet, Review, Strategy
from hooks.drain.writes import PatchDeployment
from hooks.rotation.durations import parse_stamp
from tests.drain.things import NOW

ROLLING: Final = Strategy(max_surge=1, max_unavailable=0)
FIELDS: Final = {
    names.DRAIN_RESTARTED_AT: "restarted_at",
    names.DRAIN_ROLLED_FOR: "rolled_for",
    names.DRAIN_LAST_POD_UID: "last_pod_uid",
}
Template = tuple[int, str | None]
"""What Pods are made from: somebody's version of it, and restartedAt."""


class Conflict(Exception):
    """The Deployment has another resourceVersion by now."""


@dataclass
class Set:
    """A ReplicaSet: its template, its size, and its number among them."""

    uid: str
    template: Template
    revision: int
    size: int = 0


@dataclass
class Container:
    """A Pod."""

    uid: str
    owner: Set
    ready: bool = False
    broken: bool = False
    """It will never be ready again."""
    terminating: bool = False


@dataclass
class Cluster:
    """One Deployment with one ready Pod. ``lags``: its status is as of its controller's last look."""

    lags: bool = False
    now: datetime = NOW
    template: Template = (1, None)
    sets: list[Set] = field(default_factory=list)
    pods: list[Container] = field(default_factory=list)
    deployment: Deployment = field(
        default_factory=lambda: Deployment(
            "shop",
            "web",
            "deployment-1",
            "1",
            generation=1,
            annotations={"drain": "true"},
            strategy=ROLLING,
            template=as_template((1, None)),
        )
    )
    seen: list[Deployment] = field(default_factory=list)
    """All that the Deployment has been, oldest first: caches lag behind."""
    _numbers: Any = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.seen.append(self.deployment)
        self.control()
        self.replicate()
        self.start(self.pods[0])
        self.control()

    # --- The API server. ---
    def change(self, **changes: Any) -> None:
        """Write the Deployment; nothing happens when nothing changes."""
        changed = replace(self.deployment, **changes)
        if changed != self.deployment:
            version = str(int(self.deployment.resource_version) + 1)
            self.deployment = replace(changed, resource_version=version)
            self.seen.append(self.deployment)

    def specify(self, template: Template | None = None, **changes: Any) -> None:
        """Write its spec, which gives it another generation."""
        self.template = template or self.template
        changes["template"] = as_template(self.template)
        if self.deployment != replace(self.deployment, **changes):
            self.change(**changes, generation=self.deployment.generation + 1)

    def patch(self, patch: PatchDeployment) -> None:
        """Apply a patch of ours, if it rests on what is there."""
        if patch.resource_version != self.deployment.resource_version:
            raise Conflict
        assert patch.uid == self.deployment.uid
        changes: dict[str, Any] = {}
        for key, value in patch.annotations:
            is_time = key != names.DRAIN_LAST_POD_UID
            changes[FIELDS[key]] = parse_stamp(value) if is_time else value
        if patch.restarted_at is None:
            self.change(**changes)
        else:
            self.specify((self.template[0], patch.restarted_at), **changes)

    def clear(self, seen: Deployment) -> bool:
        """Remove tracking as Metacontroller does: only from the version that it has seen."""
        if seen.resource_version != self.deployment.resource_version:
            return False
        self.change(restarted_at=None)
        return True

    def read(self, case: Case, wanted: Read) -> Case:
        """Make a live read."""
        match wanted.kind:
            case Kind.POD:
                pod = next((it for it in self.pods if it.uid == wanted.name), None)
                return replace(case, pod=None if pod is None else as_pod(pod))
            case Kind.REPLICA_SET:
                found = next((it for it in self.sets if it.uid == wanted.name), None)
                return replace(case, replica_set=None if found is None else as_set(found))
            case Kind.DEPLOYMENT:
                return replace(case, deployment=self.deployment)

    # --- Controllers and kubelets. ---
    def control(self) -> None:
        """The Deployment controller's look from end to end: numbers, sizes, status."""
        new = self.number()
        if new is not None:
            self._resize(new, self.deployment.replicas)
        self.report(observed=True)

    def number(self) -> Set | None:
        """Its look as far as the Deployment's revision: what it has observed comes in a later write."""
        new = self.make()
        if new is not None:
            self.change(revision=new.revision)
        return new

    def make(self) -> Set | None:
        """Its first write: the template's ReplicaSet, of which the Deployment doesn't tell yet."""
        newest = max((it.revision for it in self.sets), default=0)
        new = next((it for it in self.sets if it.template == self.template), None)
        if new is not None and new.revision < newest:
            new.revision = newest + 1
        elif new is None and not self.deployment.paused:
            new = Set(f"set-{next(self._numbers)}", self.template, newest + 1)
            new.size = self._room(new, self.deployment.replicas)
            self.sets.append(new)
        return new

    def _room(self, new: Set, desired: int) -> int:
        room = max(0, desired + 1 - sum(it.size for it in self.sets))
        return min(desired - new.size, room)

    def _resize(self, new: Set, desired: int) -> None:
        old = [it for it in self.sets if it is not new]
        if new.size > desired:
            new.size = desired
        elif self.deployment.paused:
            return
        grown = self._room(new, desired)
        new.size += grown
        if grown:
            return
        spare = sum(it.size for it in self.sets) - desired - (new.size - self._available(new))
        for each in old:
            gone = max(0, min(spare, each.size - self._available(each)))
            each.size -= gone
            spare -= gone
        spare = sum(min(it.size, self._available(it)) for it in self.sets) - desired
        for each in old:
            gone = max(0, min(spare, each.size))
            each.size -= gone
            spare -= gone

    def report(self, *, observed: bool = False) -> None:
        """Write the status; without lag that follows every move at once."""
        if self.lags and not observed:
            return
        alive = [it for it in self.pods if not it.terminating]
        ready = sum(it.ready for it in alive)
        generation = self.deployment.generation
        newest = max(self.sets, key=lambda it: it.revision)
        self.change(
            total=len(alive),
            updated=len(self._alive(newest)),
            ready=ready,
            unavailable=max(0, len(alive) - ready),
            observed_generation=generation if observed else self.deployment.observed_generation,
        )

    def _available(self, of: Set) -> int:
        return sum(it.ready for it in self._alive(of))

    def _alive(self, of: Set) -> list[Container]:
        return [it for it in self.pods if it.owner is of and not it.terminating]

    def replicate(self) -> None:
        """The ReplicaSet controller's look: Pods too few, Pods too many; the unready go first."""
        for each in self.sets:
            alive = self._alive(each)
            for _ in range(each.size - len(alive)):
                self.pods.append(Container(f"pod-{next(self._numbers)}", each))
            surplus = max(0, len(alive) - each.size)
            for pod in sorted(alive, key=lambda it: it.ready)[:surplus]:
                pod.terminating = True
        self.report()

    def start(self, pod: Container) -> None:
        """The Pod gets ready, unless it never will."""
        pod.ready = not pod.broken and not pod.terminating
        self.report()

    def break_down(self, pod: Container) -> None:
        """The Pod will never be ready again."""
        pod.broken, pod.ready = True, False
        self.report()

    def evict(self, pod: Container) -> None:
        """The API server deletes an evicted Pod."""
        pod.terminating = True
        self.report()

    def reap(self) -> None:
        """Kubelets are through with what was deleted."""
        self.pods = [it for it in self.pods if not it.terminating]
        self.report()

    def pass_time(self, seconds: int) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    @property
    def ready_pods(self) -> list[Container]:
        """Those that serve."""
        return [it for it in self.pods if it.ready and not it.terminating]


def review_of(pod: Container) -> Review:
    """The review of its eviction; its name is its UID."""
    return Review("shop", pod.uid)


def as_pod(pod: Container) -> Pod:
    """As the core sees it."""
    owner = Owner("apps/v1", "ReplicaSet", pod.owner.uid, pod.owner.uid, controller=True)
    return Pod("shop", pod.uid, pod.uid, (owner,), ready=pod.ready, terminating=pod.terminating)


def as_set(found: Set) -> ReplicaSet:
    """As the core sees it."""
    owner = Owner("apps/v1", "Deployment", "web", "deployment-1", controller=True)
    template = as_template(found.template)
    return ReplicaSet("shop", found.uid, found.uid, (owner,), found.revision, template)


def as_template(template: Template) -> dict[str, object]:
    """As the core sees it."""
    version, restarted_at = template
    return {"version": version, "restartedAt": restarted_at}
