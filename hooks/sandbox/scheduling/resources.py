"""Amounts of resources, exact, and what a Pod needs of them.

Owns the grammar of ``resource.Quantity`` and the sum over a Pod's containers. Leaves to
:mod:`hooks.sandbox.scheduling.placement` whether it fits. Seen in Kubernetes v1.36.3:
apimachinery ``pkg/api/resource/quantity.go``, component-helpers ``resource/helpers.go``
(PodRequests, AggregateContainerRequests), ``pkg/apis/core/v1/defaults.go`` (SetDefaults_Pod).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_UP, Context, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

Amounts: TypeAlias = Mapping[str, Decimal]
"""Resource names with their amounts; one that isn't there is zero."""

NOTHING: Final[Amounts] = {}
ZERO: Final = Decimal(0)
ONE_POD: Final = Decimal(1)

_EXACT: Final = Context(prec=120)
_NANO: Final = Decimal("1e-9")
_GRAMMAR: Final = re.compile(
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))"
    r"(?:([KMGTPE]i)|[eE]([+-]?[0-9]{1,2})|([numkMGTPE]))?"
)
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_POD_LEVEL: Final = frozenset({"cpu", "memory"})
_HUGE_PAGES: Final = "hugepages-"


def parse_quantity(text: object) -> Decimal:
    """Return an amount from its text (``500m``, ``1.5Gi``, ``1e3``) or from a JSON number.

    Finer than nano is rounded up, away from zero, as Kubernetes does. Raises ValueError for all
    else.
    """
    return _parse(str(text))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Decimal:
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise ValueError(f"quantities must match the regular expression, not {text!r}")
    number, binary, exponent, decimal = match.groups()
    if binary:
        scale = Decimal(1 << _BINARY[binary])
    else:
        scale = Decimal(10) ** (_DECIMAL[decimal] if decimal else int(exponent or 0))
    amount = _EXACT.multiply(Decimal(number), scale)
    if amount == amount.to_integral_value(context=_EXACT):
        return amount.to_integral_value(context=_EXACT)
    return amount.quantize(_NANO, rounding=ROUND_UP, context=_EXACT)


_DECIMAL_SUFFIXES: Final = (
    *(("E", -18), ("P", -15), ("T", -12), ("G", -9), ("M", -6), ("k", -3)),
    *(("", 0), ("m", 3), ("u", 6)),
)


def format_quantity(amount: Decimal) -> str:
    """Return the text of an amount with the greatest suffix that leaves it whole: 5200m, 4, 2k.

    Seen in apimachinery v0.36.3 ``pkg/api/resource/quantity.go`` (CanonicalizeBytes, DecimalSI), and
    on the real control plane: two machines of ``1k`` CPUs are ``2k``.
    """
    if amount == 0:
        return "0"
    for suffix, scale in _DECIMAL_SUFFIXES:
        scaled = amount.scaleb(scale, context=_EXACT)
        if scaled == scaled.to_integral_value(context=_EXACT):
            return f"{int(scaled)}{suffix}"
    return f"{int(amount.scaleb(9, context=_EXACT))}n"


def amounts_of(resource_list: Obj | None) -> dict[str, Decimal]:
    """Return the amounts of a ResourceList such as ``status.allocatable``."""
    return {name: parse_quantity(text) for name, text in (resource_list or {}).items()}


def requests_of(pod: Obj) -> Amounts:
    """Return what a Pod takes of a Node, with ``pods: 1``.

    That is the sum of its containers and restartable init containers, or the peak while it
    initializes where that is more; what the Pod as a whole asks for in their place; its overhead.
    """
    spec: Obj = pod.get("spec") or {}
    total: dict[str, Decimal] = {}
    for container in spec.get("containers") or []:
        _grow(total, _container_requests(container))
    sidecars: dict[str, Decimal] = {}
    peak: dict[str, Decimal] = {}
    for container in spec.get("initContainers") or []:
        needed = _container_requests(container)
        if container.get("restartPolicy") == "Always":
            _grow(total, needed)
            _grow(sidecars, needed)
            _raise_to(peak, sidecars)
        else:
            # Only those declared before it run beside it.
            _raise_to(peak, add(needed, sidecars))
    _raise_to(total, peak)
    total.update(_pod_level_requests(spec, total))
    _grow(total, amounts_of(spec.get("overhead")))
    total["pods"] = ONE_POD
    return total


def add(left: Amounts, right: Amounts) -> dict[str, Decimal]:
    """Return the sum of two."""
    total = dict(left)
    _grow(total, right)
    return total


def subtract(left: Amounts, right: Amounts) -> dict[str, Decimal]:
    """Return what is left; an amount may become negative."""
    rest = dict(left)
    for name, amount in right.items():
        rest[name] = rest.get(name, ZERO) - amount
    return rest


def total_of(many: Iterable[Amounts]) -> dict[str, Decimal]:
    """Return the sum of any number."""
    total: dict[str, Decimal] = {}
    for one in many:
        _grow(total, one)
    return total


def fits(needed: Amounts, free: Amounts) -> bool:
    """Tell whether all that is needed is free."""
    return not lacking(needed, free)


def lacking(needed: Amounts, free: Amounts) -> list[str]:
    """Return the names of what isn't free, by name; what isn't asked for is never lacking."""
    return sorted(
        name for name, amount in needed.items() if amount > 0 and amount > free.get(name, ZERO)
    )


def _container_requests(container: Obj) -> dict[str, Decimal]:
    """Return a container's requests; a limit alone is a request too, as the API defaults it."""
    resources: Obj = container.get("resources") or {}
    return amounts_of({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _pod_level_requests(spec: Obj, containers: Amounts) -> dict[str, Decimal]:
    """Return the requests of the Pod as a whole, which replace those of its containers.

    A limit alone is a request too, unless the containers ask for that resource; huge pages can't
    be overcommitted, so there the limit counts in any case.
    """
    resources: Obj = spec.get("resources") or {}
    limits = {
        name: text
        for name, text in (resources.get("limits") or {}).items()
        if name not in containers or name.startswith(_HUGE_PAGES)
    }
    whole = amounts_of({**limits, **(resources.get("requests") or {})})
    return {
        name: amount
        for name, amount in whole.items()
        if name in _POD_LEVEL or name.startswith(_HUGE_PAGES)
    }


def _grow(total: dict[str, Decimal], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, ZERO) + amount


def _raise_to(total: dict[str, Decimal], least: Amounts) -> None:
    for name, amount in least.items():
        if amount > total.get(name, ZERO):
            total[name] = amount
