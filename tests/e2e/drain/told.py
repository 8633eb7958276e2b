"""What a history tells of one Deployment: its rollouts, our annotations, Events, and its endpoints.

Owns reading. Leaves what must be so to the scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self, TypeVar

from hooks import names
from hooks.verdict.history import Change, Object
from hooks.verdict.questions import annotation, label

Value = TypeVar("Value")
SERVICE_OF = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class Ready:
    """Which Pods a Service has as ready endpoints from one moment (``at``, seconds) on."""

    at: float
    revision: int
    pods: frozenset[str]


@dataclass(frozen=True, slots=True)
class Told:
    """The changes of one Deployment and of all that belongs to it, in their true order."""

    changes: tuple[Change, ...]

    @classmethod
    def of(cls, changes: Iterable[Change], namespace: str, app: str) -> Self:
        """Take those of one app out of a history."""
        ours = (one for one in changes if belongs(one, namespace, app))
        return cls(tuple(sorted(ours, key=lambda one: one.revision)))

    def kind(self, kind: str) -> list[Change]:
        """Those of one kind."""
        return [one for one in self.changes if one.kind == kind]

    @property
    def deployment(self) -> Object:
        """The Deployment as it is at the end."""
        return self.kind("Deployment")[-1].object

    def templates(self) -> int:
        """How often the Pod template became another one."""
        return len(self._values(lambda one: one["spec"]["template"])) - 1

    def restarts(self) -> list[str]:
        """The values that were set to restartedAt in the template, in order."""
        values = self._values(
            lambda one: _template_annotation(one, names.POD_TEMPLATE_RESTARTED_AT)
        )
        return [one for one in values if one is not None]

    def tracked(self) -> list[str | None]:
        """What the tracking annotation became, in order; None: it was removed."""
        values = self._values(lambda one: annotation(one, names.DRAIN_RESTARTED_AT))
        return values[1:] if values[:1] == [None] else values

    def last_pods(self) -> list[str | None]:
        """The UIDs of the Pods for which tracking has begun, in order."""
        values = self._values(lambda one: annotation(one, names.DRAIN_LAST_POD_UID))
        return values[1:] if values[:1] == [None] else values

    def marks(self) -> dict[str, str]:
        """Our annotations that the Deployment has at the end, without their prefix."""
        found: dict[str, str] = self.deployment["metadata"].get("annotations", {})
        return {
            key.removeprefix(names.DRAIN_PREFIX): value
            for key, value in found.items()
            if key.startswith(names.DRAIN_PREFIX)
        }

    def reports(self) -> list[str]:
        """The reasons of our Events about the Deployment, in order."""
        return [one.object["reason"] for one in self.events()]

    def events(self) -> list[Change]:
        """Our Events about the Deployment, each when it came."""
        return [
            one
            for one in self.kind("Event")
            if one.type == "ADDED" and one.object["reason"].startswith("GracefulDrain")
        ]

    def readiness(self) -> list[Ready]:
        """Each change of the Pods that its Service has as ready endpoints."""
        slices: dict[str, frozenset[str]] = {}
        found = [Ready(0.0, 0, frozenset())]
        for change in self.kind("EndpointSlice"):
            gone = change.type == "DELETED"
            slices[change.name] = frozenset() if gone else frozenset(_ready(change.object))
            pods = frozenset[str]().union(*slices.values())
            if pods != found[-1].pods:
                found.append(Ready(change.at, change.revision, pods))
        return found[1:]

    def gaps(self) -> list[float]:
        """For how many seconds each time no endpoint was ready, since the first one was.

        Where none is at the end, that gap is as long as the history goes.
        """
        found, begun = [], None
        for one in self.readiness():
            if not one.pods:
                begun = one.at
            elif begun is not None:
                found.append(one.at - begun)
                begun = None
        return found if begun is None else [*found, self.changes[-1].at - begun]

    def describe(self) -> Iterator[str]:
        """A line for each change of the ready endpoints, with our Events between them."""
        lines = [(one.revision, one.at, f"ready: {_names(one.pods)}") for one in self.readiness()]
        lines += [(one.revision, one.at, one.object["reason"]) for one in self.events()]
        begin = min((at for _, at, _ in lines), default=0.0)
        for revision, at, what in sorted(lines):
            yield f"{at - begin:7.2f} s  revision {revision}  {what}"

    def _values(self, of: Callable[[Object], Value]) -> list[Value]:
        found: list[Value] = []
        for one in self.kind("Deployment"):
            value = of(one.object)
            if not found or value != found[-1]:
                found.append(value)
        return found


def belongs(change: Change, namespace: str, app: str) -> bool:
    """Whether a change is of the Deployment ``app``, its Pods, its Service's endpoints or Events."""
    thing = change.object
    if thing["metadata"].get("namespace") != namespace:
        return False
    if change.kind == "Event":
        about = thing["involvedObject"]
        return (about.get("kind"), about.get("name")) == ("Deployment", app)
    if change.kind == "EndpointSlice":
        return label(thing, SERVICE_OF) == app
    if change.kind == "Deployment":
        return change.name == app
    return label(thing, "app") == app


def _ready(endpoints: Object) -> Iterator[str]:
    for one in endpoints.get("endpoints") or ():
        if one["conditions"].get("ready") is True:
            yield one["targetRef"]["name"]


def _template_annotation(deployment: Object, key: str) -> str | None:
    return annotation(deployment["spec"]["template"], key)


def _names(pods: frozenset[str]) -> str:
    return ", ".join(sorted(pods)) or "NONE"
