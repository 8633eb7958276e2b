"""Fields that a new or changed object gets when it leaves them out.

Owns the defaults that something in the embedded cluster relies on. Seen in: kubernetes v1.36.3
pkg/apis/core/v1/defaults.go and pkg/apis/apps/v1/defaults.go, Karpenter v1.14.1
pkg/apis/crds/*.yaml, and our crds/rotationpolicies.yaml, which a test holds against this.
"""

from __future__ import annotations

from base64 import b64encode
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, labels_of, metadata_of, name_of
from hooks.sandbox.store.identity import copied

if TYPE_CHECKING:
    from collections.abc import Mapping

POD_SPEC: Final[Obj] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
}
_CONTAINER: Final[Obj] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_TEMPLATE: Final[Obj] = {"spec": POD_SPEC}
_DISRUPTION: Final[Obj] = {
    "consolidateAfter": "0s",
    "consolidationPolicy": "WhenEmptyOrUnderutilized",
    "budgets": [{"nodes": "10%"}],
}

SPECS: Final[Mapping[str, Obj]] = MappingProxyType(
    {
        "pods": POD_SPEC | {"enableServiceLinks": True},
        "deployments": {
            "replicas": 1,
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate"},
            "template": _TEMPLATE,
        },
        "replicasets": {"replicas": 1, "template": _TEMPLATE},
        "statefulsets": {
            "replicas": 1,
            "revisionHistoryLimit": 10,
            "podManagementPolicy": "OrderedReady",
            "updateStrategy": {"type": "RollingUpdate"},
            "persistentVolumeClaimRetentionPolicy": {
                "whenDeleted": "Retain",
                "whenScaled": "Retain",
            },
            "template": _TEMPLATE,
        },
        "daemonsets": {
            "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate"},
            "template": _TEMPLATE,
        },
        "services": {
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster",
        },
        "nodepools": {"disruption": _DISRUPTION, "template": {"spec": {"expireAfter": "720h"}}},
        "nodeclaims": {"expireAfter": "720h"},
        "rotationpolicies": {
            "ageThreshold": "auto",
            "minRotationChances": 2,
            "suspend": False,
            "dryRun": False,
            "surge": {
                "maxUnavailable": 1,
                "readyTimeout": "15m",
                "cooldownAfter": "10m",
                "retryBackoff": "30m",
                "matchNodeRequirements": {
                    "required": [
                        "topology.kubernetes.io/zone",
                        "kubernetes.io/arch",
                        "karpenter.sh/capacity-type",
                    ],
                    "preferred": [],
                },
                "forcefulFallback": {"enabled": False},
            },
            "prePull": {"enabled": False},
        },
    }
)
"""What ``spec`` is completed with, by plural; a part that is there is completed inside."""

_ROLLING: Final[Mapping[str, tuple[str, Obj]]] = MappingProxyType(
    {
        "deployments": ("strategy", {"maxUnavailable": "25%", "maxSurge": "25%"}),
        "statefulsets": ("updateStrategy", {"partition": 0}),
        "daemonsets": ("updateStrategy", {"maxUnavailable": 1, "maxSurge": 0}),
    }
)


def complete(resource: Resource, obj: Obj) -> None:
    """Fill in, in place, what a client left out."""
    spec = SPECS.get(resource.plural)
    if spec is not None:
        obj["spec"] = _completed(obj.get("spec"), spec)
    _complete_rolling(resource, obj)
    match resource.plural:
        case "pods":
            _complete_containers(obj["spec"])
            _request_limits(obj["spec"])
        case "deployments" | "replicasets" | "statefulsets" | "daemonsets":
            _complete_containers(obj["spec"]["template"]["spec"])
        case "secrets":
            _encode(obj)
        case "namespaces":
            named = {"kubernetes.io/metadata.name": name_of(obj)}
            metadata_of(obj)["labels"] = labels_of(obj) | named
            obj["spec"] = _completed(obj.get("spec"), {"finalizers": ["kubernetes"]})
        case "priorityclasses":
            obj.setdefault("preemptionPolicy", "PreemptLowerPriority")
        case _:
            pass


def _completed(given: Obj | None, defaults: Obj) -> Obj:
    result: Obj = dict(given or {})
    for key, value in copied(defaults).items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _completed(result[key], value)
        elif result.get(key) is None:
            result[key] = value
    return result


def _complete_rolling(resource: Resource, obj: Obj) -> None:
    rolling = _ROLLING.get(resource.plural)
    if rolling is None:
        return
    key, defaults = rolling
    strategy: Obj = obj["spec"][key]
    if strategy.get("type") == "RollingUpdate":
        strategy["rollingUpdate"] = _completed(strategy.get("rollingUpdate"), defaults)


def _complete_containers(spec: Obj) -> None:
    for container in _containers(spec):
        image: str = container.get("image") or ""
        tag = image.rpartition("/")[2].partition(":")[2]
        policy = "Always" if tag in {"", "latest"} and "@" not in image else "IfNotPresent"
        for key, value in (_CONTAINER | {"imagePullPolicy": policy}).items():
            container.setdefault(key, copied(value) if isinstance(value, dict) else value)


def _containers(spec: Obj) -> list[Obj]:
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def _request_limits(spec: Obj) -> None:
    """A limit alone is a request too."""
    for container in _containers(spec):
        resources: Obj = container.get("resources") or {}
        if resources.get("limits"):
            requests = resources["limits"] | (resources.get("requests") or {})
            container["resources"] = resources | {"requests": requests}


def _encode(secret: Obj) -> None:
    """Move ``stringData``, which can only be written, to ``data``."""
    secret.setdefault("type", "Opaque")
    plain: dict[str, str] = secret.pop("stringData", None) or {}
    if plain:
        encoded = {key: b64encode(text.encode()).decode() for key, text in plain.items()}
        secret["data"] = (secret.get("data") or {}) | encoded
