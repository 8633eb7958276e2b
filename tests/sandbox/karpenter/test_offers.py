"""Which offers meet which requirements."""

from __future__ import annotations

import pytest

from hooks.sandbox.karpenter.instances import Catalogue, instance_type
from hooks.sandbox.karpenter.offers import cheapest_first, offers_for, requirements_from
from hooks.sandbox.objects import Obj

CPU = "karpenter.kwok.sh/instance-cpu"
ZONE = "topology.kubernetes.io/zone"
TIER = "example.com/tier"
CATALOGUE = Catalogue(
    [
        instance_type("two", cpu=2, memory="4Gi", zones=("a", "b")),
        instance_type("four", cpu=4, memory="8Gi", zones=("b", "c")),
        instance_type("eight", cpu=8, memory="16Gi", zones=("c",), arch="arm64"),
    ]
)


def one(key: str, operator: str, *values: str) -> Obj:
    return {"key": key, "operator": operator, "values": list(values)}


def found(*requirements: Obj, **labels: str) -> list[str]:
    offers = offers_for(labels, requirements_from(requirements), CATALOGUE)
    return sorted({f"{offer.instance.name}@{offer.labels[ZONE]}" for offer in offers})


@pytest.mark.parametrize(
    ("requirement", "names"),
    [
        (one(CPU, "In", "2", "8"), ["eight@c", "two@a", "two@b"]),
        (one(CPU, "NotIn", "2"), ["eight@c", "four@b", "four@c"]),
        (one(CPU, "Gt", "2"), ["eight@c", "four@b", "four@c"]),
        (one(CPU, "Gte", "4"), ["eight@c", "four@b", "four@c"]),
        (one(CPU, "Lt", "4"), ["two@a", "two@b"]),
        (one(CPU, "Lte", "4"), ["four@b", "four@c", "two@a", "two@b"]),
        (one(ZONE, "In", "b"), ["four@b", "two@b"]),
        (one("kubernetes.io/arch", "In", "arm64"), ["eight@c"]),
        (one("node.kubernetes.io/instance-type", "In", "four", "none"), ["four@b", "four@c"]),
        (one(CPU, "DoesNotExist"), []),
    ],
)
def test_a_requirement_on_what_types_say_filters_them(requirement: Obj, names: list[str]) -> None:
    assert found(requirement) == names


def test_labels_that_contradict_a_type_rule_it_out() -> None:
    labels = {"kubernetes.io/arch": "arm64"}
    assert {o.instance.name for o in offers_for(labels, (), CATALOGUE)} == {"eight"}


def test_a_label_of_ones_own_with_two_values_makes_two_variants() -> None:
    requirements = requirements_from([one(TIER, "In", "gold", "blue"), one(ZONE, "In", "a")])
    offers = offers_for({"team": "x"}, requirements, CATALOGUE)
    assert sorted((o.labels[TIER], o.labels["team"]) for o in offers) == [
        ("blue", "x"),
        ("blue", "x"),
        ("gold", "x"),
        ("gold", "x"),
    ]


def test_what_is_sold_out_is_no_offer() -> None:
    offers = offers_for({}, (), CATALOGUE.sold_out("two", "four"))
    assert {offer.instance.name for offer in offers} == {"eight"}


def test_the_cheapest_comes_first() -> None:
    offers = cheapest_first(offers_for({}, (), CATALOGUE))
    assert (offers[0].instance.name, offers[0].offering.capacity_type) == ("two", "spot")
    assert offers[-1].instance.name == "eight"
