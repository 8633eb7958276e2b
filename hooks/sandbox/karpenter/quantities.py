"""Amounts as Karpenter writes them into objects.

Owns the text: memory in Ki, Mi, Gi; all else in plain numbers or thousandths. Leaves reading and
adding to :mod:`hooks.sandbox.scheduling.resources`. Seen in the recorded rotation: ``3900m`` CPU,
``8182Mi`` memory, a NodePool's ``12Gi``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from hooks.sandbox.scheduling.resources import Amounts, format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

_BINARY: Final = ("memory", "ephemeral-storage", "hugepages-")
_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_STEP: Final = 1024


def quantity_text(name: str, amount: Decimal) -> str:
    """Return the text of an amount of this resource."""
    if not name.startswith(_BINARY) or amount != int(amount):
        return format_quantity(amount)
    whole, power = int(amount), 0
    while whole and whole % _STEP == 0 and power < len(_SUFFIXES) - 1:
        whole //= _STEP
        power += 1
    return f"{whole}{_SUFFIXES[power]}"


def resource_list(amounts: Amounts) -> dict[str, str]:
    """Return amounts as a ResourceList, by name."""
    return {name: quantity_text(name, amounts[name]) for name in sorted(amounts)}


def greatest(many: Iterable[Amounts]) -> dict[str, Decimal]:
    """Return the greatest amount of each resource."""
    most: dict[str, Decimal] = {}
    for one in many:
        for name, amount in one.items():
            most[name] = max(amount, most.get(name, amount))
    return most


def least_common(many: Iterable[Amounts]) -> dict[str, Decimal]:
    """Return the smallest amount of each resource that all of them name."""
    rows = list(many)
    if not rows:
        return {}
    shared = set.intersection(*(set(row) for row in rows))
    return {name: min(row[name] for row in rows) for name in sorted(shared)}


def without_debts(amounts: Amounts) -> dict[str, Decimal]:
    """Return amounts with nothing below zero."""
    return {name: max(amount, Decimal(0)) for name, amount in amounts.items()}
