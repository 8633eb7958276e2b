"""L1 and L2: from any world, once faults end, the pool comes to rest in a bounded number of passes.

What is already known to come to rest is remembered, so that each world is gone on from only once.
"""

from __future__ import annotations

from typing import Final

from hooks import names
from hooks.rotation.phases import decide
from tests.search import passes
from tests.search.around import delete_pool, helpful
from tests.search.hands import CLOCK, reads
from tests.search.judge import FROZEN, expect, left
from tests.search.state import ANSWERED, CREATING, WRITING, State, after, shown
from tests.search.things import noted

CONSTANT: Final = 10
"""Passes after which a constant world is steady."""
LONGEST: Final = 90
"""Passes to rest, with everything that helps in between."""


def core(state: State) -> State:
    """The world alone: every cache is up to date, and nothing is in flight."""
    return state._replace(flight=None, old=None, before=shown(state))


def whole_pass(state: State) -> State:
    """A pass from its request to the last part of its answer, with nothing in its way."""
    state = passes.begin(core(state), shown(state))
    while (flight := state.flight) is not None:
        if flight.stage is WRITING:
            state = passes.write_on(state, flight)
        elif flight.stage is CREATING:
            state = passes.answer(state, flight)
        elif flight.stage is ANSWERED:
            state = passes.update(state, flight)
        else:
            state = passes.attach(state, flight)
    return core(state)


class Rest:
    """Whether worlds come to rest; ``helped`` or with nobody bringing or binding anything."""

    def __init__(self) -> None:
        self.known: set[tuple[int, bool]] = set()
        self.passes = 0

    def comes(self, state: State, *, helped: bool = True) -> list[str]:
        """Go on until rest; gives the names of the steps. Raises Broken."""
        state = core(state)
        path: list[tuple[int, bool]] = []
        steps: list[str] = []
        constant = 0
        while (key := (hash(state), helped)) not in self.known:
            path.append(key)
            expect(holds=len(path) < LONGEST, promise=f"L1: no rest after {steps[-12:]}")
            self.passes += 1
            new = whole_pass(state)
            steps.append("pass")
            constant = constant + 1 if new != state else 0
            expect(holds=constant < CONSTANT, promise=f"L2: rows undo each other: {steps[-12:]}")
            if new == state:
                moved = self._goes_on(state, helped=helped)
                if moved is None:
                    _at_rest(state)
                    break
                new, step = moved
                steps.append(step)
            state = new
        self.known.update(path)
        return steps

    def _goes_on(self, state: State, *, helped: bool) -> tuple[State, str] | None:
        """What else happens when passes change nothing any more."""
        for move in helpful(state):
            ends = move.name.endswith("is gone")
            if move.cost == 0 and (helped or ends):
                return core(move.happens()), move.name
        if state.phase + 1 < len(CLOCK):
            return state._replace(phase=state.phase + 1), "time passes"
        return None


def _at_rest(state: State) -> None:
    found = left(state)
    expect(holds=not found, promise=f"L1: left at rest: {', '.join(found)}")
    if state.pool is not None and not state.pool.deleting:
        reader = reads(state)
        decide(passes.observation(state, shown(state)), reader)
        expect(holds=reader.api.reads == 0, promise="L2: a steady state asks")


def endings(state: State) -> dict[str, State]:
    """The same world, and what may become of it for good."""
    found = {"as it is": state, "policy deleted for good": state._replace(policy=None)}
    if state.pool is not None:
        frozen = noted(state.pool, ((names.FREEZE, FROZEN),))
        found["frozen for ever"] = after(state, pool=frozen)
        if not state.pool.deleting:
            found["NodePool deleted"] = delete_pool(state, state.pool)
    return found
