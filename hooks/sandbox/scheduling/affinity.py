"""Which Nodes a Pod may be on by their labels and names.

Owns ``nodeSelector`` and node affinity; what preferred terms are worth is scored in
:mod:`hooks.sandbox.scheduling.scoring`. Seen in component-helpers v0.36.3
``scheduling/corev1/nodeaffinity/nodeaffinity.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from hooks.sandbox.selectors import Requirement

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

NODE_NAME_FIELD: Final = "metadata.name"
"""The one field that ``matchFields`` may name; as a requirement's key it means the Node's name."""

Term: TypeAlias = tuple[Requirement, ...]
"""Conditions that hold together; beside the selectors' operators there are Gt and Lt."""


def node_terms(pod: Obj) -> tuple[Term, ...]:
    """Return the alternatives that a Pod leaves; none at all means that no Node will do.

    ``nodeSelector`` is part of each of them. A Pod that asks for nothing has one empty term.
    """
    spec: Obj = pod.get("spec") or {}
    pairs: dict[str, str] = spec.get("nodeSelector") or {}
    selector = tuple(Requirement(key, "In", frozenset({value})) for key, value in pairs.items())
    affinity: Obj = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required: Obj | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return (selector,)
    terms = (_term(term) for term in required.get("nodeSelectorTerms") or [])
    # An empty term selects nothing.
    return tuple((*selector, *term) for term in terms if term)


def preferred_terms(pod: Obj) -> list[tuple[int, Term]]:
    """Return what a Pod would rather have, with weights; a term without conditions counts nothing."""
    affinity: Obj = ((pod.get("spec") or {}).get("affinity") or {}).get("nodeAffinity") or {}
    preferred: list[Obj] = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []
    weighed = ((int(one["weight"]), _term(one["preference"])) for one in preferred)
    return [(weight, term) for weight, term in weighed if term]


def matches_node(terms: Iterable[Term], labels: Mapping[str, str], name: str) -> bool:
    """Tell whether a Node with these labels and this name meets one of the alternatives."""
    return any(all(requirement_holds(one, labels, name) for one in term) for term in terms)


def requirement_holds(requirement: Requirement, labels: Mapping[str, str], name: str) -> bool:
    """Tell whether a Node meets one condition."""
    if requirement.key == NODE_NAME_FIELD:
        return requirement.holds_for({NODE_NAME_FIELD: name})
    if requirement.operator in {"Gt", "Lt"}:
        return _is_beyond(requirement, labels.get(requirement.key))
    return requirement.holds_for(labels)


def named_nodes(pod: Obj) -> frozenset[str] | None:
    """Return the only Nodes that the Pod names, or None when it may be on Nodes of any name.

    The scheduler then looks at no others, which shows in its message.
    """
    names: set[str] = set()
    for term in node_terms(pod):
        named = [one.values for one in term if one.key == NODE_NAME_FIELD and one.operator == "In"]
        if not named:
            return None
        names |= frozenset.intersection(*named)
    return frozenset(names) or None


def _term(term: Obj) -> Term:
    fields: list[Obj] = term.get("matchFields") or []
    expressions: list[Obj] = term.get("matchExpressions") or []
    return tuple(
        Requirement(one.get("key", ""), one.get("operator", ""), frozenset(one.get("values") or ()))
        for one in (*fields, *expressions)
    )


def _is_beyond(requirement: Requirement, value: str | None) -> bool:
    """Compare whole numbers; a label that is missing or no number meets neither Gt nor Lt."""
    try:
        (bound,) = (int(text) for text in requirement.values)
        number = int(value or "")
    except ValueError:
        return False
    return number > bound if requirement.operator == "Gt" else number < bound
