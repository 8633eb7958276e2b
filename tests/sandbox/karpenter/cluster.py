"""A small cluster with the real store, the real controllers and Karpenter, for tests.

Owns the loop of these tests: everybody acts until all is quiet, then the clock moves on. Machines
come at once and Pods start at once unless a test says otherwise, so that times are Karpenter's own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

from hooks.sandbox.apiport import Resource
from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.controller import Controller, Pace
from hooks.sandbox.controllers.crew import all_controllers
from hooks.sandbox.controllers.eviction import evict
from hooks.sandbox.karpenter import Karpenter
from hooks.sandbox.karpenter.evictions import EvictionCall
from hooks.sandbox.karpenter.instances import Catalogue
from hooks.sandbox.objects import Obj, is_terminating, labels_of, name_of, namespace_of
from hooks.sandbox.store.kinds import (
    DAEMONSETS,
    DEPLOYMENTS,
    KWOKNODECLASSES,
    NAMESPACES,
    NODECLAIMS,
    NODEPOOLS,
    NODES,
    PODDISRUPTIONBUDGETS,
    PODS,
)
from hooks.sandbox.store.store import ObjectStore

START = datetime(2026, 11, 29, 19, 52, tzinfo=UTC)
STEADY = Pace(
    launch=timedelta(seconds=1),
    register=timedelta(seconds=2),
    node_ready=timedelta(seconds=1),
    pod_start=timedelta(seconds=2),
    pod_stop=timedelta(seconds=1),
    instance_stop=timedelta(seconds=2),
    spread=0.0,
)
NODE_CLASS: Obj = {"metadata": {"name": "default"}, "spec": {}}


class Cluster:
    """Karpenter and all else on one virtual clock."""

    def __init__(self, pace: Pace = STEADY, catalogue: Catalogue | None = None) -> None:
        self.clock = VirtualClock(START)
        self.store = ObjectStore(self.clock.now)
        rng = Random(7)
        self._evict: EvictionCall | None = None
        self.karpenter = Karpenter(
            self.store, self.clock, pace, rng, catalogue, evict=self._eviction
        )
        self._others = all_controllers(self.store, self.clock, pace, rng)
        self._parts: list[Controller] = [*self._others, *self.karpenter.controllers()]
        self.store.create(NAMESPACES, {"metadata": {"name": "default"}})
        self.store.create(KWOKNODECLASSES, NODE_CLASS)

    def restart_karpenter(self) -> None:
        """Lose everything that Karpenter remembers."""
        self.karpenter.world.memory.given_up.clear()
        self.karpenter.world.memory.nominated.clear()
        self._parts = [*self._others, *self.karpenter.controllers()]

    def use_evictions(self, call: EvictionCall) -> None:
        """Let Karpenter's evictions go another way."""
        self._evict = call

    def _eviction(self, namespace: str, name: str, uid: str) -> None:
        if self._evict is None:
            evict(self.store, self.clock, namespace, name, uid=uid)
        else:
            self._evict(namespace, name, uid)

    def settle(self) -> None:
        """Let everybody act until nobody has anything left to do at this moment."""
        for _ in range(1000):
            # Everybody gets a turn, so the list is made first.
            acted = [part.step() for part in self._parts]
            if not any(acted):
                return
        raise AssertionError("no rest")

    def run(self, span: timedelta) -> None:
        """Let time pass."""
        self.until(lambda: False, span)

    def until(self, holds: Callable[[], bool], limit: timedelta = timedelta(minutes=10)) -> None:
        """Let time pass until something holds; a test that can be wrong says so with an assert."""
        end = self.clock.now() + limit
        self.settle()
        while not holds() and self.clock.now() < end:
            dues = [due for part in self._parts if (due := part.next_due()) is not None]
            self.clock.advance_to(min([*dues, end]))
            self.settle()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return (self.clock.now() - START).total_seconds()

    def claims(self) -> list[Obj]:
        return self.store.all(NODECLAIMS)

    def nodes(self) -> list[Obj]:
        return self.store.all(NODES)

    def pods(self) -> list[Obj]:
        return self.store.all(PODS)

    def node_of(self, claim: Obj) -> Obj:
        return self.store.get(NODES, "", self.claim(claim)["status"]["nodeName"])

    def claim(self, claim: Obj) -> Obj:
        return self.store.get(NODECLAIMS, "", name_of(claim))

    def is_there(self, claim: Obj) -> bool:
        return self.store.find(NODECLAIMS, "", name_of(claim)) is not None

    def host_of(self, pod_name: str) -> str:
        pod = self.store.get(PODS, "default", pod_name)
        return str(pod["spec"].get("nodeName", ""))

    def all_run(self) -> bool:
        """Whether every Pod that is there is Running."""
        pods = self.pods()
        return bool(pods) and all(
            pod["status"].get("phase") == "Running" and not is_terminating(pod) for pod in pods
        )

    def is_calm(self, machines: int) -> bool:
        """Whether there are so many machines, all of them Ready, and all Pods run."""
        claims = self.claims()
        return len(claims) == machines and all(map(is_ready, claims)) and self.all_run()

    def add_pool(self, name: str = "api", **spec: object) -> Obj:
        return self.store.create(NODEPOOLS, pool(name, **spec))

    def add_deployment(self, name: str, replicas: int, cpu: str = "3", **pod: object) -> None:
        self.store.create(DEPLOYMENTS, workload(name, cpu, pod, replicas=replicas))

    def add_daemon_set(self, name: str, cpu: str = "100m", **pod: object) -> None:
        self.store.create(DAEMONSETS, workload(name, cpu, pod))

    def add_budget(self, app: str, **spec: object) -> None:
        budget = {
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
        }
        self.store.create(PODDISRUPTIONBUDGETS, budget)

    def set_budget(self, app: str, **spec: object) -> None:
        def change(obj: Obj) -> None:
            obj["spec"] = {"selector": obj["spec"]["selector"], **spec}

        self.store.modify(PODDISRUPTIONBUDGETS, "default", app, change)

    def add_pod(self, name: str, cpu: str = "3", **spec: object) -> Obj:
        return self.store.create(PODS, pod(name, cpu, **spec))

    def annotate(self, resource: Resource, obj: Obj, **annotations: str) -> None:
        def change(it: Obj) -> None:
            it["metadata"].setdefault("annotations", {}).update(annotations)

        self.store.modify(resource, namespace_of(obj), name_of(obj), change)

    def delay_registration(self, delay: str) -> None:
        """Let the Nodes of instances to come be late."""
        self.store.modify(
            KWOKNODECLASSES,
            "",
            "default",
            lambda it: it["spec"].update(nodeRegistrationDelay=delay),
        )

    def change_pool(self, change: Callable[[Obj], None], name: str = "api") -> None:
        self.store.modify(NODEPOOLS, "", name, change)

    def delete(self, claim: Obj) -> None:
        self.store.delete(NODECLAIMS, "", name_of(claim))


