"""Names, UIDs and times that the server gives.

Owns that the same run gives the same ones: everything follows from the revision.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid5

from hooks.sandbox.objects import Obj

_UIDS: Final = UUID("6e6f6465-726f-7461-7469-6f6e2e696f2f")
# The letters of apimachinery's rand.String: no vowels, so that no words come out.
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX: Final = 5
_LONGEST_BASE: Final = 63 - _SUFFIX


def uid_at(revision: int) -> str:
    """Return the UID of the object that this revision created."""
    return str(uuid5(_UIDS, str(revision)))


def generated(prefix: str, number: int) -> str:
    """Return a name for ``metadata.generateName``."""
    rest = uuid5(_UIDS, f"name {number}").int
    letters = []
    for _ in range(_SUFFIX):
        rest, digit = divmod(rest, len(_LETTERS))
        letters.append(_LETTERS[digit])
    return prefix[:_LONGEST_BASE] + "".join(letters)


def stamp(moment: datetime) -> str:
    """Return a time as metav1.Time writes it: whole seconds, UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def copied(obj: Obj) -> Obj:
    """Copy a JSON object; several times quicker than copy.deepcopy."""
    return {key: _copied(value) for key, value in obj.items()}


def _copied(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
