"""Times and durations as they stand in objects.

Owns reading them, and the spread of waiting times. Leaves writing times to the store.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from hooks.sandbox.durations import canonical, nanoseconds
from hooks.sandbox.objects import metadata_of

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

NEVER: Final = "Never"


def moment_of(text: str) -> datetime:
    """Return the moment of an RFC 3339 text; raise ValueError for other text."""
    return datetime.fromisoformat(text)


def created_at(obj: Obj) -> datetime:
    """Return when an object was created."""
    return moment_of(metadata_of(obj)["creationTimestamp"])


def deleted_at(obj: Obj) -> datetime | None:
    """Return the deletionTimestamp, None for an object that stays."""
    text: str | None = metadata_of(obj).get("deletionTimestamp")
    return None if text is None else moment_of(text)


def span_of(text: str | None) -> timedelta | None:
    """Return a Go duration; None when there is none, or when it says Never."""
    if text is None or text == NEVER:
        return None
    return timedelta(microseconds=nanoseconds(text) // 1000)


def canonical_span(text: str) -> str:
    """Return how Go writes a duration again: ``2m`` becomes ``2m0s``."""
    return canonical(nanoseconds(text))
