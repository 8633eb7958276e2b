"""Amounts of resources, exact, as Kubernetes writes them.

Owns the grammar of ``resource.Quantity``. Leaves to the callers what an amount means. Source:
Kubernetes' API machinery (``pkg/api/resource``), design/cases.md *Sizing*.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Final

from hooks.rotation.model import Quantity

_LONGEST_TEXT: Final = 256
_LARGEST_EXPONENT: Final = 300
"""Far beyond any machine, and small enough that no hostile text makes a huge integer."""

_LARGEST_BINARY: Final = Fraction(2**63 - 1)
"""Kubernetes caps amounts with a binary suffix here, and no others."""

_NANO: Final = 10**9

_GRAMMAR: Final = re.compile(
    r"(?P<sign>[+-]?)"
    r"(?:(?P<whole>[0-9]+)(?:\.(?P<part>[0-9]*))?|\.(?P<only_part>[0-9]+))"
    r"(?:(?P<binary>[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]+)|(?P<decimal>[numkMGTPE]))?"
)

_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def parse_quantity(text: object) -> Quantity:
    """Read an amount from a string, or from a JSON number, which counts like its text.

    Anything finer than nano is rounded up, away from zero, and a binary amount is capped at
    2^63 - 1, as Kubernetes does. Raises ValueError for everything else, quickly whatever the input:
    at most 256 characters, and an exponent of at most 300 in magnitude.
    """
    match text:
        case str() if len(text) <= _LONGEST_TEXT:
            return _parse(text)
        case bool():
            raise ValueError("a quantity is a string or a number, not a boolean")
        case int() if text.bit_length() <= _LARGEST_EXPONENT:
            return Fraction(text)
        case float():
            return _parse(repr(text))
        case str() | int():
            raise ValueError("the quantity is too long")
        case _:
            raise ValueError(f"a quantity is a string or a number, not {type(text).__name__}")


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity such as 500m, 2, 1.5Gi or 1e3")
    part = match["part"] or match["only_part"] or ""
    digits = (match["whole"] or "") + part
    amount = Fraction(int(digits), 10 ** len(part)) * _scale(match)
    if match["binary"]:
        amount = min(amount, _LARGEST_BINARY)
    nanos = ceil(amount * _NANO)
    return Fraction(-nanos if match["sign"] == "-" else nanos, _NANO)


def _scale(match: re.Match[str]) -> Fraction:
    """Return what the suffix multiplies by."""
    if match["binary"]:
        return Fraction(1 << _BINARY[match["binary"]])
    if match["decimal"]:
        return Fraction(10) ** _DECIMAL[match["decimal"]]
    exponent = int(match["exponent"] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        raise ValueError(f"the exponent of {match.string!r} is out of bounds")
    return Fraction(10) ** exponent


def format_quantity(amount: Quantity) -> str:
    """Write an amount in the one form that we emit.

    Whole amounts are plain; others are a whole number of the largest of m, u and n that fits.
    Anything finer than nano is rounded up, away from zero.
    """
    if amount.denominator == 1:
        return str(amount.numerator)
    nanos = ceil(abs(amount) * _NANO)
    sign = "-" if amount < 0 else ""
    for suffix, unit in (("", 10**9), ("m", 10**6), ("u", 10**3)):
        if nanos % unit == 0:
            return f"{sign}{nanos // unit}{suffix}"
    return f"{sign}{nanos}n"
