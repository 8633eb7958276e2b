"""The machines that can be had, with their prices.

Owns KWOK's instance types: three families (c, s, m: 2, 4, 8 GiB a CPU), twelve sizes, two
architectures, two operating systems, four zones, on demand and spot; and a catalogue that can be
extended, for scenarios with extended resources or huge pages. Seen in
``kwok/tools/gen_instance_types.go``, ``kwok/cloudprovider/helpers.go`` and
``pkg/cloudprovider/types.go`` (computeAllocatable).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.quantities import quantity_text, without_debts
from hooks.sandbox.scheduling.resources import Amounts, amounts_of, subtract

ZONES: Final = ("test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d")
_SIZES: Final = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256)
_FAMILIES: Final = {2: "c", 4: "s", 8: "m"}
_MOST_PODS: Final = 1024
_PODS_PER_CPU: Final = 16
_SPOT_DISCOUNT: Final = 0.7
_PER_CPU: Final = 0.025
_PER_GIGABYTE: Final = 0.001
_OVERHEAD: Final = amounts_of({"cpu": "100m", "memory": "10Mi"})
_AWS: Final = re.compile(r"\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)")


@dataclass(frozen=True, slots=True)
class Offering:
    """One way to get an instance type."""

    zone: str
    capacity_type: str
    price: float
    available: bool = True


@dataclass(frozen=True)
class InstanceType:
    """A kind of machine."""

    name: str
    capacity: Amounts
    offerings: tuple[Offering, ...]
    arch: str = "amd64"
    os: str = "linux"
    labels: Mapping[str, str] = field(default_factory=dict)
    """What it says of itself beside KWOK's own labels."""

    @cached_property
    def allocatable(self) -> Amounts:
        """What Pods can have: 100m CPU and 10Mi are kept back, and huge pages come off memory."""
        rest = subtract(self.capacity, _OVERHEAD)
        for name, amount in self.capacity.items():
            if name.startswith("hugepages-"):
                rest["memory"] -= amount
        return without_debts(rest)

    @cached_property
    def all_labels(self) -> Mapping[str, str]:
        """The labels of each of its Nodes, zone and capacity type left out."""
        cpu = quantity_text("cpu", self.capacity["cpu"])
        size = _AWS.fullmatch(self.name)
        return {
            words.INSTANCE_TYPE: self.name,
            words.ARCH: self.arch,
            words.OS: self.os,
            words.INSTANCE_CPU: cpu,
            words.INSTANCE_FAMILY: _family_of(self.name),
            words.INSTANCE_MEMORY: quantity_text("memory", self.capacity["memory"]),
            words.INSTANCE_SIZE: size.group(1) if size else cpu,
            **self.labels,
        }


class Catalogue:
    """The instance types by name, in order; may be replaced by another one, never changed."""

    def __init__(self, types: Iterable[InstanceType]) -> None:
        """Take the types; of two with one name the later one counts."""
        self._types = {one.name: one for one in types}

    def __iter__(self) -> Iterator[InstanceType]:
        """Go through all types."""
        return iter(self._types.values())

    def find(self, name: str) -> InstanceType | None:
        """Return the type of this name."""
        return self._types.get(name)

    def extended(self, *types: InstanceType) -> Catalogue:
        """Return a catalogue that has these too, or instead."""
        return Catalogue((*self._types.values(), *types))

    def sold_out(self, *names: str) -> Catalogue:
        """Return a catalogue in which these types can't be had anywhere."""
        return Catalogue(_sold_out(one) if one.name in names else one for one in self)


def kwok_catalogue() -> Catalogue:
    """Return KWOK's own instance types."""
    return Catalogue(
        instance_type(
            f"{family}-{cpu}x-{arch}-{os}", cpu=cpu, memory=f"{cpu * factor}Gi", arch=arch, os=os
        )
        for cpu in _SIZES
        for factor, family in _FAMILIES.items()
        for os in ("linux", "windows")
        for arch in ("amd64", "arm64")
    )


def instance_type(
    name: str,
    *,
    cpu: int,
    memory: str,
    arch: str = "amd64",
    os: str = "linux",
    zones: Iterable[str] = ZONES,
    more: Mapping[str, str] | None = None,
) -> InstanceType:
    """Return a type with KWOK's prices, 20Gi of disk and 16 Pods a CPU, and ``more`` resources."""
    capacity = amounts_of(
        {
            "cpu": str(cpu),
            "memory": memory,
            "pods": str(min(cpu * _PODS_PER_CPU, _MOST_PODS)),
            "ephemeral-storage": "20Gi",
            **(more or {}),
        }
    )
    return InstanceType(name, capacity, _offerings(_price(capacity), zones), arch, os)


def _price(capacity: Amounts) -> float:
    cpu, memory = float(capacity["cpu"]), float(capacity["memory"])
    return _PER_CPU * cpu + _PER_GIGABYTE * memory / float(Decimal("1e9"))


def _offerings(price: float, zones: Iterable[str]) -> tuple[Offering, ...]:
    return tuple(
        Offering(zone, kind, price * factor)
        for zone in zones
        for kind, factor in ((words.SPOT, _SPOT_DISCOUNT), (words.ON_DEMAND, 1.0))
    )


def _family_of(name: str) -> str:
    head, *rest = re.split(r"[.-]", name, maxsplit=1)
    return head if rest else name[:1]


def _sold_out(one: InstanceType) -> InstanceType:
    gone = tuple(replace(offering, available=False) for offering in one.offerings)
    return replace(one, offerings=gone)
