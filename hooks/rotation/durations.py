"""Durations and instants: read from text, written as text, and added without overflow.

Owns the grammars: Go's ``time.ParseDuration`` for whatever lives in Kubernetes, the same plus days
for command line flags, and strict RFC 3339. Leaves to the callers what an unreadable value means.
Source: seed 002 section 3.2, design/rotation.md section 5.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hooks.rotation.model import Malformed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.rotation.model import Span, Stamp

ZERO: Final = timedelta(0)
_LONGEST_TEXT: Final = 64
_LARGEST: Final = 2**63 - 1
"""Go keeps a duration in a signed 64-bit count of nanoseconds, about 292 years."""

_SECOND: Final = 10**9
_GO_UNITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "ns": 1,
        "us": 10**3,
        "\u00b5s": 10**3,
        "\u03bcs": 10**3,
        "ms": 10**6,
        "s": _SECOND,
        "m": 60 * _SECOND,
        "h": 3600 * _SECOND,
    },
)
_FLAG_UNITS: Final[Mapping[str, int]] = MappingProxyType({**_GO_UNITS, "d": 86_400 * _SECOND})

_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)

_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")
_RFC3339: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"([Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
)


def parse_duration(text: str) -> timedelta:
    """Read a Go duration such as ``1h17m`` or ``1.5s``, cut to whole microseconds.

    Raises :class:`ValueError`, with a message for people, on anything that Go's
    ``time.ParseDuration`` refuses, on more than 64 characters, and beyond 292 years.
    """
    _check_length(text)
    return _parse_go(text)


def parse_flag_duration(text: str) -> timedelta:
    """Read a duration from the command line: Go's grammar and days, as in ``30d`` or ``1d12h``.

    Raises :class:`ValueError` like :func:`parse_duration`.
    """
    _check_length(text)
    return _parse(text, _FLAG_UNITS)


def parse_span(text: str | None) -> Span:
    """Read Karpenter's ``expireAfter`` or ``terminationGracePeriod``.

    Absent and ``Never`` are None; unreadable and negative ones are :class:`Malformed`.
    """
    if text is None or text == "Never":
        return None
    try:
        span = parse_duration(text)
    except ValueError:
        return Malformed(text)
    return span if span >= ZERO else Malformed(text)


def parse_stamp(text: str | None) -> Stamp:
    """Read an RFC 3339 time with its zone, as an aware UTC datetime of microseconds at best.

    Absent is None; everything else that isn't such a time, the empty string included, is
    :class:`Malformed`.
    """
    if text is None:
        return None
    if len(text) > _LONGEST_TEXT:
        return Malformed(text)
    return _parse_stamp(text)


def format_go(span: timedelta) -> str:
    """Write a duration exactly as Go's ``Duration.String`` does: ``1h17m0s``, ``25s``, ``0s``."""
    sign, micros = _split(span)
    if micros == 0:
        return "0s"
    if micros < 10**3:
        return f"{sign}{micros}\u00b5s"
    if micros < 10**6:
        return f"{sign}{_decimal(micros, 3)}ms"
    minutes, rest = divmod(micros, 60 * 10**6)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, 6)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def format_people(span: timedelta) -> str:
    """Write a duration for people, days included and zeros left out: ``5d22h43m``, ``-1h17m``.

    Fractions of a second are dropped, except from durations below one second.
    """
    sign, micros = _split(span)
    seconds = micros // 10**6
    if seconds == 0:
        return format_go(span)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s"))
    return sign + "".join(f"{count}{unit}" for count, unit in parts if count)


def format_stamp(at: datetime) -> str:
    """Write an aware time as RFC 3339 in UTC, whole seconds, with Z: ``2026-11-29T22:00:00Z``."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def shifted(at: datetime, by: timedelta) -> datetime:
    """Add to an aware UTC time, stopping at the ends of the calendar instead of overflowing."""
    try:
        return at + by
    except OverflowError:
        return _LAST if by > ZERO else _FIRST


def _check_length(text: str) -> None:
    # Before anything else is done with it: a hostile text may be megabytes long.
    if len(text) > _LONGEST_TEXT:
        message = f"a duration of {len(text)} characters is too long"
        raise ValueError(message)


@lru_cache(maxsize=1024)
def _parse_go(text: str) -> timedelta:
    return _parse(text, _GO_UNITS)


def _parse(text: str, units: Mapping[str, int]) -> timedelta:
    sign, body = (text[0], text[1:]) if text[:1] in {"-", "+"} else ("", text)
    if body == "0":
        return ZERO
    if not body:
        message = f"{text!r} is not a duration such as 15m or 1h30m"
        raise ValueError(message)
    nanos, at = 0, 0
    while at < len(body):
        amount, at = _part(text, body, at, units)
        nanos += amount
    if nanos > _LARGEST:
        message = f"duration {text!r} is out of range"
        raise ValueError(message)
    return timedelta(microseconds=nanos // 1000) * (-1 if sign == "-" else 1)


def _part(text: str, body: str, at: int, units: Mapping[str, int]) -> tuple[int, int]:
    """Read one number with its unit at ``at``: nanoseconds, and where the next one begins."""
    match = _PART.match(body, at)
    whole, fraction, unit = match.groups() if match else ("", "", "")
    if not whole and not fraction:
        message = f"{text!r} is not a duration such as 15m or 1h30m"
        raise ValueError(message)
    if unit not in units:
        problem = f"has the unknown unit {unit!r}" if unit else "lacks a unit"
        message = f"duration {text!r} {problem} (known: {', '.join(_names(units))})"
        raise ValueError(message)
    size = units[unit]
    parts = int(fraction) * size // 10 ** len(fraction) if fraction else 0
    return int(whole or "0") * size + parts, at + len(match.group()) if match else at


def _names(units: Mapping[str, int]) -> list[str]:
    return sorted((name for name in units if name.isascii()), key=units.__getitem__, reverse=True)


@lru_cache(maxsize=16_384)
def _parse_stamp(text: str) -> datetime | Malformed:
    match = _RFC3339.fullmatch(text)
    if match is None:
        return Malformed(text)
    date, clock, fraction, zone = match.groups()
    micros = f".{fraction[:6]:0<6}" if fraction else ""
    offset = "+00:00" if zone in {"Z", "z"} else zone
    try:
        return datetime.fromisoformat(f"{date}T{clock}{micros}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        return Malformed(text)


def _split(span: timedelta) -> tuple[str, int]:
    """Take a duration apart into its sign and its size in microseconds."""
    micros = span // timedelta(microseconds=1)
    return ("-", -micros) if micros < 0 else ("", micros)


def _decimal(amount: int, places: int) -> str:
    """Write ``amount / 10**places`` without needless zeros."""
    whole, rest = divmod(amount, 10**places)
    return f"{whole}.{rest:0{places}d}".rstrip("0") if rest else str(whole)
