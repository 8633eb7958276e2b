"""What the API server makes of a new object before it stores it.

Owns the order of the checks, the first status of each kind, and namespaces as places to create in.
Seen in: kubernetes v1.36.3 pkg/registry/*/strategy.go (PrepareForCreate), apiserver v0.36.3
pkg/admission/plugin/namespace/lifecycle. A store without any Namespace is a small world in which
every namespace exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, is_terminating, name_of, namespace_of
from hooks.sandbox.store import kinds
from hooks.sandbox.store.defaults import complete
from hooks.sandbox.store.doors import check_event
from hooks.sandbox.store.identity import copied
from hooks.sandbox.store.pods import admit_pod
from hooks.sandbox.store.quota import check_quotas
from hooks.sandbox.store.refusals import FieldProblem, forbidden, not_found
from hooks.sandbox.store.shelves import Shelves

_FIRST_STATUS: Final[Mapping[str, Obj]] = MappingProxyType(
    {
        "namespaces": {"phase": "Active"},
        "services": {"loadBalancer": {}},
        "resourcequotas": {},
        "deployments": {},
        "replicasets": {"replicas": 0},
        "statefulsets": {"replicas": 0, "availableReplicas": 0},
        "daemonsets": {
            "currentNumberScheduled": 0,
            "desiredNumberScheduled": 0,
            "numberMisscheduled": 0,
            "numberReady": 0,
        },
        "poddisruptionbudgets": {
            "currentHealthy": 0,
            "desiredHealthy": 0,
            "disruptionsAllowed": 0,
            "expectedPods": 0,
        },
    }
)


def admit(shelves: Shelves, resource: Resource, obj: Obj, now: datetime) -> None:
    """Complete a new object in place; raises ApiError when it is refused."""
    _check_namespace(shelves, resource, obj)
    if resource == kinds.EVENTS:
        check_event(obj)
    complete(resource, obj)
    _set_first_status(resource, obj)
    if resource == kinds.PODS:
        namespace = namespace_of(obj)
        admit_pod(obj, shelves.all(kinds.PRIORITYCLASSES, None))
        quotas = shelves.all(kinds.RESOURCEQUOTAS, namespace)
        if quotas:
            check_quotas(obj, quotas, shelves.all(kinds.PODS, namespace), now)


def _set_first_status(resource: Resource, obj: Obj) -> None:
    if resource == kinds.NODES:
        # A kubelet creates its Node with what it knows.
        return
    if resource.has_status:
        obj.pop("status", None)
    first = _FIRST_STATUS.get(resource.plural)
    if first is not None:
        obj["status"] = copied(first)


def _check_namespace(shelves: Shelves, resource: Resource, obj: Obj) -> None:
    existing = shelves.all(kinds.NAMESPACES, None) if resource.namespaced else []
    if not existing:
        return
    name = namespace_of(obj)
    namespace = next((each for each in existing if name_of(each) == name), None)
    if namespace is None:
        raise not_found(kinds.NAMESPACES, name)
    if is_terminating(namespace):
        why = f"unable to create new content in namespace {name} because it is being terminated"
        cause = FieldProblem(
            "metadata.namespace",
            "NamespaceTerminating",
            f"namespace {name} is being terminated",
        )
        raise forbidden(resource, name_of(obj), why, cause)
