"""How bytes and plain objects are checked against a shape, and how a failure names its field.

Owns the two entrances to pydantic and the translation of its errors to :class:`ShapeError`. Leaves
the shapes to the other modules here, and what the values mean to :mod:`hooks.rotation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from hooks.protocol.errors import ShapeError

T = TypeVar("T")

_LONGEST_FIELD: Final = 512
"""A path holds keys that the caller chose; an error answer must stay small all the same."""


def from_bytes(adapter: TypeAdapter[T], body: bytes) -> T:
    """Check a JSON body against a shape, without building the parts that the shape leaves out.

    Of a key that stands there twice the last one counts, as in Go's and Python's own parsers.
    Raises ShapeError for everything that isn't JSON of that shape: lone surrogates and more than
    200 levels of nesting included, wherever they stand. The parser takes NaN and Infinity for
    numbers; no shape here has a place for them, and looking for them elsewhere costs 7 % of the
    time of a pass.
    """
    try:
        return adapter.validate_json(body)
    except ValidationError as error:
        raise _shape_error(error) from None


def from_object(adapter: TypeAdapter[T], value: object) -> T:
    """Check an already parsed object against a shape; raises ShapeError when it doesn't fit."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise _shape_error(error) from None


def path(location: Sequence[str | int]) -> str:
    """Write a place in a document as operators write it: ``spec.maintenanceWindows[1].start``."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")[:_LONGEST_FIELD]


def _shape_error(error: ValidationError) -> ShapeError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return ShapeError(path(first["loc"]) or "body", _worded(first["type"], first["msg"]))


def _worded(kind: str, message: str) -> str:
    if kind == "missing":
        return "is missing"
    return message.replace("Input should be", "should be", 1)
