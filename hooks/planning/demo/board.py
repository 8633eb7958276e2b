"""What the demo shows: each old node with its state, the clock and the window, the last happenings.

Owns reading these off the changes, one after the other. Leaves sentences to :mod:`.sentences` and
all looks to :mod:`.view`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hooks import names
from hooks.planning.demo.rows import UNDER_WAY, Row, State
from hooks.planning.demo.sentences import Told, sentences
from hooks.planning.demo.world import Window
from hooks.verdict.budgets import available, covers, wanted_by
from hooks.verdict.deadlines import deadline_of
from hooks.verdict.history import Change, Moment, Replay
from hooks.verdict.questions import (
    World,
    annotation,
    claim_of,
    host_of,
    is_cordoned_for,
    is_leaving,
    is_ready,
    label,
    missing_successor,
    node_of,
)
from hooks.verdict.singletons import SERVICE_NAME, ready_endpoints
from hooks.verdict.times import parse_time


@dataclass(frozen=True, slots=True)
class Happening:
    """One sentence about what happened at a moment; ``aside`` when the demo itself did it."""

    at: datetime
    text: str
    aside: bool = False


class Board:
    """The picture of the demo; ``start`` is when the history's own clock showed nought."""

    def __init__(self, pool: str, windows: Sequence[Window], start: datetime) -> None:
        """Begin empty."""
        self.pool = pool
        self.windows = tuple(windows)
        self.now = start
        self.rows: dict[str, Row] = {}
        self.happenings: list[Happening] = []
        self.services: dict[str, int] = {}
        """How many Pods of each Service are Ready."""
        self._start = start
        self._replay = Replay()
        self._begun = False

    # --- Feeding ---

    def see(self, change: Change) -> None:
        """Go on by one change."""
        self.move_to(self._start + timedelta(seconds=change.at))
        moment = self._replay.see(change)
        anchor = self._anchor(moment)
        self._begun = self._begun or anchor is not None or bool(moment.world["RotationPolicy"])
        match change.kind:
            case "NodeClaim" if label(change.object, names.NODEPOOL_LABEL) == self.pool:
                self._see_claim(moment)
            case "Node":
                self._see_node(moment)
            case "EndpointSlice":
                service = label(change.object, SERVICE_NAME) or change.name
                self.services[service] = len(ready_endpoints(moment))
            case _:
                pass
        row = self.rows.get(anchor or "")
        if row is not None:
            row.begun = row.begun or self.now
            self._follow(row, moment)
        told = Told(self.pool, self.rows, begun=self._begun, now=self.now)
        for sentence in sentences(moment, told):
            self.note(sentence)

    def move_to(self, now: datetime) -> None:
        """Let time pass; windows that open or close meanwhile are told of."""
        for window in self.windows:
            if self.now < window.start <= now:
                self._note_at(window.start, f"The window opens; it closes at {window.closes}.")
            if self.now < window.end <= now:
                left = len(self.rows) - self.replaced
                self._note_at(window.end, f"The window closes; {left} old nodes are left.")
        self.now = max(self.now, now)

    def note(self, text: str, *, aside: bool = False) -> None:
        """Add a sentence about now."""
        self.happenings.append(Happening(self.now, text, aside))

    # --- Reading ---

    @property
    def open_window(self) -> Window | None:
        """The window that is open now."""
        return next((one for one in self.windows if one.start <= self.now < one.end), None)

    @property
    def next_window(self) -> Window | None:
        """The window that opens next."""
        return next((one for one in self.windows if self.now < one.start), None)

    @property
    def under_way(self) -> Row | None:
        """The node that is being replaced now."""
        return next((row for row in self.rows.values() if row.state in UNDER_WAY), None)

    @property
    def replaced(self) -> int:
        """How many nodes have been replaced."""
        return sum(row.state is State.REPLACED for row in self.rows.values())

    # --- Parts of a look at one change ---

    def _note_at(self, at: datetime, text: str) -> None:
        self.happenings.append(Happening(at, text))

    def _anchor(self, moment: Moment) -> str | None:
        return annotation(moment.world["NodePool"].get(("", self.pool)), names.ACTIVE_ROTATION)

    def _see_claim(self, moment: Moment) -> None:
        claim, name = moment.change.object, moment.change.name
        if name not in self.rows:
            if self._begun:
                return
            created = parse_time(claim["metadata"]["creationTimestamp"])
            self.rows[name] = Row(name, created, deadline_of(claim))
        row = self.rows[name]
        row.node = node_of(claim) or row.node
        row.zone = label(claim, names.ZONE_LABEL) or row.zone
        if moment.change.type == "DELETED":
            row.state = State.REPLACED if row.succeeded else State.LOST
            row.took = self.now - (row.begun or self.now)
            row.blocked_by = ""

    def _see_node(self, moment: Moment) -> None:
        node = moment.change.object
        for row in self.rows.values():
            if row.node != moment.change.name or moment.change.type == "DELETED":
                continue
            row.not_ready = not is_ready(node) and not is_leaving(node)
            kept = annotation(node, names.DO_NOT_DISRUPT) and not annotation(
                node, names.DO_NOT_DISRUPT_OWNED
            )
            if row.state in {State.WAITING, State.KEPT}:
                row.state = State.KEPT if kept else State.WAITING

    def _follow(self, row: Row, moment: Moment) -> None:
        """How far the rotation of the anchored claim is, as the objects show it."""
        claim = moment.world["NodeClaim"].get(("", row.claim))
        if claim is None:
            return
        host = host_of(moment.world, row.claim)
        if host is not None:
            row.successor = claim_of(moment.world, host["metadata"]["name"])
        node = moment.world["Node"].get(("", row.node))
        if is_leaving(claim):
            if row.state is not State.DRAINING:
                row.succeeded = not missing_successor(moment.world, self.pool, row.claim, row.node)
            row.state = State.DRAINING
            row.blocked_by = _blocker(moment.world, row.node)
        elif host is not None and is_ready(host):
            row.state = State.READY
        elif (names.NAMESPACE, names.PLACEHOLDER_PREFIX + row.claim) in moment.world["Pod"]:
            row.state = State.COMING
        elif node is not None and is_cordoned_for(node, row.claim, by_operator=True):
            row.state = State.CORDONED
        else:
            row.state = State.NEXT


def _blocker(world: World, node: str) -> str:
    """The budget that lets none of the Pods on a node go; empty when there is none."""
    for pod in world["Pod"].values():
        if pod.get("spec", {}).get("nodeName") != node or is_leaving(pod):
            continue
        for budget in world["PodDisruptionBudget"].values():
            if covers(budget, pod) and available(world, budget) <= wanted_by(world, budget):
                name: str = budget["metadata"]["name"]
                return name
    return ""
