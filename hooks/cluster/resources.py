"""Where each kind that we touch lives in the API: paths, and nothing that could leave them.

Owns the list of kinds. A name comes from annotations and request bodies, so it is held to what
Kubernetes lets stand in a path: a DELETE to ``/nodeclaims/`` would delete the whole collection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from hooks import names
from hooks.cluster.errors import NotFound


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind: its group's path (``/apis/karpenter.sh/v1``) and its plural name."""

    group_path: str
    plural: str

    def every(self, namespace: str | None = None) -> str:
        """Give the path of the collection, of one namespace or of the whole cluster."""
        if namespace is None:
            return f"{self.group_path}/{self.plural}"
        return f"{self.group_path}/namespaces/{_segment(namespace)}/{self.plural}"

    def one(self, name: str, namespace: str | None = None) -> str:
        """Give the path of one object; raises NotFound for a name that no object can have."""
        return f"{self.every(namespace)}/{_segment(name)}"


def field_value(value: str) -> str:
    r"""Escape a value for a field selector, in which ``\``, ``,`` and ``=`` have a meaning."""
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


def _segment(name: str) -> str:
    if name in {"", ".", ".."} or "/" in name or "%" in name:
        raise NotFound(f"no object can have the name {name!r}")
    return quote(name, safe="")


KARPENTER: Final = "/apis/karpenter.sh/v1"
POLICIES: Final = f"/apis/{names.POLICY_GROUP}/{names.POLICY_VERSION}"

NODEPOOLS: Final = Resource(KARPENTER, "nodepools")
NODECLAIMS: Final = Resource(KARPENTER, "nodeclaims")
NODES: Final = Resource("/api/v1", "nodes")
PODS: Final = Resource("/api/v1", "pods")
PODDISRUPTIONBUDGETS: Final = Resource("/apis/policy/v1", "poddisruptionbudgets")
DEPLOYMENTS: Final = Resource("/apis/apps/v1", "deployments")
REPLICASETS: Final = Resource("/apis/apps/v1", "replicasets")
ROTATIONPOLICIES: Final = Resource(POLICIES, "rotationpolicies")
DECORATORCONTROLLERS: Final = Resource(
    "/apis/metacontroller.k8s.io/v1alpha1", "decoratorcontrollers"
)


def events(api_version: str) -> Resource:
    """Give the Event kind of the body's own apiVersion (``v1`` or ``events.k8s.io/v1``)."""
    return Resource("/api/v1" if api_version == "v1" else f"/apis/{api_version}", "events")
