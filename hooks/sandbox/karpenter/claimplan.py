"""A machine that is only thought of: the offers that are left for it and the Pods that go there.

Owns what one more Pod leaves of the offers, and the NodeClaim that comes of it. Seen in
``provisioning/scheduling/nodeclaim.go`` (CanAdd, Add, addDaemonRequests) and
``nodeclaimtemplate.go`` (ToNodeClaim).

A difference: where a Pod's topology constraint leaves several domains, one is chosen at once, so
that the next Pod can be counted against it; Karpenter keeps them open for anti-affinity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.offers import (
    WELL_KNOWN,
    Offer,
    cheapest_first,
    offers_for,
    requirements_from,
)
from hooks.sandbox.karpenter.quantities import least_common, resource_list
from hooks.sandbox.karpenter.template import (
    claim_from,
    is_static,
    template_labels,
    template_of,
)
from hooks.sandbox.objects import labels_of, name_of, namespace_of
from hooks.sandbox.scheduling.affinity import matches_node, node_terms
from hooks.sandbox.scheduling.placement import Fitting, Layout, Place
from hooks.sandbox.scheduling.podselector import pod_selector
from hooks.sandbox.scheduling.resources import Amounts, requests_of, subtract, total_of
from hooks.sandbox.scheduling.taints import tolerates

if TYPE_CHECKING:
    from hooks.sandbox.karpenter.instances import Catalogue
    from hooks.sandbox.objects import Obj

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_MOST_TYPES: Final = 600


class Template:
    """A NodePool with the offers it allows and what DaemonSets take of each."""

    def __init__(self, pool: Obj, catalogue: Catalogue, daemons: Sequence[Obj]) -> None:
        """``daemons`` are Pods as the DaemonSets would make them."""
        self.pool = pool
        self.name = name_of(pool)
        self.requirements = requirements_from(template_of(pool).get("requirements") or [])
        self.taints: tuple[Obj, ...] = tuple(template_of(pool).get("taints") or ())
        # As if the Node were there: DaemonSets may select on these.
        labels = {
            **template_labels(pool),
            words.REGISTERED_LABEL: "true",
            words.INITIALIZED_LABEL: "true",
        }
        self.offers = offers_for(labels, self.requirements, catalogue)
        able = [(pod, node_terms(pod)) for pod in daemons if tolerates(pod, self.taints)]
        self.overhead: dict[str, Amounts] = {}
        for offer in self.offers:
            if offer.instance.name not in self.overhead:
                self.overhead[offer.instance.name] = total_of(
                    requests_of(pod) for pod, terms in able if matches_node(terms, offer.labels, "")
                )


@dataclass
class ClaimPlan:
    """A new machine of a pool, as far as it is settled."""

    template: Template
    hostname: str
    offers: Sequence[Offer]
    pods: list[Obj]

    def left_with(self, pod: Obj, layout: Layout) -> Sequence[Offer]:
        """Return the offers that would still do with one more Pod, none when it doesn't fit."""
        fitting = Fitting(pod, layout)
        left = [offer for offer in self.offers if not fitting.refusals(self._place(offer))]
        for key in topology_keys(pod):
            if key != words.HOSTNAME and left:
                left = _settled(left, key, pod, layout)
        return left

    def take(self, pod: Obj, left: Sequence[Offer], layout: Layout) -> None:
        """Put a Pod here."""
        self.pods.append(pod)
        self.offers = left
        layout.add_place(self.as_place())
        layout.put(pod, self.hostname)

    def as_place(self) -> Place:
        """Return the place that others see: with the labels that are settled."""
        first, *rest = (offer.labels for offer in self.offers)
        shared = {k: v for k, v in first.items() if all(other.get(k) == v for other in rest)}
        return Place(
            self.hostname, {**shared, words.HOSTNAME: self.hostname}, self.template.taints, {}
        )

    @property
    def instances(self) -> list[str]:
        """The names of the types that are left, cheapest first."""
        return list(dict.fromkeys(offer.instance.name for offer in cheapest_first(self.offers)))

    def claim(self) -> Obj:
        """Return the NodeClaim to create, without a name."""
        pool = self.template.pool
        labels = dict(template_labels(pool))
        settled = self.offers[0].labels if self.offers else {}
        for one in self.template.requirements:
            value = settled.get(one.key)
            if one.key not in WELL_KNOWN and value is not None:
                labels[one.key] = value
        claim = claim_from(pool, labels, self._requirements(labels))
        # Whatever nobody asks for is written all the same: seen on the real control plane.
        claim["spec"]["resources"] = {}
        if not is_static(pool):
            claim["metadata"]["annotations"][words.MIN_VALUES_RELAXED] = "false"
            claim["spec"]["resources"] = {"requests": resource_list(self._requests())}
        return claim

    def _place(self, offer: Offer) -> Place:
        overhead = self.template.overhead[offer.instance.name]
        return Place(
            self.hostname,
            {**offer.labels, words.HOSTNAME: self.hostname},
            self.template.taints,
            subtract(offer.instance.allocatable, overhead),
        )

    def _requests(self) -> Amounts:
        """Return what the Pods ask for, with the least that DaemonSets take."""
        kinds = {offer.instance.name for offer in self.offers}
        least = least_common(self.template.overhead[kind] for kind in sorted(kinds))
        return total_of([*(requests_of(pod) for pod in self.pods), least])

    def _requirements(self, labels: Mapping[str, str]) -> list[Obj]:
        """Return the requirements: the pool's, narrowed; the labels; what the Pods settled."""
        said: dict[str, Obj] = {}
        for item in template_of(self.template.pool).get("requirements") or []:
            said[item["key"]] = dict(item)
        narrowed = {key: self._values(key) for key in (*said, *self._keys_of_pods(), words.ZONE)}
        for key, values in narrowed.items():
            if values and (said.get(key, {}).get("operator") == "In" or self._is_narrowed(key)):
                said[key] = {**said.get(key, {}), **_within(key, values)}
        for key, value in labels.items():
            said[key] = _within(key, [value])
        if not is_static(self.template.pool):
            said[words.INSTANCE_TYPE] = _within(
                words.INSTANCE_TYPE, sorted(self.instances[:_MOST_TYPES])
            )
            said[words.CAPACITY_TYPE] = _within(
                words.CAPACITY_TYPE, self._values(words.CAPACITY_TYPE)
            )
        return list(said.values())

    def _keys_of_pods(self) -> list[str]:
        keys = (one.key for pod in self.pods for term in node_terms(pod) for one in term)
        return [key for key in dict.fromkeys(keys) if key in WELL_KNOWN]

    def _values(self, key: str) -> list[str]:
        return sorted({offer.labels[key] for offer in self.offers if key in offer.labels})

    def _is_narrowed(self, key: str) -> bool:
        before = {offer.labels.get(key) for offer in self.template.offers}
        return before != {offer.labels.get(key) for offer in self.offers}


