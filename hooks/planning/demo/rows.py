"""The old nodes of the demo's pool, and how far each of them is on its way.

Owns the words for that. Leaves reading it off the changes to :mod:`.board`. People are told the name
of the NodeClaim: Karpenter's provider gives Nodes names that fill a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where a node of before the first rotation is on its way."""

    WAITING = "waiting"
    KEPT = "kept by operator"
    NEXT = "its turn"
    CORDONED = "cordoned"
    COMING = "successor coming"
    READY = "successor ready"
    DRAINING = "draining"
    REPLACED = "replaced"
    LOST = "lost"


UNDER_WAY: Final = frozenset(
    {State.NEXT, State.CORDONED, State.COMING, State.READY, State.DRAINING}
)


@dataclass(slots=True)
class Row:
    """One node of before the first rotation; ``not_ready`` while its Node says so.

    ``succeeded`` once it was deleted in its rotation, with its successor up;
    ``blocked_by`` is the budget that lets none of its Pods go while it drains.
    """

    claim: str
    created: datetime
    deadline: datetime | None
    node: str = ""
    zone: str = ""
    state: State = State.WAITING
    successor: str = ""
    not_ready: bool = False
    blocked_by: str = ""
    succeeded: bool = False
    begun: datetime | None = None
    took: timedelta | None = None