def pool(name: str, **spec: object) -> Obj:
    """A NodePool of machines with 4 CPUs, as in the recorded rotation."""
    extra: dict[str, object] = dict(spec)
    template: Obj = {
        "metadata": {"labels": {"workload": name}},
        "spec": {
            "expireAfter": extra.pop("expireAfter", "Never"),
            "nodeClassRef": {
                "group": "karpenter.kwok.sh",
                "kind": "KWOKNodeClass",
                "name": "default",
            },
            "requirements": extra.pop("requirements", FOUR_CPUS),
        },
    }
    for key in ("terminationGracePeriod", "taints", "startupTaints"):
        if key in extra:
            template["spec"][key] = extra.pop(key)
    disruption = {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, "disruption": disruption, **extra},
    }


def within(key: str, *values: str) -> Obj:
    return {"key": key, "operator": "In", "values": list(values)}


FOUR_CPUS = [
    within("kubernetes.io/arch", "amd64"),
    within("karpenter.sh/capacity-type", "on-demand"),
    within("karpenter.kwok.sh/instance-cpu", "4"),
]


def pod(name: str, cpu: str, **spec: object) -> Obj:
    """A Pod that nobody would make again."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 1, **spec, "containers": [container(cpu)]},
    }


def container(cpu: str) -> Obj:
    return {
        "name": "work",
        "image": "work",
        "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}},
    }


def workload(name: str, cpu: str, pod_spec: dict[str, object], **spec: object) -> Obj:
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels, "annotations": pod_spec.pop("annotations", {})},
        "spec": {"terminationGracePeriodSeconds": 1, **pod_spec, "containers": [container(cpu)]},
    }
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def is_ready(claim: Obj) -> bool:
    return said(claim).get("Ready") == "True" and not is_terminating(claim)


def said(obj: Obj) -> dict[str, str]:
    """The conditions' states by type."""
    conditions: list[Obj] = (obj.get("status") or {}).get("conditions") or []
    return {one["type"]: one["status"] for one in conditions}


def taints(node: Obj) -> list[str]:
    return [f"{one['key']}:{one['effect']}" for one in node["spec"].get("taints") or []]


def of_app(pods: list[Obj], app: str) -> list[Obj]:
    return [one for one in pods if labels_of(one).get("app") == app]
