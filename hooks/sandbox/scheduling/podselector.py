"""Selectors of Pods inside a Pod's own constraints.

Owns what they have beyond label selectors: an absent one selects nothing, and keys whose values
come from the Pod itself. Seen in Kubernetes v1.36.3: apimachinery ``LabelSelectorAsSelector``,
``pkg/registry/core/pod/strategy.go`` (applyMatchLabelKeysAndMismatchLabelKeys).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.sandbox.objects import labels_of
from hooks.sandbox.selectors import Requirement, Selector, selector_from

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj


def pod_selector(constraint: Obj, pod: Obj) -> Selector | None:
    """Return the Pods that a constraint of a Pod means; None when it means none.

    The API server merges matchLabelKeys and mismatchLabelKeys into the selector of a stored Pod;
    doing it here too serves Pods that were never stored.
    """
    spec: Obj | None = constraint.get("labelSelector")
    if spec is None:
        return None
    labels = labels_of(pod)
    own = [
        Requirement(key, operator, frozenset({labels[key]}))
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in constraint.get(field) or ()
        if key in labels
    ]
    return Selector((*selector_from(spec).requirements, *own))
