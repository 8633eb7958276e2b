"""Required affinity and anti-affinity between Pods.

Owns the three checks of the scheduler's plugin InterPodAffinity; preferred terms are only scores.
Seen in kube-scheduler v1.36.3 ``framework/plugins/interpodaffinity/filtering.go`` and
``framework/types.go`` (AffinityTerm).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hooks.sandbox.objects import labels_of, namespace_of
from hooks.sandbox.scheduling.podselector import pod_selector
from hooks.sandbox.selectors import Selector, selector_from

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.scheduling.layout import Layout, Place

AFFINITY_UNMET: Final = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_UNMET: Final = "node(s) didn't match pod anti-affinity rules"
OTHERS_ANTI_AFFINITY_UNMET: Final = "node(s) didn't satisfy existing pods anti-affinity rules"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class NeighbourTerm:
    """Some Pods of some namespaces, within one domain of a topology."""

    topology_key: str
    selector: Selector | None
    namespaces: frozenset[str]
    namespace_selector: Selector | None

    def means(self, pod: Obj, layout: Layout) -> bool:
        """Tell whether a Pod is one of those."""
        if self.selector is None or not self.selector.matches(labels_of(pod)):
            return False
        namespace = namespace_of(pod)
        return namespace in self.namespaces or (
            self.namespace_selector is not None
            and self.namespace_selector.matches(layout.labels_of_namespace(namespace))
        )


def affinity_terms(pod: Obj, kind: str) -> tuple[NeighbourTerm, ...]:
    """Return the required terms of ``podAffinity`` or ``podAntiAffinity``."""
    affinity: Obj = (pod.get("spec") or {}).get("affinity") or {}
    terms: list[Obj] = (affinity.get(kind) or {}).get(_REQUIRED) or []
    return tuple(_term(term, pod) for term in terms)


class Neighbours:
    """What the Pods that are there mean to one more Pod."""

    def __init__(self, pod: Obj, layout: Layout) -> None:
        """Count, once for all places."""
        self._wanted = affinity_terms(pod, "podAffinity")
        self._shunned = affinity_terms(pod, "podAntiAffinity")
        self._near: Counter[tuple[str, str]] = Counter()
        self._bad: Counter[tuple[str, str]] = Counter()
        self._others: Counter[tuple[str, str]] = Counter()
        for place in layout.places.values():
            for other in layout.pods_at(place.name):
                self._count(pod, other, place, layout)
        self._may_be_first = all(term.means(pod, layout) for term in self._wanted)

    def refusal(self, place: Place) -> str | None:
        """Return why a Pod may not be at a place, None when it may."""
        if not self._has_company(place.labels):
            return AFFINITY_UNMET
        if any(self._bad[pair] for pair in _pairs(self._shunned, place.labels)):
            return ANTI_AFFINITY_UNMET
        if self._others and any(self._others[pair] for pair in place.labels.items()):
            return OTHERS_ANTI_AFFINITY_UNMET
        return None

    def _count(self, pod: Obj, other: Obj, place: Place, layout: Layout) -> None:
        if self._wanted and all(term.means(other, layout) for term in self._wanted):
            self._near.update(_pairs(self._wanted, place.labels))
        bad = [term for term in self._shunned if term.means(other, layout)]
        self._bad.update(_pairs(bad, place.labels))
        theirs = affinity_terms(other, "podAntiAffinity")
        hostile = [term for term in theirs if term.means(pod, layout)]
        self._others.update(_pairs(hostile, place.labels))

    def _has_company(self, labels: Mapping[str, str]) -> bool:
        if any(term.topology_key not in labels for term in self._wanted):
            return False
        if all(self._near[pair] for pair in _pairs(self._wanted, labels)):
            return True
        # The first of Pods that want to be together would otherwise wait for ever.
        return not self._near and self._may_be_first


def _pairs(
    terms: tuple[NeighbourTerm, ...] | list[NeighbourTerm], labels: Mapping[str, str]
) -> list[tuple[str, str]]:
    keys = (term.topology_key for term in terms)
    return [(key, labels[key]) for key in keys if key in labels]


def _term(term: Obj, pod: Obj) -> NeighbourTerm:
    namespaces: list[str] = term.get("namespaces") or []
    others: Obj | None = term.get("namespaceSelector")
    if not namespaces and others is None:
        namespaces = [namespace_of(pod)]
    return NeighbourTerm(
        topology_key=term.get("topologyKey", ""),
        selector=pod_selector(term, pod),
        namespaces=frozenset(namespaces),
        namespace_selector=None if others is None else selector_from(others),
    )
