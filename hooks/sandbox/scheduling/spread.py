"""Topology spread that must hold: ``whenUnsatisfiable: DoNotSchedule``.

Owns the counts per domain and the skew. Seen in kube-scheduler v1.36.3
``framework/plugins/podtopologyspread/filtering.go`` and ``common.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hooks.sandbox.objects import is_terminating, labels_of, namespace_of
from hooks.sandbox.scheduling.affinity import Term, matches_node, node_terms
from hooks.sandbox.scheduling.podselector import pod_selector
from hooks.sandbox.scheduling.taints import tolerates

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.scheduling.layout import Layout, Place
    from hooks.sandbox.selectors import Selector

TOO_SKEWED: Final = "node(s) didn't match pod topology spread constraints"
NO_DOMAIN: Final = f"{TOO_SKEWED} (missing required label)"


class Spread:
    """How the Pods that are there are spread, as one more Pod sees it."""

    def __init__(self, pod: Obj, layout: Layout) -> None:
        """Count, once for all places."""
        constraints: list[Obj] = [
            one
            for one in (pod.get("spec") or {}).get("topologySpreadConstraints") or []
            if one.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule"
        ]
        keys = [one["topologyKey"] for one in constraints]
        # A Node without one of the labels isn't in any domain of any constraint.
        places = (
            [place for place in layout.places.values() if all(key in place.labels for key in keys)]
            if constraints
            else []
        )
        terms = node_terms(pod)
        self._constraints = [_Constraint(one, pod, terms, places, layout) for one in constraints]

    def refusal(self, place: Place) -> str | None:
        """Return why a Pod may not be at a place, None when it may."""
        for constraint in self._constraints:
            why = constraint.refusal(place.labels)
            if why is not None:
                return why
        return None


class _Constraint:
    """One constraint with its counts per domain."""

    def __init__(
        self, spec: Obj, pod: Obj, terms: tuple[Term, ...], places: list[Place], layout: Layout
    ) -> None:
        self._key: str = spec["topologyKey"]
        self._max_skew = int(spec.get("maxSkew") or 1)
        selector = pod_selector(spec, pod)
        self._self = int(selector is not None and selector.matches(labels_of(pod)))
        self._counts: Counter[str] = Counter()
        for place in places:
            if _is_counted(spec, pod, terms, place):
                found = _matching(layout, place.name, selector, namespace_of(pod))
                self._counts[place.labels[self._key]] += found
        least = min(self._counts.values(), default=0)
        self._least = least if len(self._counts) >= int(spec.get("minDomains") or 1) else 0

    def refusal(self, labels: Mapping[str, str]) -> str | None:
        domain = labels.get(self._key)
        if domain is None:
            return NO_DOMAIN
        skew = self._counts[domain] + self._self - self._least
        return TOO_SKEWED if skew > self._max_skew else None


def _is_counted(spec: Obj, pod: Obj, terms: tuple[Term, ...], place: Place) -> bool:
    """Tell whether a Node's domain counts: by default the Pod's selectors say, not the taints."""
    if spec.get("nodeAffinityPolicy", "Honor") == "Honor" and not matches_node(
        terms, place.labels, place.name
    ):
        return False
    return spec.get("nodeTaintsPolicy", "Ignore") != "Honor" or tolerates(pod, place.taints)


def _matching(layout: Layout, name: str, selector: Selector | None, namespace: str) -> int:
    """Count the Pods that are meant, those that are leaving left out."""
    if selector is None or not selector.requirements:
        return 0
    return sum(
        1
        for other in layout.pods_at(name)
        if namespace_of(other) == namespace
        and not is_terminating(other)
        and selector.matches(labels_of(other))
    )
