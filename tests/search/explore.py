"""The search: every state that a bounded number of disturbances can lead to, each looked at once.

States are taken in the order of what they cost, so each is expanded with the most that is left to
spend. A broken promise comes out as a trace: the names of the moves from the beginning on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.search.around import Move
from tests.search.judge import Broken
from tests.search.moves import moves
from tests.search.rest import Rest, core, endings
from tests.search.state import State
from tests.search.things import Thing


@dataclass(frozen=True)
class Beginning:
    """Where a search starts from."""

    name: str
    state: State
    rules: tuple[Thing, Thing]


@dataclass
class Trace:
    """A broken promise, and how it came to that."""

    beginning: str
    promise: str
    steps: tuple[str, ...]
    before: State
    """The state in which the last step was taken."""


class Step(NamedTuple):
    cost: int
    parent: int
    name: str


@dataclass
class Search:
    """One search from one beginning."""

    beginning: Beginning
    disturbances: int
    most: int = 0
    """States to look at, at most (0: all)."""
    every: int = 1
    """Of the worlds one in so many is gone on from to rest with the policy gone, and so on."""
    seen: dict[int, Step] = field(default_factory=dict)
    cores: set[int] = field(default_factory=set)
    rest: Rest = field(default_factory=Rest)
    edges: int = 0
    stopped: bool = False
    """Whether it ended at ``most``, not for want of states."""
    broken: Trace | None = None

    def run(self) -> Search:
        """Look at everything, or as far as the first broken promise."""
        start = self.beginning.state
        queues: list[deque[State]] = [deque() for _ in range(self.disturbances + 1)]
        queues[0].append(start)
        self.seen[hash(start)] = Step(0, 0, "")
        for cost, queue in enumerate(queues):
            while queue and self.broken is None and not self._enough():
                state = queue.popleft()
                if self.seen[hash(state)].cost == cost:
                    self._expand(state, cost, queues)
        return self

    def _enough(self) -> bool:
        self.stopped = bool(self.most) and len(self.seen) >= self.most
        return self.stopped

    def _expand(self, state: State, cost: int, queues: list[deque[State]]) -> None:
        self._rests(state)
        key = hash(state)
        for move in moves(state, self.beginning.rules):
            total = cost + move.cost
            if total > self.disturbances or self.broken is not None:
                continue
            new = self._taken(state, move)
            if new is None:
                return
            self.edges += 1
            known = self.seen.get(hash(new))
            if known is None or known.cost > total:
                self.seen[hash(new)] = Step(total, key, move.name)
                queues[total].append(new)

    def _taken(self, state: State, move: Move) -> State | None:
        try:
            return move.happens()
        except Broken as broken:
            self._break(state, str(broken), move.name)
            return None

    def _rests(self, state: State) -> None:
        alone = core(state)
        key = hash(alone)
        if key in self.cores:
            return
        self.cores.add(key)
        worlds = endings(alone) if key % self.every == 0 else {"as it is": alone}
        for name, world in worlds.items():
            self._rest_of(state, world, name, helped=True)
        self._rest_of(state, alone, "and nobody helps", helped=False)

    def _rest_of(self, state: State, world: State, name: str, *, helped: bool) -> None:
        try:
            self.rest.comes(world, helped=helped)
        except Broken as broken:
            self._break(state, f"{broken} ({name})", "it is left alone")

    def _break(self, state: State, promise: str, last: str) -> None:
        steps = [last]
        key = hash(state)
        while (step := self.seen[key]).name:
            steps.append(step.name)
            key = step.parent
        self.broken = Trace(self.beginning.name, promise, tuple(reversed(steps)), state)
