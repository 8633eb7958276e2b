"""What every Kubernetes object has: metadata, conditions, owners, taints, requirements.

Owns these shapes and how their strings become values. Source: Kubernetes API conventions.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from hooks.protocol.errors import ShapeError
from hooks.rotation.durations import parse_stamp
from hooks.rotation.model import Requirement, Resources, Taint
from hooks.rotation.quantity import parse_quantity

Name = Annotated[str, Field(min_length=1)]
"""The name of an object; never empty."""

Quantities = dict[str, Any]
"""Resource name to quantity: a string, or a plain number where a CRD says int-or-string."""


class ConditionShape(TypedDict):
    """One entry of ``status.conditions``, as far as every pass needs it."""

    type: str
    status: str


class ConditionDetail(ConditionShape):
    """One entry of ``status.conditions`` with its grounds."""

    reason: NotRequired[str | None]
    message: NotRequired[str | None]


class OwnerShape(TypedDict):
    """One entry of ``metadata.ownerReferences``."""

    kind: str
    name: str
    controller: NotRequired[bool | None]


class TaintShape(TypedDict):
    """One taint."""

    key: str
    effect: str
    value: NotRequired[str | None]


class RequirementShape(TypedDict):
    """One node selector requirement; Karpenter's own extra fields are of no interest."""

    key: str
    operator: str
    values: NotRequired[list[str] | None]


READY: Final = "Ready"
HOLDS: Final = "True"


def holds(conditions: Iterable[ConditionShape] | None, kind: str) -> bool:
    """Whether the condition of that type is there and ``True``."""
    return any(entry["type"] == kind and entry["status"] == HOLDS for entry in conditions or ())


def instant(text: str, field: str) -> datetime:
    """A time that only the API server writes, so that an unreadable one is a wrong shape."""
    read = parse_stamp(text)
    if not isinstance(read, datetime):
        raise ShapeError(field, f"{text[:64]!r} is not a time such as 2026-01-31T09:30:00Z")
    return read


def amounts(quantities: Quantities | None, field: str) -> Resources:
    """Resource amounts; one that can't be read is a wrong shape, for no API server lets it in."""
    read = {}
    for name, text in (quantities or {}).items():
        try:
            read[name] = parse_quantity(text)
        except ValueError as error:
            raise ShapeError(f"{field}.{name}", str(error)[:512]) from None
    return read


def requirements(shapes: Iterable[RequirementShape] | None) -> tuple[Requirement, ...]:
    """Requirements in the order in which they stand."""
    return tuple(
        Requirement(shape["key"], shape["operator"], tuple(shape.get("values") or ()))
        for shape in shapes or ()
    )


def taints(shapes: Iterable[TaintShape] | None) -> tuple[Taint, ...]:
    """Taints in the order in which they stand."""
    return tuple(
        Taint(shape["key"], shape["effect"], shape.get("value") or "") for shape in shapes or ()
    )
