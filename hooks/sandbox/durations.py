"""Go durations, as Metacontroller reads them in a hook's ``timeout`` and writes them back.

Owns parsing and the canonical text; a decoded controller goes to the hooks with the canonical text
(``60s`` arrives as ``1m0s``), because Metacontroller sends its typed copy.
"""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3600 * 1_000_000_000,
}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_WHOLE: Final = re.compile(rf"[+-]?(?:{_PART.pattern})+", re.ASCII)
_SECOND: Final = _UNITS["s"]
_MINUTE: Final = _UNITS["m"]


def nanoseconds(text: str) -> int:
    """Return the nanoseconds of a Go duration such as ``1m30s``; raise ValueError for other text."""
    if text in {"0", "+0", "-0"}:
        return 0
    if not _WHOLE.fullmatch(text):
        message = f"time: invalid duration {text!r}"
        raise ValueError(message)
    total = 0
    for amount, unit in _PART.findall(text):
        whole, _, fraction = amount.partition(".")
        total += int(whole or "0") * _UNITS[unit]
        total += int(fraction or "0") * _UNITS[unit] // 10 ** len(fraction)
    return -total if text.startswith("-") else total


def canonical(duration: int) -> str:
    """Return Go's text of a duration in nanoseconds: ``10s``, ``1m0s``, ``1.5s``, ``250ms``."""
    sign, rest = ("-", -duration) if duration < 0 else ("", duration)
    if rest == 0:
        return "0s"
    for unit in ("ns", "µs", "ms"):
        if rest < _UNITS[unit] * 1000:
            return f"{sign}{_decimal(rest, _UNITS[unit])}{unit}"
    minutes, seconds = divmod(rest, _MINUTE)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(seconds, _SECOND)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _decimal(amount: int, unit: int) -> str:
    whole, fraction = divmod(amount, unit)
    if not fraction:
        return str(whole)
    digits = len(str(unit)) - 1
    return f"{whole}.{fraction:0{digits}d}".rstrip("0")
