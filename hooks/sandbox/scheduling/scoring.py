"""Which of the places that fit a Pod the scheduler would take.

Owns the scores that tell Nodes apart in our worlds, with kube-scheduler's weights: preferred node
affinity, PreferNoSchedule taints, free room, and an even spread. Preferred affinity between Pods,
balance of resources and images are not modelled. Seen in kube-scheduler v1.36.3
``apis/config/v1/default_plugins.go`` (weights), ``framework/plugins/nodeaffinity``,
``tainttoleration``, ``noderesources/least_allocated.go``, ``podtopologyspread/scoring.go``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from hooks.sandbox.objects import controller_ref, is_terminating, labels_of, namespace_of
from hooks.sandbox.scheduling.affinity import matches_node, preferred_terms
from hooks.sandbox.scheduling.podselector import pod_selector
from hooks.sandbox.scheduling.resources import requests_of
from hooks.sandbox.scheduling.taints import tolerates

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.scheduling.layout import Layout, Place

_BEST: Final = 100
_TAINTS, _AFFINITY, _SPREAD = 3, 2, 2
"""The weights; free room has 1."""

_HOSTNAME: Final = "kubernetes.io/hostname"
_BY_DEFAULT: Final = ((_HOSTNAME, 3), ("topology.kubernetes.io/zone", 5))
"""Topology keys and skews of the spread that a Pod of a workload has without asking for it."""


def best(pod: Obj, places: Sequence[Place], layout: Layout) -> list[Place]:
    """Return the places with the highest score, in their order; several when they are equal."""
    if len(places) <= 1:
        return list(places)
    affinity = _shares([_preference(pod, place) for place in places])
    clean = [_BEST - share for share in _shares([_disliked(pod, place) for place in places])]
    spread = _evenness(pod, places, layout)
    scores = [
        _TAINTS * clean[index]
        + (_AFFINITY * affinity[index])
        + (_SPREAD * spread[index])
        + _free_room(pod, place, layout)
        for index, place in enumerate(places)
    ]
    return [place for place, score in zip(places, scores, strict=True) if score == max(scores)]


def _shares(values: Sequence[int]) -> list[int]:
    """Return each as a share of the greatest, in percent."""
    greatest = max(values)
    return [_BEST * value // greatest if greatest else 0 for value in values]


def _preference(pod: Obj, place: Place) -> int:
    return sum(
        weight
        for weight, term in preferred_terms(pod)
        if matches_node((term,), place.labels, place.name)
    )


def _disliked(pod: Obj, place: Place) -> int:
    effects = ("PreferNoSchedule",)
    return sum(1 for taint in place.taints if not tolerates(pod, (taint,), effects))


def _free_room(pod: Obj, place: Place, layout: Layout) -> int:
    """Return how empty a place would still be, in percent, cpu and memory alike."""
    needed, used = requests_of(pod), layout.used_at(place.name)
    shares = [
        (whole - used.get(name, 0) - needed.get(name, 0)) * _BEST // whole
        for name in ("cpu", "memory")
        if (whole := place.allocatable.get(name, 0)) > 0
    ]
    return int(sum(shares)) // len(shares) if shares else 0


def _evenness(pod: Obj, places: Sequence[Place], layout: Layout) -> list[int]:
    """Return how few of its like each place and its domains have, in percent."""
    crowds = [0.0] * len(places)
    for key, skew, alike in _spreads(pod):
        counts = _counts(key, alike, layout)
        weight = math.log(len({place.labels.get(key) for place in places}) + 2)
        for index, place in enumerate(places):
            if key in place.labels:
                crowds[index] += counts[place.labels[key]] * weight + skew - 1
    rounded = [round(crowd) for crowd in crowds]
    most, least = max(rounded), min(rounded)
    return [_BEST * (most + least - crowd) // most if most else _BEST for crowd in rounded]


def _spreads(pod: Obj) -> list[tuple[str, int, Callable[[Obj], bool]]]:
    """Return topology keys, skews, and which Pods count."""
    asked: list[Obj] = [
        one
        for one in (pod.get("spec") or {}).get("topologySpreadConstraints") or []
        if one.get("whenUnsatisfiable") == "ScheduleAnyway"
    ]
    if asked:
        return [(one["topologyKey"], int(one["maxSkew"]), _selected(one, pod)) for one in asked]
    owner = controller_ref(pod)
    if owner is None:
        return []
    uid: str = owner["uid"]

    def is_sibling(other: Obj) -> bool:
        theirs = controller_ref(other)
        return theirs is not None and bool(theirs["uid"] == uid)

    return [(key, skew, is_sibling) for key, skew in _BY_DEFAULT]


def _selected(constraint: Obj, pod: Obj) -> Callable[[Obj], bool]:
    selector, namespace = pod_selector(constraint, pod), namespace_of(pod)

    def is_selected(other: Obj) -> bool:
        return (
            selector is not None
            and namespace_of(other) == namespace
            and selector.matches(labels_of(other))
        )

    return is_selected


def _counts(key: str, alike: Callable[[Obj], bool], layout: Layout) -> Counter[str]:
    counts: Counter[str] = Counter()
    for place in layout.places.values():
        if key in place.labels:
            there = layout.pods_at(place.name)
            counts[place.labels[key]] += sum(
                1 for other in there if alike(other) and not is_terminating(other)
            )
    return counts
