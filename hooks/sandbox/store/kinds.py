"""Which kinds the embedded cluster serves, and how their storage differs.

Owns the constants and three sets of exceptions. Seen in: pkg/registry/*/strategy.go of kubernetes
v1.36.3 and the ``subresources`` of Karpenter's, Metacontroller's and our own CRDs.
"""

from __future__ import annotations

from typing import Final

from hooks import names
from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import group_of

_APPS: Final = "apps/v1"
_KARPENTER: Final = "karpenter.sh/v1"

PODS: Final = Resource("v1", "pods", "Pod", namespaced=True, has_status=True)
NODES: Final = Resource("v1", "nodes", "Node", namespaced=False, has_status=True)
NAMESPACES: Final = Resource("v1", "namespaces", "Namespace", namespaced=False, has_status=True)
SECRETS: Final = Resource("v1", "secrets", "Secret", namespaced=True)
CONFIGMAPS: Final = Resource("v1", "configmaps", "ConfigMap", namespaced=True)
SERVICES: Final = Resource("v1", "services", "Service", namespaced=True, has_status=True)
SERVICEACCOUNTS: Final = Resource("v1", "serviceaccounts", "ServiceAccount", namespaced=True)
EVENTS: Final = Resource("v1", "events", "Event", namespaced=True)
RESOURCEQUOTAS: Final = Resource(
    "v1", "resourcequotas", "ResourceQuota", namespaced=True, has_status=True
)
DEPLOYMENTS: Final = Resource(_APPS, "deployments", "Deployment", namespaced=True, has_status=True)
REPLICASETS: Final = Resource(_APPS, "replicasets", "ReplicaSet", namespaced=True, has_status=True)
STATEFULSETS: Final = Resource(
    _APPS, "statefulsets", "StatefulSet", namespaced=True, has_status=True
)
DAEMONSETS: Final = Resource(_APPS, "daemonsets", "DaemonSet", namespaced=True, has_status=True)
PODDISRUPTIONBUDGETS: Final = Resource(
    "policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", namespaced=True, has_status=True
)
PRIORITYCLASSES: Final = Resource(
    "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", namespaced=False
)
NODEPOOLS: Final = Resource(_KARPENTER, "nodepools", "NodePool", namespaced=False, has_status=True)
NODECLAIMS: Final = Resource(
    _KARPENTER, "nodeclaims", "NodeClaim", namespaced=False, has_status=True
)
KWOKNODECLASSES: Final = Resource(
    "karpenter.kwok.sh/v1alpha1",
    "kwoknodeclasses",
    "KWOKNodeClass",
    namespaced=False,
    has_status=True,
)
ROTATIONPOLICIES: Final = Resource(
    f"{names.POLICY_GROUP}/{names.POLICY_VERSION}",
    "rotationpolicies",
    names.POLICY_KIND,
    namespaced=False,
    has_status=True,
)
DECORATORCONTROLLERS: Final = Resource(
    "metacontroller.k8s.io/v1alpha1",
    "decoratorcontrollers",
    "DecoratorController",
    namespaced=False,
    has_status=True,
)
COMPOSITECONTROLLERS: Final = Resource(
    "metacontroller.k8s.io/v1alpha1",
    "compositecontrollers",
    "CompositeController",
    namespaced=False,
    has_status=True,
)
VALIDATINGWEBHOOKCONFIGURATIONS: Final = Resource(
    "admissionregistration.k8s.io/v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)
ENDPOINTSLICES: Final = Resource(
    "discovery.k8s.io/v1", "endpointslices", "EndpointSlice", namespaced=True
)

SERVED: Final = (
    PODS,
    NODES,
    NAMESPACES,
    SECRETS,
    CONFIGMAPS,
    SERVICES,
    SERVICEACCOUNTS,
    EVENTS,
    RESOURCEQUOTAS,
    DEPLOYMENTS,
    REPLICASETS,
    STATEFULSETS,
    DAEMONSETS,
    PODDISRUPTIONBUDGETS,
    PRIORITYCLASSES,
    NODEPOOLS,
    NODECLAIMS,
    KWOKNODECLASSES,
    ROTATIONPOLICIES,
    DECORATORCONTROLLERS,
    COMPOSITECONTROLLERS,
    VALIDATINGWEBHOOKCONFIGURATIONS,
    ENDPOINTSLICES,
)

_WITHOUT_GENERATION: Final = frozenset(
    {
        "nodes",
        "namespaces",
        "secrets",
        "configmaps",
        "services",
        "serviceaccounts",
        "events",
        "resourcequotas",
    }
)
_BUILT_IN_GROUPS: Final = frozenset(
    {
        "",
        "apps",
        "policy",
        "scheduling.k8s.io",
        "admissionregistration.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
    }
)

_RETURNED_WHEN_DELETED: Final = frozenset(
    {PODS, SERVICES, SERVICEACCOUNTS, NAMESPACES, RESOURCEQUOTAS}
)


def counts_generations(resource: Resource) -> bool:
    """Tell whether ``metadata.generation`` is kept for the kind."""
    return resource.plural not in _WITHOUT_GENERATION


def is_custom(resource: Resource) -> bool:
    """Tell whether a CRD brought the kind, which makes its storage stricter."""
    return group_of(resource.api_version) not in _BUILT_IN_GROUPS


def answers_with_the_deleted(resource: Resource) -> bool:
    """Tell whether a delete answers with the object even when it is gone."""
    return resource in _RETURNED_WHEN_DELETED


def group_kind(resource: Resource) -> str:
    """Return how error messages call the kind of an object: ``Pod``, ``NodeClaim.karpenter.sh``."""
    group = group_of(resource.api_version)
    return f"{resource.kind}.{group}" if group else resource.kind


def group_resource(resource: Resource) -> str:
    """Return how error messages call the kind: ``pods``, ``nodeclaims.karpenter.sh``."""
    group = group_of(resource.api_version)
    return f"{resource.plural}.{group}" if group else resource.plural
