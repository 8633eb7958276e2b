"""Deployments with one replica, their ReplicaSets and their ready Pods, without any controller.

Owns what they look like and how they come about quickly: objects are created and their status is
written directly, as the controllers and a kubelet would have left them. Their sizes are those of
ordinary workloads, since each review reads all three.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from hooks.cluster.connection import Connection
from hooks.cluster.resources import Resource

Json = dict[str, Any]

NAMESPACE: Final = "singletons"
NODE: Final = "node-that-is-drained"
SINCE: Final = "2026-11-29T20:00:00Z"
HASH: Final = "6d6cd94fd5"
WRITERS: Final = 16

PODS: Final = Resource("/api/v1", "pods")
REPLICASETS: Final = Resource("/apis/apps/v1", "replicasets")
DEPLOYMENTS: Final = Resource("/apis/apps/v1", "deployments")


@dataclass(frozen=True, slots=True)
class Singleton:
    """The names of one Deployment's three objects, all in :data:`NAMESPACE`."""

    deployment: str
    replicaset: str
    pod: str

    @classmethod
    def numbered(cls, number: int) -> Singleton:
        """Name them as the controllers do."""
        deployment = f"web-{number:04d}"
        replicaset = f"{deployment}-{HASH}"
        return cls(deployment, replicaset, f"{replicaset}-{number:05d}")


def create(connection: Connection, count: int) -> list[Singleton]:
    """Create so many of them; ``connection`` is an administrator's."""
    connection.create(
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
    )
    # Pods without a ServiceAccount are refused, and here is no controller that makes one.
    connection.create(
        f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}},
    )
    singletons = [Singleton.numbered(number) for number in range(count)]
    with ThreadPoolExecutor(WRITERS) as threads:
        _all(threads.submit(_create_one, connection, one) for one in singletons)
    return singletons


def _all(under_way: Iterable[Any]) -> None:
    for one in list(under_way):
        one.result()


def _create_one(connection: Connection, names: Singleton) -> None:
    labels = {"app": names.deployment}
    deployment = _create(connection, DEPLOYMENTS, _deployment(names, labels), _ROLLED_OUT)
    labels = {**labels, "pod-template-hash": HASH}
    replicaset = _create(
        connection, REPLICASETS, _replicaset(names, labels, _owner(deployment)), _FILLED
    )
    _create(connection, PODS, _pod(names, labels, _owner(replicaset)), _running(names))


def _create(connection: Connection, resource: Resource, body: Json, status: Json) -> Json:
    created = connection.create(resource.every(NAMESPACE), body)
    path = resource.one(created["metadata"]["name"], NAMESPACE)
    connection.patch(f"{path}/status", [{"op": "replace", "path": "/status", "value": status}])
    return created


def _owner(one: Json) -> Json:
    return {
        "apiVersion": one["apiVersion"],
        "kind": one["kind"],
        "name": one["metadata"]["name"],
        "uid": one["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _deployment(names: Singleton, labels: Json) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": names.deployment,
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
            "template": {"metadata": {"labels": labels}, "spec": _SPEC},
        },
    }


def _replicaset(names: Singleton, labels: Json, owner: Json) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": names.replicaset,
            "labels": labels,
            "annotations": {
                "deployment.kubernetes.io/desired-replicas": "1",
                "deployment.kubernetes.io/max-replicas": "2",
                "deployment.kubernetes.io/revision": "1",
            },
            "ownerReferences": [owner],
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _SPEC},
        },
    }


def _pod(names: Singleton, labels: Json, owner: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": names.pod,
            "generateName": f"{names.replicaset}-",
            "labels": labels,
            "ownerReferences": [owner],
        },
        "spec": {**_SPEC, "nodeName": NODE},
    }


def _probe(path: str) -> Json:
    return {"httpGet": {"path": path, "port": "http"}, "periodSeconds": 10, "timeoutSeconds": 1}


_SPEC: Final[Json] = {
    "containers": [
        {
            "name": "web",
            "image": "registry.example.com/shop/web:1.4.2",
            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
            "env": [
                {"name": f"SETTING_{number}", "value": f"the value of setting number {number}"}
                for number in range(8)
            ],
            "resources": {
                "requests": {"cpu": "100m", "memory": "256Mi"},
                "limits": {"memory": "256Mi"},
            },
            "readinessProbe": _probe("/ready"),
            "livenessProbe": _probe("/alive"),
            "volumeMounts": [{"name": "settings", "mountPath": "/etc/web"}],
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
            },
        }
    ],
    "volumes": [{"name": "settings", "configMap": {"name": "web"}}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"tier": "web"}},
        }
    ],
}
_ROLLED_OUT: Final[Json] = {
    "observedGeneration": 1,
    "replicas": 1,
    "updatedReplicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
    "conditions": [
        {
            "type": kind,
            "status": "True",
            "reason": reason,
            "message": message,
            "lastUpdateTime": SINCE,
            "lastTransitionTime": SINCE,
        }
        for kind, reason, message in (
            ("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            ("Progressing", "NewReplicaSetAvailable", "ReplicaSet has successfully progressed."),
        )
    ],
}
_FILLED: Final[Json] = {
    "observedGeneration": 1,
    "replicas": 1,
    "fullyLabeledReplicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
}


def _running(names: Singleton) -> Json:
    return {
        "phase": "Running",
        "startTime": SINCE,
        "hostIP": "10.0.0.1",
        "podIP": "10.77.0.1",
        "podIPs": [{"ip": "10.77.0.1"}],
        "qosClass": "Burstable",
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": SINCE}
            for kind in (
                "PodReadyToStartContainers",
                "Initialized",
                "Ready",
                "ContainersReady",
                "PodScheduled",
            )
        ],
        "containerStatuses": [
            {
                "name": "web",
                "image": "registry.example.com/shop/web:1.4.2",
                "imageID": "registry.example.com/shop/web@sha256:" + 64 * "0",
                "containerID": f"containerd://{names.pod}",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": SINCE}},
            }
        ],
    }
