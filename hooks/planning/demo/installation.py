"""What an installation brings to the demo's cluster, spelt as in ``manifests/``.

Owns the controllers with their token, the webhook, and what they need. The servers themselves are none
of the cluster's Pods here: :mod:`hooks.planning.hookserver` runs them.
"""

from __future__ import annotations

import base64
from typing import Final

from hooks import names
from hooks.sandbox.objects import Obj

_HELD_BY: Final = {"namespace": names.NAMESPACE, "name": "noderotation-hook-token"}
"""The Secret with the token."""
SERVICE: Final = (names.NAMESPACE, names.EVICTION_SERVER, 8443)
"""Namespace, name and port of the Service that the API server calls before each eviction."""
_PART_OF: Final = "noderotation"


def installation(url: str, token: str) -> list[Obj]:
    """What ``kubectl apply -k`` of a drain overlay brings, as far as an embedded cluster needs it.

    ``url`` is where the hooks are; ``token`` is what the conductor shows them.
    """
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": dict(_HELD_BY),
        "data": {"token": base64.b64encode(token.encode()).decode()},
    }
    return [
        _own_namespace(),
        _priority_class(),
        secret,
        controller(url),
        policy_controller(url),
        drain_controller(url),
        webhook(),
    ]


def controller(url: str) -> Obj:
    """The DecoratorController of ``manifests/metacontroller``, with its hooks at ``url``."""
    return {
        "apiVersion": "metacontroller.k8s.io/v1alpha1",
        "kind": "DecoratorController",
        "metadata": {
            "name": names.DECORATOR_CONTROLLER,
            "labels": _labels(names.DECORATOR_CONTROLLER),
        },
        "spec": {
            "resyncPeriodSeconds": 60,
            "resources": [{"apiVersion": "karpenter.sh/v1", "resource": "nodepools"}],
            "attachments": [
                {
                    "apiVersion": "v1",
                    "resource": "pods",
                    "updateStrategy": {"method": "OnDelete"},
                }
            ],
            "hooks": {
                "customize": _hook(url + names.CUSTOMIZE_NODEPOOL),
                "sync": _hook(url + names.SYNC_NODEPOOL),
            },
        },
    }


def policy_controller(url: str) -> Obj:
    """The CompositeController of ``manifests/metacontroller``, with its hooks at ``url``."""
    return {
        "apiVersion": "metacontroller.k8s.io/v1alpha1",
        "kind": "CompositeController",
        "metadata": {
            "name": names.COMPOSITE_CONTROLLER,
            "labels": _labels(names.COMPOSITE_CONTROLLER),
        },
        "spec": {
            "resyncPeriodSeconds": 300,
            "generateSelector": True,
            "parentResource": {
                "apiVersion": f"{names.POLICY_GROUP}/{names.POLICY_VERSION}",
                "resource": "rotationpolicies",
            },
            "hooks": {
                "customize": _hook(url + names.CUSTOMIZE_ROTATIONPOLICY),
                "sync": _hook(url + names.SYNC_ROTATIONPOLICY),
            },
        },
    }


def drain_controller(url: str) -> Obj:
    """The DecoratorController of ``manifests/drain``, with its hook at ``url``."""
    tracked = {"matchExpressions": [{"key": names.DRAIN_RESTARTED_AT, "operator": "Exists"}]}
    return {
        "apiVersion": "metacontroller.k8s.io/v1alpha1",
        "kind": "DecoratorController",
        "metadata": {"name": names.DRAIN_CONTROLLER, "labels": _labels(names.DRAIN_CONTROLLER)},
        "spec": {
            "resyncPeriodSeconds": 60,
            "resources": [
                {
                    "apiVersion": "apps/v1",
                    "resource": "deployments",
                    "annotationSelector": tracked,
                }
            ],
            "hooks": {"sync": _hook(url + names.SYNC_DEPLOYMENT)},
        },
    }


def webhook() -> Obj:
    """The ValidatingWebhookConfiguration of ``manifests/drain``; :data:`SERVICE` is whom it calls."""
    namespace, name, port = SERVICE
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods/eviction"],
        "operations": ["CREATE"],
        "scope": "Namespaced",
    }
    excluded = {
        "key": "kubernetes.io/metadata.name",
        "operator": "NotIn",
        "values": ["kube-system", names.NAMESPACE],
    }
    service = {
        "namespace": namespace,
        "name": name,
        "port": port,
        "path": names.ADMISSION_EVICTION,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": names.WEBHOOK_CONFIGURATION, "labels": _labels("eviction")},
        "webhooks": [
            {
                "name": names.WEBHOOK,
                "clientConfig": {"service": service},
                "rules": [rule],
                "matchPolicy": "Equivalent",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "NoneOnDryRun",
                "failurePolicy": "Ignore",
                "timeoutSeconds": 5,
                "namespaceSelector": {"matchExpressions": [excluded]},
            }
        ],
    }


def _hook(url: str) -> Obj:
    webhook = {
        "url": url,
        "timeout": "10s",
        "authorization": {"type": "Bearer", "secretRef": {**_HELD_BY, "key": "token"}},
    }
    return {"version": "v2", "webhook": webhook}


def _own_namespace() -> Obj:
    restricted = {
        f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")
    }
    labels = {"app.kubernetes.io/name": _PART_OF, "app.kubernetes.io/part-of": _PART_OF}
    metadata = {"name": names.NAMESPACE, "labels": labels | restricted}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _priority_class() -> Obj:
    what = "Pods that hold room for the successor of a node in rotation. Preempted by everything."
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": names.PRIORITY_CLASS, "labels": _labels("placeholder")},
        "description": what,
        "value": -10,
        "preemptionPolicy": "Never",
    }


def _labels(component: str) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": _PART_OF,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/part-of": _PART_OF,
    }
