"""The manifests of one world: pool, node class, budget and workloads.

Owns how they are spelt. Leaves what happens to them to :mod:`.world`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.scenarios.stage import Object

NAMESPACE = "default"
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
REQUESTS_OF_A_WORKLOAD_POD = {"cpu": "2500m", "memory": "1Gi"}
"""More than half of a node with 4 CPUs."""
REQUESTS_OF_A_DAEMON_POD = {"cpu": "100m", "memory": "64Mi"}
ZONES = ("test-zone-a", "test-zone-b", "test-zone-c")
STATIC_TYPE = "c-4x-amd64-linux"
READY_AFTER = "noderotation-e2e/ready-after"
"""Annotation of a Pod: a Go duration until it is Running and Ready (without it: at once)."""
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a world is like.

    ``stateful`` and ``stateless`` are the replicas, ``cpu`` the size of each node, ``limits`` those of
    all of them together, ``extra`` what a workload Pod asks for beside CPU and memory, or instead of
    the usual; ``grace`` None leaves terminationGracePeriod unset.
    """

    stateful: int = 1
    stateless: int = 1
    lifetime: str = "720h"
    grace: str | None = "1h"
    cpu: str = "4"
    zones: tuple[str, ...] = ZONES
    static: int | None = None
    limits: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    pod_annotations: Mapping[str, str] = field(default_factory=dict)


def node_class(name: str) -> Object:
    """A node class of the pool's own, so that its machines can be made slow."""
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": name},
        "spec": {"nodeRegistrationDelay": "0s"},
    }


def node_pool(name: str, shape: Shape) -> Object:
    """The NodePool."""
    spec: Object = {
        "template": _template(name, shape),
        # Karpenter's own voluntary disruption stays out of the way: what happens is ours.
        "disruption": {
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": "Never",
            "budgets": [{"nodes": "0"}],
        },
    }
    if shape.limits:
        spec["limits"] = dict(shape.limits)
    if shape.static is not None:
        spec["replicas"] = shape.static
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "labels": {"rotated": "yes", "pool": name}},
        "spec": spec,
    }


def _template(name: str, shape: Shape) -> Object:
    requirements = [
        _in("karpenter.kwok.sh/instance-cpu", shape.cpu),
        _in("kubernetes.io/arch", "amd64"),
        _in("karpenter.sh/capacity-type", "on-demand"),
        _in("topology.kubernetes.io/zone", *shape.zones),
    ]
    if shape.static is not None:
        # The KWOK provider can't choose a type for a node that no Pod asked for.
        requirements.append(_in("node.kubernetes.io/instance-type", STATIC_TYPE))
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": name}
    spec = {
        "nodeClassRef": reference,
        "requirements": requirements,
        "expireAfter": shape.lifetime,
    }
    if shape.grace is not None:
        spec["terminationGracePeriod"] = shape.grace
    return {"metadata": {"labels": {"pool": name}}, "spec": spec}


def _in(key: str, *values: str) -> Object:
    return {"key": key, "operator": "In", "values": list(values)}


def budget(name: str, available: int) -> Object:
    """The PodDisruptionBudget over all workload Pods but the DaemonSet's."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "minAvailable": available,
            "selector": {"matchLabels": {"pool": name, "budgeted": "yes"}},
        },
    }


def workloads(name: str, shape: Shape) -> list[Object]:
    """A DaemonSet, a StatefulSet and a Deployment that run on the pool's nodes only."""
    budgeted = {"pool": name, "budgeted": "yes"}
    daemons = _workload(name, "DaemonSet", "daemon", _pod(name, REQUESTS_OF_A_DAEMON_POD))
    pod = _pod(name, REQUESTS_OF_A_WORKLOAD_POD | dict(shape.extra), shape.extra)
    pod["metadata"] = {"annotations": dict(shape.pod_annotations)}
    return [
        daemons,
        _workload(
            name,
            "StatefulSet",
            "stateful",
            pod,
            budgeted,
            replicas=shape.stateful,
            serviceName=name,
            podManagementPolicy="Parallel",
        ),
        _workload(name, "Deployment", "stateless", pod, budgeted, replicas=shape.stateless),
    ]


def _pod(name: str, requests: Mapping[str, str], limits: Mapping[str, str] | None = None) -> Object:
    resources = {"requests": dict(requests)} | ({"limits": dict(limits)} if limits else {})
    return {
        "spec": {
            "nodeSelector": {"pool": name},
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "work", "image": "work", "resources": resources}],
        }
    }


def _workload(
    name: str,
    kind: str,
    role: str,
    pod: Object,
    labels: Mapping[str, str] | None = None,
    **spec: object,
) -> Object:
    marked = {"pool": name, **(labels or {}), "kind": role}
    metadata = {**pod.get("metadata", {}), "labels": marked}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": marked},
            "template": {"metadata": metadata, "spec": pod["spec"]},
            **spec,
        },
    }
