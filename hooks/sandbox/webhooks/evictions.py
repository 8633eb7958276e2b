"""The eviction API: webhooks are asked first, then the budget, then the Pod is deleted.

Owns that order, and an Eviction as webhooks see it. Leaves the budget and the deletion to
:mod:`hooks.sandbox.controllers.eviction`. Seen in kubernetes v1.36.3
``pkg/registry/core/pod/storage/eviction.go``: webhooks are asked even about a Pod that isn't there.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from hooks.sandbox.controllers.eviction import evict
from hooks.sandbox.face.subresources import Subresource, SubresourceCall, evictions
from hooks.sandbox.objects import Obj
from hooks.sandbox.webhooks.request import AdmissionRequest, Group, manager_of, with_managed_fields

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.store.store import ObjectStore
    from hooks.sandbox.webhooks.gate import Gate

EVICTION: Final = Group("policy", "v1", "Eviction")
PODS: Final = Group("", "v1", "pods")
SUBRESOURCE: Final = "eviction"
KARPENTER: Final = "karpenter"
_METADATA: Final = ("labels", "annotations")
_DELETE_OPTIONS: Final = (
    "kind",
    "apiVersion",
    "gracePeriodSeconds",
    "preconditions",
    "orphanDependents",
    "propagationPolicy",
    "dryRun",
)
_OPTIONS: Final = ("fieldManager", "fieldValidation")


class EvictionApi:
    """The eviction API of one store."""

    def __init__(self, store: ObjectStore, clock: VirtualClock, gate: Gate) -> None:
        """Ask the webhooks behind ``gate``."""
        self._clock = clock
        self._gate = gate
        self.door: Subresource = evictions(partial(evict, store, clock), self._admit)
        """The door for ``("pods", "eviction")`` of a face."""

    def for_karpenter(self, namespace: str, name: str, uid: str) -> None:
        """Evict as Karpenter does; raises ApiError."""
        self.door(
            SubresourceCall(
                "create",
                namespace,
                name,
                {"deleteOptions": {"preconditions": {"uid": uid}}},
                dry_run=False,
                user_agent=KARPENTER,
            )
        )

    def _admit(self, asked: SubresourceCall) -> tuple[str, ...]:
        manager = manager_of(asked.query.get("fieldManager", ""), asked.user_agent)
        obj = with_managed_fields(_eviction(asked), manager, SUBRESOURCE, self._clock.now())
        if asked.dry_run and "deleteOptions" in obj:
            # Only now: the fields are managed as they came.
            obj["deleteOptions"] = obj["deleteOptions"] | {"dryRun": ["All"]}
        return self._gate.check(
            AdmissionRequest(
                operation="CREATE",
                kind=EVICTION,
                resource=PODS,
                subresource=SUBRESOURCE,
                namespace=asked.namespace,
                name=asked.name,
                obj=obj,
                options=_options(asked),
                dry_run=asked.dry_run,
            )
        )


def _eviction(asked: SubresourceCall) -> Obj:
    """Return the Eviction in the order of its fields, of the version that is stored."""
    metadata = {"name": asked.name, "namespace": asked.namespace}
    metadata |= _picked(asked.body.get("metadata") or {}, _METADATA)
    eviction: Obj = {"kind": EVICTION.name, "apiVersion": "policy/v1", "metadata": metadata}
    options: Obj | None = asked.body.get("deleteOptions")
    if options is not None:
        eviction["deleteOptions"] = _picked(options, _DELETE_OPTIONS)
    return eviction


def _options(asked: SubresourceCall) -> Obj:
    return {
        "kind": "CreateOptions",
        "apiVersion": "meta.k8s.io/v1",
        **({"dryRun": ["All"]} if asked.dry_run else {}),
        **_picked(dict(asked.query), _OPTIONS),
    }


def _picked(obj: Obj, keys: tuple[str, ...]) -> Obj:
    return {key: obj[key] for key in keys if obj.get(key) is not None}
