"""The record of an undisturbed journey: its passes, by which row each went, and all its writes.

The points at which a fault can strike come from here: from what the real decision says and from
the calls that really went out, never from a list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from typing_extensions import override

from hooks import names
from hooks.cluster.reader import LiveReader
from hooks.cluster.verbs import Api
from hooks.rotation.answer import Conclusion
from hooks.rotation.decision import Decision
from hooks.rotation.model import Observation
from hooks.rotation.phases import TABLE, decide
from hooks.rotation.reasons import Reason
from hooks.rotation.view import View
from hooks.rotation.writes import (
    Announce,
    DeleteCandidate,
    Freeze,
    PatchClaim,
    Reap,
    Unfreeze,
    Write,
)
from hooks.sync.nodepool import NodePoolSync
from tests.support.mishaps import EVENT, Journey, Run
from tests.support.stage import CLIENT

TELL: Final = "tell "
"""How the kind of an Event that follows all writes begins; its reason comes after that."""
BESIDE: Final = "beside"
"""The row of what is told of a pool whatever it does."""
OF_A_ROW: Final = frozenset(
    TELL + reason
    for reason in (
        names.ROTATION_STARTED,
        Reason.FORCEFUL_FALLBACK,
        Reason.SURGE_NOT_CREATED,
        Reason.SURGE_UNSCHEDULABLE,
        names.SURGE_CLAMPED,
        names.SURGE_CLAMP_REFUSED,
        names.SURGE_CLAMP_BAND_EXCEEDED,
        Reason.DRAIN_STUCK,
    )
)


@dataclass(frozen=True)
class Point:
    """One write of one pass of an undisturbed journey."""

    journey: str
    number: int
    """Of the pass."""
    row: str
    reason: str
    index: int
    """Of the write, those of the client and those of the answer in one sequence."""
    kind: str

    @override
    def __str__(self) -> str:
        """Say it for people."""
        where = f"{self.journey}: pass {self.number}, row {self.row} ({self.reason})"
        return f"{where}, write {self.index}: {self.kind}"


@dataclass
class Passed:
    """One pass of an undisturbed journey: from which world, by which row, with which writes."""

    before: Run
    entry: int | None
    """Index into the table; None for rows 1, 2 and none."""
    decision: Decision
    points: list[Point] = field(default_factory=list)


class Noted(NodePoolSync):
    """The hook; what it is about to decide is noted first."""

    decided: Decision | None = None
    entry: int | None = None

    def forget(self) -> None:
        """Be ready for the next pass."""
        self.decided = None

    @override
    def carry_out(self, obs: Observation, api: Api, request_id: str) -> Conclusion:
        reader = LiveReader(api, self.settings.namespace)
        self.decided = decide(obs, reader)
        view = View(obs, reader)
        matching = (at for at, row in enumerate(TABLE) if row.matches(view))
        self.entry = next(matching, None)
        return super().carry_out(obs, api, request_id)


def record(journey: Journey) -> tuple[Run, list[Passed]]:
    """Go a journey undisturbed: where it ends, and all its passes."""
    run = Run(journey)
    run.hook = run.process(Noted)
    passes: list[Passed] = []
    while not run.ended:
        before = run.fork()
        noted = run.hook
        assert isinstance(noted, Noted)
        noted.forget()
        run.round()
        if noted.decided is not None and run.striking is not None:
            passed = Passed(before, noted.entry, noted.decided)
            passed.points = _points(run, noted.decided, before)
            passes.append(passed)
    return run, passes


def _points(run: Run, decision: Decision, before: Run) -> list[Point]:
    anchor = before.cluster.notes().get(names.ACTIVE_ROTATION)
    seen = run.striking.seen if run.striking is not None else []
    planned = iter(decision.writes)
    counting = {write.name for write in decision.writes if isinstance(write, Announce)}
    found: list[Point] = []
    for index, (kind, name) in enumerate(seen):
        row, what = decision.row, kind
        if kind == EVENT and name not in counting:
            told = run.cluster.events.get(name)
            what = TELL + (str(told["reason"]) if told is not None else "nothing")
            row = decision.row if what in OF_A_ROW else BESIDE
        elif kind in CLIENT:
            write = next(w for w in planned if _may_be(w, kind, name))
            row, what = _row_of(write, decision, anchor), type(write).__name__
        reason = decision.reason.value
        found.append(Point(run.journey.name, run.passes, row, reason, index, what))
    return found


def _may_be(write: Write, kind: str, name: str) -> bool:
    match write:
        case PatchClaim(claim):
            return (kind, name) == (CLIENT[0], claim)
        case Freeze(node) | Unfreeze(node):
            return (kind, name) == (CLIENT[1], node)
        case DeleteCandidate():
            return (kind, name) == (CLIENT[2], write.claim)
        case Reap():
            return kind == CLIENT[2]
        case Announce():
            return (kind, name) == (CLIENT[3], write.name)


def _row_of(write: Write, decision: Decision, anchor: str | None) -> str:
    """Row 18 goes beside any row: its writes are of claims that the anchor doesn't name."""
    match write:
        case PatchClaim() if not write.guard.anchored:
            return "18"
        case Unfreeze(_, claim) if claim != anchor:
            return "18"
        case _:
            return decision.row
