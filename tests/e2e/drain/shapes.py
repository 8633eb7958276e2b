"""The manifests of a scene: nodes without Karpenter, Deployments of one Pod, their Services.

Owns how they are spelt. Leaves what happens to them to :mod:`.scene`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tests.e2e.api import Object
from tests.e2e.stages import DIES_AFTER, READY_AFTER, READY_AFTER_A_RESTART

SCENE = "scene"
"""Label of a node, by which the Pods of one scene find it."""
NONE: Mapping[str, str] = MappingProxyType({})
SMALL: Mapping[str, str] = MappingProxyType({"cpu": "100m", "memory": "64Mi"})


def node(name: str, scene: str) -> Object:
    """A Node that KWOK keeps, and that has room for anything."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                SCENE: scene,
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
    }


def pace(*, ready: str = "", again: str = "", dies: str = "") -> dict[str, str]:
    """Annotations of a Pod: when it gets ready, the same after a restart, and when it is gone."""
    given = {READY_AFTER: ready, READY_AFTER_A_RESTART: again, DIES_AFTER: dies}
    return {key: value for key, value in given.items() if value}


def template(
    app: str,
    selector: Mapping[str, str],
    annotations: Mapping[str, str] = NONE,
    requests: Mapping[str, str] = SMALL,
) -> Object:
    """A Pod's template."""
    container = {"name": "work", "image": "work", "resources": {"requests": dict(requests)}}
    return {
        "metadata": {"labels": {"app": app, **selector}, "annotations": dict(annotations)},
        "spec": {
            "nodeSelector": dict(selector),
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
        },
    }


def workload(
    kind: str,
    app: str,
    namespace: str,
    pods: Object,
    annotations: Mapping[str, str] = NONE,
    **spec: object,
) -> Object:
    """A Deployment, or another kind that makes Pods from a template."""
    metadata = {"name": app, "namespace": namespace, "annotations": dict(annotations)}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"selector": {"matchLabels": {"app": app}}, "template": pods, **spec},
    }


def rolling(surge: int | str, unavailable: int | str) -> Object:
    """The strategy of a Deployment that rolls."""
    return {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
    }


def service(app: str, namespace: str) -> Object:
    """The Service before the Pods of an app."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": app, "namespace": namespace},
        "spec": {"selector": {"app": app}, "ports": [{"port": 80}]},
    }
