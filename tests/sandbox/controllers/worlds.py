"""A small cluster for the tests of one controller or of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from hooks.sandbox.apiport import Resource
from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.controller import Controller, Pace
from hooks.sandbox.controllers.crew import all_controllers
from hooks.sandbox.objects import Obj, labels_of, name_of
from hooks.sandbox.store.kinds import (
    DAEMONSETS,
    DEPLOYMENTS,
    NAMESPACES,
    NODES,
    PODDISRUPTIONBUDGETS,
    PODS,
    STATEFULSETS,
)
from hooks.sandbox.store.store import ObjectStore

START = datetime(2026, 11, 30, tzinfo=UTC)
STEADY = Pace(pod_start=timedelta(seconds=4), pod_stop=timedelta(seconds=2), spread=0.0)
"""Pods start in 4 s and end in 2 s, always."""

MOST_ROUNDS = 1000


class World:
    """A store, a clock, and controllers that are moved on until all is quiet."""

    def __init__(
        self, controllers: Callable[[ObjectStore, VirtualClock], Sequence[Controller]] | None = None
    ) -> None:
        self.clock = VirtualClock(START)
        self.store = ObjectStore(self.clock.now)
        self.controllers = (
            all_controllers(self.store, self.clock, STEADY, Random(7))
            if controllers is None
            else controllers(self.store, self.clock)
        )
        if self.store.find(NAMESPACES, "", "default") is None:
            self.store.create(NAMESPACES, {"metadata": {"name": "default"}})

    # --- Time ---

    def settle(self) -> None:
        """Let everybody do what is to be done now."""
        for _ in range(MOST_ROUNDS):
            wrote = [one.step() for one in self.controllers]
            if not any(wrote):
                return
        raise AssertionError("the world doesn't come to rest")

    def run(self, seconds: float) -> None:
        """Let time go by, and everybody work at its moments."""
        end = self.clock.now() + timedelta(seconds=seconds)
        self.settle()
        while (due := self.next_due()) is not None and due <= end:
            self.clock.advance_to(due)
            self.settle()
        self.clock.advance_to(end)

    def next_due(self) -> datetime | None:
        moments = [one.next_due() for one in self.controllers]
        return min((one for one in moments if one is not None), default=None)

    # --- Objects ---

    def node(self, name: str, cpu: str = "4", zone: str = "a", **spec: object) -> None:
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
        self.store.create(NODES, {"metadata": {"name": name, "labels": labels}, "spec": spec})

        def ready(it: Obj) -> None:
            it["status"] = {
                "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "20"},
                "conditions": [{"type": "Ready", "status": "True"}],
            }

        self.store.modify(NODES, "", name, ready, "status")

    def pod(
        self, name: str, cpu: str = "1", annotations: Obj | None = None, **spec: object
    ) -> None:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
        metadata: Obj = {"name": name, "namespace": "default", "labels": {"app": name}}
        metadata["annotations"] = annotations or {}
        self.store.create(PODS, {"metadata": metadata, "spec": {"containers": [container], **spec}})

    def deployment(self, replicas: int, **spec: object) -> None:
        self.store.create(DEPLOYMENTS, workload("web", replicas=replicas, **spec))

    def stateful_set(self, replicas: int, **spec: object) -> None:
        obj = workload("db", replicas=replicas, serviceName="db", **spec)
        self.store.create(STATEFULSETS, obj)

    def daemon_set(self, **spec: object) -> None:
        self.store.create(DAEMONSETS, workload("agent", **spec))

    def budget(self, app: str, **spec: object) -> None:
        selector = {"matchLabels": {"app": app}}
        metadata = {"name": app, "namespace": "default"}
        budget = {"metadata": metadata, "spec": {"selector": selector, **spec}}
        self.store.create(PODDISRUPTIONBUDGETS, budget)

    def change(self, resource: Resource, name: str, change: Callable[[Obj], Any]) -> None:
        namespace = "default" if resource.namespaced else ""
        assert self.store.modify(resource, namespace, name, lambda it: void(change(it)))

    # --- What is there ---

    def get(self, resource: Resource, name: str) -> Obj:
        return self.store.get(resource, "default" if resource.namespaced else "", name)

    def status(self, resource: Resource, name: str) -> Obj:
        status: Obj = self.get(resource, name)["status"]
        return status

    def pods(self, app: str) -> list[Obj]:
        return [pod for pod in self.store.all(PODS) if labels_of(pod).get("app") == app]

    def names(self, app: str) -> list[str]:
        return [name_of(pod) for pod in self.pods(app)]

    def where(self) -> dict[str, str]:
        """Return the Node of each Pod that has one."""
        bound = {name_of(pod): pod["spec"].get("nodeName") for pod in self.store.all(PODS)}
        return {name: node for name, node in bound.items() if node}

    def happened(self, since: int, *resources: Resource) -> list[str]:
        """Return what was written after a revision: the second, the event and the name."""
        return [
            f"{(event.at - START).total_seconds():g} {event.type} {name_of(event.obj)}"
            for event in self.store.events_after(since)
            if event.resource in resources
        ]


def void(_: object) -> None:
    """Let a lambda change something although its value is asked for."""


def workload(app: str, **spec: object) -> Obj:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "metadata": {"name": app, "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": app}},
            "template": {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container]}},
            **spec,
        },
    }


def at(seconds: int) -> str:
    """Return the text of a moment after the start."""
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
