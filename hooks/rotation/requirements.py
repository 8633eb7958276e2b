"""Which scheduling requirements of a node its successor has to meet.

Owns the intersection of where a node is with what its pool still allows. Leaves the shape of
affinities to :mod:`hooks.rotation.placeholder`. Source: seed 002 section 3.7 *Requirement
resolution*; the operators' meaning is Karpenter's (``pkg/scheduling``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hooks import names
from hooks.rotation.model import Claim, Requirement

_LARGEST: Final = 2**63 - 1
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,63}")
_SAYS_NO_VALUE: Final = frozenset({"Exists", "DoesNotExist"})
_KARPENTER_DOMAIN: Final = "karpenter.sh"
_REPLICABLE_OF_KARPENTER: Final = frozenset({names.NODEPOOL_LABEL, names.CAPACITY_TYPE_LABEL})


@dataclass(frozen=True, slots=True)
class _Allowed:
    """A set of label values: the listed ones, or any; less the barred ones; within bounds.

    A bound also asks that the value is an integer.
    """

    listed: tuple[str, ...] | None = None
    barred: frozenset[str] = frozenset()
    low: int | None = None
    high: int | None = None

    def narrowed(self, requirement: Requirement) -> _Allowed:
        """Return what also meets a requirement; one that can't be read admits nothing."""
        match requirement.operator:
            case "Exists":
                return self
            case "In":
                values = self.listed if self.listed is not None else requirement.values
                kept = (value for value in values if value in requirement.values)
                return replace(self, listed=tuple(dict.fromkeys(kept)))
            case "NotIn":
                return replace(self, barred=self.barred | set(requirement.values))
            case "Gt" | "Gte" | "Lt" | "Lte":
                return self._bounded(requirement)
            case _:
                return replace(self, listed=())

    def _bounded(self, requirement: Requirement) -> _Allowed:
        bound = _integer(requirement.values[0]) if len(requirement.values) == 1 else None
        if bound is None:
            return replace(self, listed=())
        bound += {"Gt": 1, "Lt": -1}.get(requirement.operator, 0)
        if requirement.operator.startswith("G"):
            return replace(self, low=bound if self.low is None else max(self.low, bound))
        return replace(self, high=bound if self.high is None else min(self.high, bound))

    def admits(self, value: str) -> bool:
        """Whether one value is within bounds and not barred."""
        if value in self.barred:
            return False
        if self.low is None and self.high is None:
            return True
        number = _integer(value)
        return (
            number is not None
            and (self.low is None or number >= self.low)
            and (self.high is None or number <= self.high)
        )

    def as_requirements(self, key: str) -> tuple[Requirement, ...]:
        """Write the set in the operators that Pods may use; empty when it holds nothing."""
        if self.listed is not None:
            values = tuple(value for value in self.listed if self.admits(value))
            return (Requirement(key, "In", values),) if values else ()
        # No label value is a negative integer, so zero is as good as no lower bound.
        low = max(self.low or 0, 0)
        high = _LARGEST if self.high is None else self.high
        if low > high:
            return ()
        bounds = [Requirement(key, "Gt", (str(low - 1),))] if low > 0 else []
        if high < _LARGEST or not bounds:
            bounds.append(Requirement(key, "Lt", (str(min(high + 1, _LARGEST)),)))
        barred = tuple(sorted(self.barred))
        return (*bounds, *((Requirement(key, "NotIn", barred),) if barred else ()))


def _integer(text: str) -> int | None:
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and abs(number) <= _LARGEST else None


def resolve(
    keys: Iterable[str],
    claim: Claim,
    node_labels: Mapping[str, str],
    pool_requirements: Iterable[Requirement],
) -> tuple[Requirement, ...]:
    """Return what a successor must meet for ``keys``, in their order.

    The Node's label is where the node really is, and wins; for a key without a label the claim's
    own In values and numeric bounds count; a key that neither knows is skipped. All of it is
    narrowed to what the pool allows now. A key of which the pool allows nothing any more is left
    out, since no successor could ever meet it: :func:`given_up` names it. Numeric bounds are
    written as Gt and Lt, which is all that Pods know, and never loosened.
    """
    pool = tuple(pool_requirements)
    found = (_resolved(key, claim, node_labels, pool) for key in dict.fromkeys(keys))
    return tuple(requirement for each in found for requirement in each or ())


def given_up(
    keys: Iterable[str],
    claim: Claim,
    node_labels: Mapping[str, str],
    pool_requirements: Iterable[Requirement],
) -> tuple[str, ...]:
    """Name those of ``keys`` that the node has, but no successor from this pool can meet.

    Either the pool's template changed, or the key is one that Karpenter lets no Pod ask for.
    """
    pool = tuple(pool_requirements)
    return tuple(
        key for key in dict.fromkeys(keys) if _resolved(key, claim, node_labels, pool) == ()
    )


def _resolved(
    key: str, claim: Claim, node_labels: Mapping[str, str], pool: tuple[Requirement, ...]
) -> tuple[Requirement, ...] | None:
    """Return a key's requirements: empty when the pool leaves nothing, None when none is known."""
    allowed = _of_the_node(key, claim, node_labels)
    if allowed is None:
        return None
    if not _is_replicable(key):
        return ()
    for requirement in pool:
        if requirement.key == key:
            allowed = allowed.narrowed(requirement)
    return allowed.as_requirements(key)


def _of_the_node(key: str, claim: Claim, node_labels: Mapping[str, str]) -> _Allowed | None:
    if key in node_labels:
        return _Allowed(listed=(node_labels[key],))
    allowed = _Allowed()
    for requirement in claim.requirements:
        if requirement.key == key and requirement.operator not in _SAYS_NO_VALUE:
            allowed = allowed.narrowed(requirement)
    # What a node must not be doesn't say what it is.
    is_known = (allowed.listed, allowed.low, allowed.high) != (None, None, None)
    return allowed if is_known else None


def _is_replicable(key: str) -> bool:
    """Whether Karpenter provisions for a Pod that requires this key.

    It refuses the host name, which no new node shares, and most labels of its own domain.
    """
    domain = key.rpartition("/")[0]
    own = domain == _KARPENTER_DOMAIN or domain.endswith("." + _KARPENTER_DOMAIN)
    return key != names.HOSTNAME_LABEL and (not own or key in _REPLICABLE_OF_KARPENTER)
