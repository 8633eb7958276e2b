"""The texts of a RotationPolicy: how each kind is spelt, and what people are told when it isn't.

Owns the patterns, which the CRD repeats, and the bounds that no pattern can say. Source: seed 000
section 5.4, design/rotation.md section 5, design/cases.md *Windows and time*.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from hooks.rotation.durations import ZERO, parse_duration, parse_stamp
from hooks.rotation.zones import is_known_zone

AUTO: Final = "auto"
_GO: Final = "[+-]?(0|((([0-9]+([.][0-9]*)?)|([.][0-9]+))(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)"
DURATION: Final = f"^{_GO}$"
AGE_THRESHOLD: Final = f"^({AUTO}|{_GO})$"
START: Final = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
END: Final = "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"
ZONE: Final = "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$"
INSTANT: Final = (
    "^[12][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?"
    "(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
LABEL_KEY: Final = (
    "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
LABEL_VALUE: Final = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"

_SHORTEST: Final = timedelta(microseconds=1)
"""Finer than that a timedelta can't be."""


_KEY_GRAMMAR: Final = re.compile(LABEL_KEY)
_LONGEST_KEY: Final = 317
"""A prefix of 253 characters, a slash, and a name of 63."""


def is_label_key(text: str) -> bool:
    """Whether a label can have this key."""
    return len(text) <= _LONGEST_KEY and _KEY_GRAMMAR.fullmatch(text) is not None


def _refusal(says: str) -> PydanticCustomError:
    return PydanticCustomError("text", "{says}", {"says": says})


def _spelt(pattern: str, longest: int, says: str) -> AfterValidator:
    """A check of the spelling that says for people what the pattern says for machines."""
    grammar = re.compile(pattern)

    def check(text: str) -> str:
        if len(text) > longest or grammar.fullmatch(text) is None:
            raise _refusal(says)
        return text

    return AfterValidator(check)


def _duration(least: timedelta, says: str) -> Callable[[str], str]:
    """A check of a duration's size. Its range is Go's, as in the API server's own rule."""

    def check(text: str) -> str:
        try:
            long_enough = text == AUTO or parse_duration(text) >= least
        except ValueError as error:
            raise _refusal(str(error)) from None
        if not long_enough:
            raise _refusal(says)
        return text

    return check


def _known_zone(text: str) -> str:
    if not is_known_zone(text):
        raise _refusal(f"{text!r} is no time zone of the IANA database, such as Europe/Berlin")
    return text


def _real_instant(text: str) -> str:
    if not isinstance(parse_stamp(text), datetime):
        raise _refusal(f"{text!r} is no time that exists")
    return text


def _schema(pattern: str, longest: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "maxLength": longest, "pattern": pattern})


_GO_TEXT: Final = "must be a Go duration such as 15m or 1h30m"
_POSITIVE: Final = "must be greater than zero, for example 15m"

PositiveDuration = Annotated[
    str,
    _spelt(DURATION, 64, _GO_TEXT),
    AfterValidator(_duration(_SHORTEST, _POSITIVE)),
    _schema(DURATION, 64),
]
"""A Go duration above zero."""

ZeroOrMore = Annotated[
    str,
    _spelt(DURATION, 64, _GO_TEXT),
    AfterValidator(_duration(ZERO, "must not be negative")),
    _schema(DURATION, 64),
]
"""A Go duration that may be zero."""

AgeThreshold = Annotated[
    str,
    _spelt(AGE_THRESHOLD, 64, 'must be "auto" or a Go duration such as 240h'),
    AfterValidator(_duration(_SHORTEST, "must be greater than zero, or auto")),
    _schema(AGE_THRESHOLD, 64),
]
"""``auto``, or a Go duration above zero."""

WindowStart = Annotated[
    str,
    _spelt(START, 16, 'must be HH:MM from "00:00" to "23:59", in quotes'),
    _schema(START, 16),
]
"""When a window opens, on a wall clock."""

WindowEnd = Annotated[
    str,
    _spelt(END, 16, 'must be HH:MM from "00:00" to "24:00", in quotes'),
    _schema(END, 16),
]
"""When a window closes; both 00:00 and 24:00 are the midnight that follows."""

Zone = Annotated[
    str,
    _spelt(ZONE, 64, "must be a time zone of the IANA database, such as Europe/Berlin"),
    AfterValidator(_known_zone),
    _schema(ZONE, 64),
]
"""A time zone by its name in the IANA database."""

Instant = Annotated[
    str,
    _spelt(INSTANT, 35, "must be an RFC 3339 time such as 2026-12-24T00:00:00Z"),
    AfterValidator(_real_instant),
    WithJsonSchema({"type": "string", "format": "date-time", "maxLength": 35, "pattern": INSTANT}),
]
"""A time with its zone."""

LabelKey = Annotated[
    str,
    _spelt(LABEL_KEY, _LONGEST_KEY, "must be a label key such as topology.kubernetes.io/zone"),
    _schema(LABEL_KEY, _LONGEST_KEY),
]
"""A label's key."""

LabelValue = Annotated[
    str,
    _spelt(LABEL_VALUE, 63, "must be a label value: at most 63 letters, digits, -, _ or ."),
    _schema(LABEL_VALUE, 63),
]
"""A label's value; may be empty."""
