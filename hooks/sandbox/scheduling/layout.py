"""Nodes, and the Pods that are on each of them at one moment.

Owns the view that placement is decided on: real Nodes, or ones that somebody only thinks of. Leaves
to the callers where it comes from. Seen in kube-scheduler v1.36.3 ``framework/types.go`` (NodeInfo)
and ``backend/cache`` (what counts as being on a Node).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hooks.sandbox.objects import labels_of, name_of
from hooks.sandbox.scheduling.resources import (
    NOTHING,
    Amounts,
    add,
    amounts_of,
    requests_of,
    total_of,
)

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""The label that the API server puts on each namespace."""


@dataclass(frozen=True, slots=True)
class Place:
    """A Node as far as placement goes."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Obj, ...]
    allocatable: Amounts
    unschedulable: bool = False


def place_of(node: Obj) -> Place:
    """Return the place that a Node is."""
    spec: Obj = node.get("spec") or {}
    status: Obj = node.get("status") or {}
    return Place(
        name=name_of(node),
        labels=labels_of(node),
        taints=tuple(spec.get("taints") or ()),
        allocatable=amounts_of(status.get("allocatable") or status.get("capacity")),
        unschedulable=spec.get("unschedulable") is True,
    )


def node_name_of(pod: Obj) -> str:
    """Return the Node that a Pod is bound to, empty when it isn't."""
    name: str = (pod.get("spec") or {}).get("nodeName") or ""
    return name


def is_finished(pod: Obj) -> bool:
    """Tell whether all of its containers have ended for good, so that it takes nothing any more."""
    return (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}


class Layout:
    """Places by name, and the Pods at each; may be changed to think something through."""

    def __init__(
        self,
        places: Iterable[Place],
        pods: Mapping[str, Sequence[Obj]] | None = None,
        namespaces: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Take Pods by the name of their place, and namespaces with their labels."""
        self._places = {place.name: place for place in places}
        self._pods = {name: list(there) for name, there in (pods or {}).items()}
        self._namespaces = namespaces or {}
        self._used: dict[str, Amounts] = {}

    @classmethod
    def of(
        cls, nodes: Iterable[Obj], pods: Iterable[Obj], namespaces: Iterable[Obj] = ()
    ) -> Layout:
        """Return what the objects of a cluster make; finished and unbound Pods are nowhere."""
        bound: dict[str, list[Obj]] = {}
        for pod in pods:
            name = node_name_of(pod)
            if name and not is_finished(pod):
                bound.setdefault(name, []).append(pod)
        known = {name_of(one): labels_of(one) for one in namespaces}
        return cls((place_of(node) for node in nodes), bound, known)

    def copy(self) -> Layout:
        """Return one that may be changed without this one."""
        other = Layout((), self._pods, self._namespaces)
        other._places = dict(self._places)
        other._used = dict(self._used)
        return other

    @property
    def places(self) -> Mapping[str, Place]:
        """All places by name."""
        return self._places

    def pods_at(self, name: str) -> Sequence[Obj]:
        """Return the Pods at a place, in the order in which they came."""
        return self._pods.get(name, ())

    def used_at(self, name: str) -> Amounts:
        """Return what the Pods at a place take together."""
        used = self._used.get(name)
        if used is None:
            used = total_of(requests_of(pod) for pod in self.pods_at(name)) or NOTHING
            self._used[name] = used
        return used

    def labels_of_namespace(self, name: str) -> Mapping[str, str]:
        """Return a namespace's labels, as far as they are known."""
        return self._namespaces.get(name) or {NAMESPACE_NAME: name}

    def add_place(self, place: Place) -> None:
        """Add a place, or put another one of its name instead."""
        self._places[place.name] = place

    def put(self, pod: Obj, name: str) -> None:
        """Put a Pod at a place."""
        used = self.used_at(name)
        self._pods.setdefault(name, []).append(pod)
        self._used[name] = add(used, requests_of(pod))

    def take(self, pod: Obj, name: str) -> None:
        """Take this very Pod away from a place."""
        self._pods[name] = [other for other in self._pods[name] if other is not pod]
        self._used.pop(name, None)
