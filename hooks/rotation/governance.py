"""Which RotationPolicy governs a NodePool: the most specific selector that matches; a tie is nobody.

Source: seed 000 section 5.4 *Targeting and conflict resolution*, design/rotation.md row 17.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hooks.rotation.model import BrokenPolicy, Policy, Requirement, Selector


class Kind(StrEnum):
    """How a pool stands to the policies."""

    GOVERNED = "governed"
    NONE = "none"
    """No selector matches: the pool isn't rotated."""
    CONFLICT = "conflict"
    """Several match with the same number of constraints: refused."""
    INVALID = "invalid"
    """The most specific one can't be read; it wins all the same, and no other takes over."""


@dataclass(frozen=True, slots=True)
class Governance:
    """The outcome; ``policy`` is there only when governed, ``names`` are the winners' by name."""

    kind: Kind
    policy: Policy | None = None
    names: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    """Of an invalid winner: (field path, message)."""


def govern(policies: tuple[Policy | BrokenPolicy, ...], labels: Mapping[str, str]) -> Governance:
    """Resolve the governing policy of a pool with these labels; the order of policies is of no matter."""
    best = -1
    winners: list[Policy | BrokenPolicy] = []
    for policy in policies:
        selector = policy.selector
        if selector is None or not matches(selector, labels):
            continue
        constraints = specificity(selector)
        if constraints > best:
            best, winners = constraints, []
        if constraints == best:
            winners.append(policy)
    if not winners:
        return Governance(Kind.NONE)
    names = tuple(sorted(policy.name for policy in winners))
    if len(winners) > 1:
        return Governance(Kind.CONFLICT, names=names)
    winner = winners[0]
    if isinstance(winner, BrokenPolicy):
        return Governance(Kind.INVALID, names=names, problems=winner.problems)
    return Governance(Kind.GOVERNED, winner, names)


def specificity(selector: Selector) -> int:
    """How many constraints a selector makes; the empty one, which matches all, makes none."""
    return len(selector.match_labels) + len(selector.match_expressions)


def matches(selector: Selector, labels: Mapping[str, str]) -> bool:
    """Whether a selector matches labels, as Kubernetes does it."""
    return all(labels.get(key) == value for key, value in selector.match_labels) and all(
        _holds(expression, labels) for expression in selector.match_expressions
    )


def _holds(expression: Requirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(expression.key)
    match expression.operator:
        case "In":
            return value in expression.values
        case "NotIn":
            return value not in expression.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            # Not a label selector's operator: what can't be understood selects nothing.
            return False
