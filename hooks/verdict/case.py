"""What is judged: the history of one pool, and what its operators did themselves.

Owns the one value that all checks look at, and its readings that several of them share. Leaves what
must hold to :mod:`.checks` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from typing_extensions import override

from hooks.verdict.history import Change, Moment, replay
from hooks.verdict.questions import POOL_LABEL, is_leaving, label
from hooks.verdict.rotations import Rotation, rotations
from hooks.verdict.times import WallClock, wall_clock

CORDON = "cordon"
DO_NOT_DISRUPT = "do-not-disrupt"


@dataclass(frozen=True, slots=True)
class OperatorMark:
    """A cordon or do-not-disrupt that an operator set on a Node, and perhaps took away again.

    A history can't tell who wrote what; ``since`` and ``until`` are the revisions of the operator's
    own two writes. All other marks count as the software's.
    """

    node: str
    what: str
    since: int
    until: int | None = None

    def stands_at(self, revision: int) -> bool:
        """Whether the operator had set it, and not yet taken it away."""
        return self.since <= revision and (self.until is None or revision < self.until)

    @override
    def __str__(self) -> str:
        return f"{self.what} on Node {self.node}"


@dataclass(frozen=True)
class Case:
    """The changes, in any order, the pool that they are judged for, and its operators' marks."""

    changes: Sequence[Change]
    pool: str
    operator: tuple[OperatorMark, ...] = field(default=())

    @cached_property
    def rotations(self) -> list[Rotation]:
        """All rotations of the pool, in their order."""
        return rotations(self.changes, self.pool)

    @cached_property
    def clock(self) -> WallClock | None:
        """What time it was; None for a history in which nothing was created."""
        return wall_clock(self.changes)

    def moments(self) -> Iterator[Moment]:
        """The history, change by change."""
        return replay(self.changes)

    def deletes(self) -> Iterator[Moment]:
        """The moments in which somebody asked for the deletion of one of the pool's claims."""
        return (moment for moment in self.moments() if self.is_delete(moment))

    def is_delete(self, moment: Moment) -> bool:
        """Whether this is such a moment; a claim that is simply gone was deleted just then."""
        change = moment.change
        if change.kind != "NodeClaim" or label(change.object, POOL_LABEL) != self.pool:
            return False
        leaves = is_leaving(change.object) or change.type == "DELETED"
        return leaves and not is_leaving(moment.before)

    def set_by_operators(self, revision: int) -> frozenset[str]:
        """The marks of operators that stand at a revision, as text."""
        return frozenset(str(mark) for mark in self.operator if mark.stands_at(revision))


Check: TypeAlias = Callable[[Case], list[str]]
"""Tells, one sentence each, what is wrong; the name of the function is the name of the breach."""
