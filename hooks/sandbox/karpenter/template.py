"""What a NodePool says about its machines, with the API server's defaults filled in.

Owns reading a NodePool, the hash of its template, and the part of a NodeClaim that comes from it
alone. Leaves instance types to :mod:`hooks.sandbox.karpenter.offers`. Seen in
``pkg/apis/v1/nodepool.go``, its CRD and ``provisioning/scheduling/nodeclaimtemplate.go``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.moments import NEVER, canonical_span
from hooks.sandbox.objects import name_of, uid_of
from hooks.sandbox.store.identity import copied

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_CLASS_GROUP: Final = "karpenter.kwok.sh"
_CLASS_KIND: Final = "KWOKNodeClass"
_HASH_BYTES: Final = 8
_SPANS: Final = ("expireAfter", "terminationGracePeriod")
_NOT_HASHED: Final = frozenset({"requirements"})


def spec_of(obj: Obj) -> Obj:
    """Return the spec, empty when there is none."""
    spec: Obj = obj.get("spec") or {}
    return spec


def template_of(pool: Obj) -> Obj:
    """Return the spec of a NodePool's template."""
    return spec_of(spec_of(pool).get("template") or {})


def template_labels(pool: Obj) -> dict[str, str]:
    """Return the labels that each NodeClaim of a pool begins with."""
    template: Obj = spec_of(pool).get("template") or {}
    reference: Obj = template_of(pool).get("nodeClassRef") or {}
    return {
        **((template.get("metadata") or {}).get("labels") or {}),
        words.POOL: name_of(pool),
        words.class_label(reference): reference.get("name", ""),
    }


def disruption_of(pool: Obj) -> Obj:
    """Return the pool's disruption settings."""
    disruption: Obj = spec_of(pool).get("disruption") or {}
    return disruption


def is_static(pool: Obj) -> bool:
    """Tell whether a pool keeps a fixed number of nodes."""
    return spec_of(pool).get("replicas") is not None


def is_managed(reference: Obj | None) -> bool:
    """Tell whether a node class is one of the provider's."""
    named = reference or {}
    return named.get("group") == _CLASS_GROUP and named.get("kind") == _CLASS_KIND


def is_managed_claim(claim: Obj) -> bool:
    """Tell whether a NodeClaim is one of the provider's."""
    return is_managed(spec_of(claim).get("nodeClassRef"))


def by_weight(pools: Iterable[Obj]) -> list[Obj]:
    """Return pools in the order in which they are tried; of equal ones the last name comes first."""
    return sorted(
        pools, key=lambda pool: (int(spec_of(pool).get("weight") or 0), name_of(pool)), reverse=True
    )


def fill_in(pool: Obj) -> None:
    """Fill in, in place, the CRD's defaults of a NodePool.

    Durations stay as they were written: Karpenter's patches carry only what it changes itself. Seen
    on the real control plane (v1.14.1), where a pool's ``1h`` is ``1h`` to its end.
    """
    spec: Obj = pool.setdefault("spec", {})
    disruption: Obj = spec.setdefault("disruption", {})
    disruption.setdefault("consolidateAfter", "0s")
    disruption.setdefault("consolidationPolicy", "WhenEmptyOrUnderutilized")
    disruption.setdefault("budgets", [{"nodes": "10%"}])
    template: Obj = spec.setdefault("template", {}).setdefault("spec", {})
    template.setdefault("expireAfter", "720h")


def hash_of(pool: Obj) -> str:
    """Return the hash of the template, requirements left out; not the real one's figure.

    The order of lists and empty values don't count, as with hashstructure.
    """
    template: Obj = copied(spec_of(pool).get("template") or {})
    spec: Obj = {k: v for k, v in spec_of(template).items() if k not in _NOT_HASHED}
    for key in _SPANS:
        if spec.get(key) not in {None, NEVER}:
            spec[key] = canonical_span(spec[key])
    text = json.dumps(_significant({**template, "spec": spec}), sort_keys=True)
    digest = hashlib.sha256(text.encode()).digest()
    return str(int.from_bytes(digest[:_HASH_BYTES], "big"))


def claim_from(pool: Obj, labels: dict[str, str], requirements: list[Obj]) -> Obj:
    """Return a NodeClaim without name, resources and what the scheduling adds."""
    template = template_of(pool)
    meta: Obj = (spec_of(pool).get("template") or {}).get("metadata") or {}
    kept = ("expireAfter", "nodeClassRef", "startupTaints", "taints", "terminationGracePeriod")
    spec: Obj = {key: template[key] for key in kept if template.get(key) is not None}
    if spec.get("terminationGracePeriod"):
        spec["terminationGracePeriod"] = canonical_span(spec["terminationGracePeriod"])
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "annotations": {
                **(meta.get("annotations") or {}),
                words.HASH: hash_of(pool),
                words.HASH_VERSION: words.HASH_IS_V3,
            },
            "generateName": f"{name_of(pool)}-",
            "labels": labels,
            "ownerReferences": [_owner(pool)],
        },
        "spec": {"expireAfter": "720h", **spec, "requirements": requirements},
    }


def _owner(pool: Obj) -> Obj:
    return {
        "apiVersion": "karpenter.sh/v1",
        "blockOwnerDeletion": True,
        "kind": "NodePool",
        "name": name_of(pool),
        "uid": uid_of(pool),
    }


def _significant(value: object) -> object:
    if isinstance(value, dict):
        return {key: kept for key, item in value.items() if (kept := _significant(item))}
    if isinstance(value, list):
        return sorted((_significant(item) for item in value), key=json.dumps)
    return value