def static_plan(template: Template, hostname: str) -> ClaimPlan:
    """Return a machine of a pool of fixed size: anything that the pool allows."""
    return ClaimPlan(template, hostname, template.offers, [])


def topology_keys(pod: Obj) -> list[str]:
    """Return the topologies in which it matters where a Pod is."""
    spec: Obj = pod.get("spec") or {}
    affinity: Obj = spec.get("affinity") or {}
    terms: list[Obj] = [
        *spread_constraints(pod),
        *((affinity.get("podAffinity") or {}).get(_REQUIRED) or ()),
        *((affinity.get("podAntiAffinity") or {}).get(_REQUIRED) or ()),
    ]
    return list(dict.fromkeys(str(term.get("topologyKey", "")) for term in terms))


def spread_constraints(pod: Obj) -> list[Obj]:
    """Return the spread constraints that must hold."""
    constraints: list[Obj] = (pod.get("spec") or {}).get("topologySpreadConstraints") or []
    return [one for one in constraints if one.get("whenUnsatisfiable") != "ScheduleAnyway"]


def _settled(offers: Sequence[Offer], key: str, pod: Obj, layout: Layout) -> list[Offer]:
    """Return the offers of one domain: the one with the fewest Pods that are spread with this one."""
    counts: Counter[str] = Counter()
    for constraint in spread_constraints(pod):
        selector = pod_selector(constraint, pod)
        if constraint.get("topologyKey") == key and selector is not None:
            for place in layout.places.values():
                counts[place.labels.get(key, "")] += sum(
                    namespace_of(other) == namespace_of(pod) and selector.matches(labels_of(other))
                    for other in layout.pods_at(place.name)
                )
    domains = sorted({offer.labels[key] for offer in offers if key in offer.labels})
    if not domains:
        return []
    chosen = min(domains, key=lambda domain: (counts[domain], domain))
    return [offer for offer in offers if offer.labels.get(key) == chosen]


def _within(key: str, values: Sequence[str]) -> Obj:
    return {"key": key, "operator": "In", "values": list(values)}
