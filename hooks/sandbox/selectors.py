"""Label selectors, as metav1.LabelSelector defines them.

Owns matching. A selector that is absent selects everything, as Metacontroller has it for parents
and related rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.sandbox.objects import Obj

_WITH_VALUES: Final = frozenset({"In", "NotIn"})
_WITHOUT_VALUES: Final = frozenset({"Exists", "DoesNotExist"})


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one key."""

    key: str
    operator: str
    values: frozenset[str]

    def holds_for(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels meet it; a key that is missing meets NotIn."""
        match self.operator:
            case "In":
                return self.key in labels and labels[self.key] in self.values
            case "NotIn":
                return self.key not in labels or labels[self.key] not in self.values
            case "Exists":
                return self.key in labels
            case _:
                return self.key not in labels


@dataclass(frozen=True, slots=True)
class Selector:
    """All of these conditions together; none of them means everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels (or annotations) meet every condition."""
        return all(requirement.holds_for(labels) for requirement in self.requirements)


EVERYTHING: Final = Selector()


def selector_from(spec: Obj | None, equalities: str = "matchLabels") -> Selector:
    """Return the selector of a LabelSelector, or of an AnnotationSelector.

    ``equalities`` names the field with the plain pairs. Raises ValueError for an operator that
    doesn't exist or values that don't fit it.
    """
    if spec is None:
        return EVERYTHING
    pairs: dict[str, str] = spec.get(equalities) or {}
    expressions: list[Obj] = spec.get("matchExpressions") or []
    equal = [Requirement(key, "In", frozenset({value})) for key, value in sorted(pairs.items())]
    return Selector((*equal, *(_requirement(expression) for expression in expressions)))


def _requirement(expression: Obj) -> Requirement:
    key: str = expression.get("key") or ""
    operator: str = expression.get("operator") or ""
    values: list[str] = expression.get("values") or []
    if operator in _WITH_VALUES and not values:
        message = f"values: Invalid value: [] for 'in', 'notin' operators, values set can't be empty ({key})"
        raise ValueError(message)
    if operator in _WITHOUT_VALUES and values:
        message = f"values: Invalid value: {values} for exists operators, values set must be empty ({key})"
        raise ValueError(message)
    if not key or operator not in _WITH_VALUES | _WITHOUT_VALUES:
        message = f"{operator!r} is not a valid label selector operator (key {key!r})"
        raise ValueError(message)
    return Requirement(key, operator, frozenset(values))
