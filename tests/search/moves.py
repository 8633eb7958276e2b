"""What can happen next, by name: the steps of passes, and what befalls those who make them.

What must be able to happen for a rotation to go well costs nothing; each disturbance costs one,
and the search is exhaustive up to a number of them. Leaves what goes on around the passes to
:mod:`tests.search.around`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from tests.search import passes
from tests.search.around import Move, Rules, cluster, helpful, operators
from tests.search.state import ANSWERED, CREATING, WRITING, Flight, Groups, State, shown


def moves(state: State, rules: Rules) -> Iterator[Move]:
    """All that can happen now."""
    yield from _passes(state)
    yield from _mishaps(state)
    yield from helpful(state)
    yield from cluster(state)
    yield from operators(state, rules)


def _passes(state: State) -> Iterator[Move]:
    flight = state.flight
    if state.old is not None:
        yield Move(f"the old pass writes: {_next_write(state.old)}", 0,
                   partial(passes.write_old, state, state.old))  # fmt: skip
    if flight is None:
        yield from _begin(state)
    elif flight.stage is WRITING:
        yield Move(f"the pass writes: {_next_write(flight)}", 0,
                   partial(passes.write_on, state, flight))  # fmt: skip
    elif flight.stage is CREATING:
        yield Move("the answer is made", 0, partial(passes.answer, state, flight))
    elif flight.stage is ANSWERED:
        yield Move("the NodePool is updated", 0, partial(passes.update, state, flight))
    else:
        yield Move("attachments are applied", 0, partial(passes.attach, state, flight))


def _next_write(flight: Flight) -> str:
    return type(flight.jobs[0].write).__name__


def _begin(state: State) -> Iterator[Move]:
    """A pass on any mixture of the groups as they are and as they were."""
    now, was = shown(state), state.before
    differing = [name for name in Groups._fields if getattr(now, name) != getattr(was, name)]
    for size in range(len(differing) + 1):
        for stale in combinations(differing, size):
            request = now._replace(**{name: getattr(was, name) for name in stale})
            if request.pool is not None:
                lag = f", {' and '.join(stale)} one version back" if stale else ""
                cost = 1 if stale else 0
                yield Move(f"a pass begins{lag}", cost, partial(passes.begin, state, request))


def _mishaps(state: State) -> Iterator[Move]:
    flight, old = state.flight, state.old
    busy = flight is not None and flight.stage in {WRITING, CREATING}
    if flight is not None and not busy:
        yield Move("the answer is lost", 1, partial(state._replace, flight=None))
    if busy or old is not None:
        stays = None if busy else flight
        yield Move("the hook dies", 1, partial(state._replace, flight=stays, old=None))
    if flight is not None and flight.stage is WRITING and old is None:
        yield Move("the pass times out", 1, partial(state._replace, flight=None, old=flight))
