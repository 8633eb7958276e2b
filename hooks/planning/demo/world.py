"""The cluster of the demo: twelve nodes in three zones, a shop on them, and one policy.

Owns its objects, as an operator would apply them, and the calendar: the nodes came up on a Monday in
May and live twenty days; each night has two windows, before and after a nightly batch, and this
software is installed before the last two windows of their lives. Leaves what is installed to
:mod:`.installation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from hooks.sandbox.controllers.kubelets import READY_AFTER
from hooks.sandbox.objects import Obj

POOL: Final = "shop"
NAMESPACE: Final = "shop"
SIZE: Final = 12
ZONES: Final = ("test-zone-a", "test-zone-b", "test-zone-c")

BEGIN: Final = datetime(2026, 5, 18, 8, 0, tzinfo=UTC)
"""A Monday: the first nodes come up."""
LIFETIME: Final = timedelta(hours=480)
GROWTH: Final = tuple(timedelta(hours=hours) for hours in range(4))
"""When each workload gets one replica more, and so a node more: the nodes' ages differ. With the last
ones comes the singleton."""
INSTALLED: Final = datetime(2026, 6, 6, 21, 30, tzinfo=UTC)
"""The Saturday evening on which the controllers and the policy come."""
HOURS: Final = (("22:00", "24:00"), ("04:00", "06:00"))


@dataclass(frozen=True, slots=True)
class Window:
    """One window: open from ``start`` until ``end``."""

    start: datetime
    end: datetime

    @property
    def closes(self) -> str:
        """The time of day at which it ends; midnight as policies spell it."""
        return "24:00" if self.end.time() == time() else f"{self.end:%H:%M}"


WINDOWS: Final = (
    Window(datetime(2026, 6, 6, 22, tzinfo=UTC), datetime(2026, 6, 7, 0, tzinfo=UTC)),
    Window(datetime(2026, 6, 7, 4, tzinfo=UTC), datetime(2026, 6, 7, 6, tzinfo=UTC)),
)
"""The windows of one night; all deadlines come in the morning after it."""
LAST_DEADLINE: Final = BEGIN + GROWTH[-1] + LIFETIME + timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Workload:
    """One part of the shop, with its budget; each Pod fills a node of its zone."""

    name: str
    kind: str
    zone: str
    budget: Mapping[str, int | str]


WORKLOADS: Final = (
    Workload("web", "Deployment", ZONES[0], {"maxUnavailable": 1}),
    Workload("cart", "Deployment", ZONES[1], {"minAvailable": "75%"}),
    Workload("orders", "StatefulSet", ZONES[2], {"minAvailable": 3}),
)
SINGLETON: Final = Workload("till", "Deployment", ZONES[0], {"maxUnavailable": 1})
"""The part that has one Pod only, beside another one's. Its budget lets it go at any time, as budgets
of one Pod have to: only the webhook keeps it until its successor is Ready."""
WARMING_UP: Final = timedelta(seconds=20)
"""From the start of the singleton's Pod until it is Ready."""
REQUESTS: Final = {"cpu": "2500m", "memory": "1Gi"}
"""More than half of a node with 4 CPUs: no two Pods, and no placeholder, share one with another."""
LITTLE: Final = {"cpu": "500m", "memory": "256Mi"}
"""What the singleton asks for: it finds room beside any other Pod, twice over, since Karpenter counts
the Pod that goes and the one that comes."""
AGENT: Final = "agent"


def namespace(name: str) -> Obj:
    """A namespace of the shop's own."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def node_class() -> Obj:
    """The kind of machines, as Karpenter's KWOK provider has it."""
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": POOL},
        "spec": {"nodeRegistrationDelay": "0s"},
    }


def node_pool() -> Obj:
    """The NodePool; its nodes live twenty days, and drain within ten minutes."""
    requirements = {
        "karpenter.kwok.sh/instance-cpu": ["4"],
        "kubernetes.io/arch": ["amd64"],
        "karpenter.sh/capacity-type": ["on-demand"],
        "topology.kubernetes.io/zone": list(ZONES),
    }
    template = {
        "metadata": {"labels": {"pool": POOL}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": POOL},
            "requirements": [
                {"key": key, "operator": "In", "values": values}
                for key, values in requirements.items()
            ],
            "expireAfter": f"{LIFETIME // timedelta(hours=1)}h",
            "terminationGracePeriod": "10m",
        },
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": POOL, "labels": {"workload": POOL}},
        "spec": {
            "template": template,
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "Never",
                "budgets": [{"nodes": "0"}],
            },
        },
    }


def budget(workload: Workload) -> Obj:
    """The PodDisruptionBudget of a workload."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": workload.name, "namespace": NAMESPACE},
        "spec": {**workload.budget, "selector": {"matchLabels": {"app": workload.name}}},
    }


def workload_object(
    workload: Workload, replicas: int, requests: Mapping[str, str] = REQUESTS
) -> Obj:
    """The Deployment or StatefulSet itself."""
    spec: dict[str, Any] = {"replicas": replicas}
    if workload.kind == "StatefulSet":
        spec |= {"serviceName": workload.name, "podManagementPolicy": "Parallel"}
    place = {"topology.kubernetes.io/zone": workload.zone}
    return _workload(workload.kind, workload.name, requests, place, spec)


def singleton() -> list[Obj]:
    """All that belongs to the part with one Pod."""
    deployment = workload_object(SINGLETON, 1, LITTLE)
    template = deployment["spec"]["template"]["metadata"]
    template["annotations"] = {READY_AFTER: f"{WARMING_UP // timedelta(seconds=1)}s"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SINGLETON.name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"app": SINGLETON.name},
            "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}],
        },
    }
    return [budget(SINGLETON), deployment, service]


def agent() -> Obj:
    """The DaemonSet that runs on every node, as each cluster has some."""
    return _workload("DaemonSet", AGENT, {"cpu": "100m", "memory": "64Mi"}, {}, {})


def policy() -> Obj:
    """The RotationPolicy: four hours each night; estimates as of this quick cluster."""
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    windows = [
        {"timezone": "UTC", "days": days, "start": start, "end": end} for start, end in HOURS
    ]
    return {
        "apiVersion": "noderotation.io/v1alpha1",
        "kind": "RotationPolicy",
        "metadata": {"name": "nightly"},
        "spec": {
            "nodePoolSelector": {"matchLabels": {"workload": POOL}},
            "maintenanceWindows": windows,
            "surge": {
                "cooldownAfter": "15m",
                "provisioningEstimate": "2m",
                "drainEstimate": "3m",
            },
        },
    }


def _workload(
    kind: str,
    name: str,
    requests: Mapping[str, str],
    place: Mapping[str, str],
    spec: Mapping[str, Any],
) -> Obj:
    labels = {"app": name}
    container = {"name": name, "image": name, "resources": {"requests": dict(requests)}}
    pod = {
        "nodeSelector": {"pool": POOL, **place},
        "terminationGracePeriodSeconds": 30,
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
            **spec,
        },
    }
