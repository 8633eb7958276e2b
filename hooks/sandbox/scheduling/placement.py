"""Whether a Pod may be at a place, and why not, in the words of kube-scheduler.

Owns the order of the checks; the first one that refuses is the reason that is told. Volumes, host
ports and dynamic resources are not modelled, and nothing is scored. Seen in kube-scheduler v1.36.3:
``apis/config/v1/default_plugins.go`` (the order), ``framework/plugins/*`` (the reasons),
``schedule_one.go`` (the Nodes that are not looked at), ``framework/types.go`` (FitError).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from hooks.sandbox.scheduling.affinity import matches_node, named_nodes, node_terms
from hooks.sandbox.scheduling.layout import Layout, Place, place_of
from hooks.sandbox.scheduling.neighbours import AFFINITY_UNMET, Neighbours
from hooks.sandbox.scheduling.resources import ZERO, lacking, requests_of, subtract
from hooks.sandbox.scheduling.spread import NO_DOMAIN, Spread
from hooks.sandbox.scheduling.taints import tolerates, tolerates_unschedulable

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

__all__ = ["Fitting", "Layout", "Place", "node_terms", "place_of", "refusal", "tolerates"]

UNSCHEDULABLE_NODE: Final = "node(s) were unschedulable"
TAINTED: Final = "node(s) had untolerated taint(s)"
UNSELECTED: Final = "node(s) didn't match Pod's node affinity/selector"
NOT_NAMED: Final = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
TOO_MANY_PODS: Final = "Too many pods"
NO_NODES: Final = "no nodes available to schedule pods"


class Verdict(NamedTuple):
    """Why a Pod may not be at a place; no reasons mean that it may."""

    reasons: tuple[str, ...] = ()
    is_final: bool = False
    """Whether it would be the same without the Pods that are there."""


class Fitting:
    """One Pod that is held against places; other Pods were counted once, when it was made."""

    def __init__(self, pod: Obj, layout: Layout) -> None:
        """Look at a Pod, and at all that is at the layout's places."""
        self._pod = pod
        self._layout = layout
        self._requests = requests_of(pod)
        self._terms = node_terms(pod)
        self._named = named_nodes(pod)
        self._spread = Spread(pod, layout)
        self._neighbours = Neighbours(pod, layout)

    def refusals(self, place: Place) -> tuple[str, ...]:
        """Return why the Pod may not be at a place: empty when it may, several when much lacks."""
        return self.verdict(place).reasons

    def verdict(self, place: Place) -> Verdict:
        """Return the refusals, and whether the Pods that are there have to do with them."""
        unwelcome = self._unwelcome(place)
        if unwelcome is not None:
            return Verdict((unwelcome,), is_final=True)
        free = subtract(place.allocatable, self._layout.used_at(place.name))
        missing = lacking(self._requests, free)
        if missing:
            too_small = any(
                name != "pods" and self._requests[name] > place.allocatable.get(name, ZERO)
                for name in missing
            )
            return Verdict(tuple(_insufficient(name) for name in missing), too_small)
        why = self._spread.refusal(place) or self._neighbours.refusal(place)
        return Verdict() if why is None else Verdict((why,), why in {NO_DOMAIN, AFFINITY_UNMET})

    def _unwelcome(self, place: Place) -> str | None:
        if self._named is not None and place.name not in self._named:
            return NOT_NAMED
        if place.unschedulable and not tolerates_unschedulable(self._pod):
            return UNSCHEDULABLE_NODE
        if not tolerates(self._pod, place.taints):
            return TAINTED
        if not matches_node(self._terms, place.labels, place.name):
            return UNSELECTED
        return None


def refusal(pod: Obj, place: Place, layout: Layout) -> str | None:
    """Return why a Pod may not be at a place of a layout, None when it fits."""
    return ", ".join(Fitting(pod, layout).refusals(place)) or None


def unavailable(refusals: Mapping[str, Iterable[str]]) -> str:
    """Return the scheduler's message about a Pod that fits nowhere, from the reasons by place."""
    if not refusals:
        return NO_NODES
    counts = Counter(reason for reasons in refusals.values() for reason in reasons)
    told = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f"0/{len(refusals)} nodes are available: {', '.join(told)}."


def _insufficient(resource: str) -> str:
    return TOO_MANY_PODS if resource == "pods" else f"Insufficient {resource}"
