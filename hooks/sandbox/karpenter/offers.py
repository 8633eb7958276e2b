"""Concrete offers: an instance type in a zone at a price, with all labels its Node would have.

Owns which offers meet a set of requirements. Karpenter intersects requirements and filters instance
types; here each offer is held against them, which comes to the same for requirements that name
values. Seen in ``provisioning/scheduling/nodeclaim.go`` (filterInstanceTypesByRequirements) and
``kwok/cloudprovider/cloudprovider.go`` (toNode).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.instances import Catalogue, InstanceType, Offering
from hooks.sandbox.scheduling.affinity import requirement_holds
from hooks.sandbox.selectors import Requirement

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

WELL_KNOWN: Final = frozenset(
    {
        words.POOL,
        words.ZONE,
        "topology.kubernetes.io/region",
        words.INSTANCE_TYPE,
        words.ARCH,
        words.OS,
        words.CAPACITY_TYPE,
        "node.kubernetes.io/windows-build",
        words.INSTANCE_SIZE,
        words.INSTANCE_FAMILY,
        words.INSTANCE_CPU,
        words.INSTANCE_MEMORY,
    }
)
"""Labels whose values Karpenter knows from the instance types."""
_INCLUSIVE: Final = {"Gte": ("Gt", -1), "Lte": ("Lt", 1)}


@dataclass(frozen=True)
class Offer:
    """One machine that could be had."""

    instance: InstanceType
    offering: Offering
    labels: Mapping[str, str]

    @property
    def price(self) -> float:
        """What it costs."""
        return self.offering.price


def requirements_from(items: Iterable[Obj]) -> tuple[Requirement, ...]:
    """Return the requirements of a NodePool or NodeClaim; Gte and Lte become Gt and Lt."""
    return tuple(_requirement(item) for item in items)


def offers_for(
    labels: Mapping[str, str], requirements: Sequence[Requirement], catalogue: Catalogue
) -> tuple[Offer, ...]:
    """Return the offers that meet all requirements and don't contradict the labels."""
    own = [one for one in requirements if one.key not in WELL_KNOWN and one.key not in labels]
    choices = [one for one in own if one.operator == "In"]
    checked = [one for one in requirements if one not in own]
    variants = [
        {**labels, **dict(zip((one.key for one in choices), values, strict=True))}
        for values in itertools.product(*(sorted(one.values) for one in choices))
    ]
    return tuple(
        offer
        for variant in variants
        for instance in _named_types(requirements, catalogue)
        for offering in instance.offerings
        if offering.available
        and (offer := _offer(variant, instance, offering)) is not None
        and all(requirement_holds(one, offer.labels, "") for one in checked)
    )


def cheapest_first(offers: Iterable[Offer]) -> list[Offer]:
    """Return offers by price; equal ones by the name of their type."""
    return sorted(offers, key=lambda offer: (offer.price, offer.instance.name))


def worst_launch_price(offers: Iterable[Offer], instance: InstanceType) -> float:
    """Return the most that this type may cost: spot is taken where it is among the offers."""
    prices = {words.SPOT: 0.0, words.ON_DEMAND: 0.0}
    for offer in offers:
        if offer.instance is instance:
            kind = offer.offering.capacity_type
            prices[kind] = max(prices.get(kind, 0.0), offer.price)
    return prices[words.SPOT] or prices[words.ON_DEMAND] or float("inf")


def _named_types(requirements: Iterable[Requirement], catalogue: Catalogue) -> list[InstanceType]:
    """Return the types that requirements name, all of them when they name none."""
    for one in requirements:
        if one.key == words.INSTANCE_TYPE and one.operator == "In":
            found = (catalogue.find(name) for name in sorted(one.values))
            return [instance for instance in found if instance is not None]
    return list(catalogue)


def _offer(labels: Mapping[str, str], instance: InstanceType, offering: Offering) -> Offer | None:
    known = {
        **instance.all_labels,
        words.ZONE: offering.zone,
        words.CAPACITY_TYPE: offering.capacity_type,
    }
    if any(labels.get(key, value) != value for key, value in known.items()):
        return None
    return Offer(instance, offering, {**labels, **known})


def _requirement(item: Obj) -> Requirement:
    operator: str = item["operator"]
    values: list[str] = item.get("values") or []
    if operator in _INCLUSIVE:
        operator, shift = _INCLUSIVE[operator]
        values = [str(int(values[0]) + shift)]
    return Requirement(item["key"], operator, frozenset(values))
