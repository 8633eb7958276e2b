"""A state of the search: the world, what the caches may still show, and the passes in flight.

Owns the shape, and what follows from any change of the world: the version before it becomes what a
stale cache shows, and a pass that rested on the NodePool's version loses its claim to write it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from hooks.rotation.decision import Decision
from hooks.rotation.model import Observation
from hooks.rotation.writes import Write
from tests.search.things import Interned, Thing

WRITING, CREATING, ANSWERED, ATTACHING = "writing", "creating", "answered", "attaching"


class Job(Interned):
    """One write that a pass has still to send."""

    __slots__ = ("write",)

    def __init__(self, key: str, write: Write) -> None:
        super().__init__(key)
        self.write = write


class Plan(Interned):
    """What becomes of a pass when its writes have landed: everything that its answer rests on.

    ``update``: the annotations that the answer changes on the NodePool as the request showed it.
    ``observed``: name and UID of each placeholder of the request.
    """

    __slots__ = ("decision", "obs", "observed", "update")

    def __init__(
        self,
        key: str,
        decision: Decision,
        obs: Observation,
        observed: tuple[tuple[str, str], ...],
        update: tuple[tuple[str, str | None], ...],
    ) -> None:
        super().__init__(key)
        self.decision = decision
        self.obs = obs
        self.observed = observed
        self.update = update


class Flight(NamedTuple):
    """A pass under way: cut after what it has done so far."""

    stage: str
    jobs: tuple[Job, ...]
    plan: Plan
    update: tuple[tuple[str, str | None], ...] = ()
    """What is left to be changed on the NodePool; empty: Metacontroller sends no update."""
    current: bool = True
    """Whether the NodePool is still the one that the request showed."""
    listed: tuple[str, ...] = ()
    """The placeholders of the answer, by name."""
    fresh: Thing | None = None
    """The one that the answer wants created."""
    held: bool = False
    """Whether S4 held when the create guard let that one pass."""
    stopped: Decision | None = None
    """What a guard's refusal has made of the decision."""


class Groups(NamedTuple):
    """What of the world a request shows, group by group."""

    pool: Thing | None
    claims: tuple[Thing, ...]
    nodes: tuple[Thing, ...]
    pods: tuple[Thing, ...]


class State(NamedTuple):
    """Everything that may still make a difference."""

    pool: Thing | None
    claims: tuple[Thing, ...]
    nodes: tuple[Thing, ...]
    pods: tuple[Thing, ...]
    policy: Thing | None
    phase: int
    before: Groups
    flight: Flight | None = None
    old: Flight | None = None
    lived_on: frozenset[str] = frozenset()
    """Fresh Nodes on which some workload has landed."""
    planted: frozenset[tuple[str, str]] = frozenset()
    """(Node, mark) that an operator put there."""
    events: frozenset[tuple[str, str, str]] = frozenset()
    """(name, outcome, UID of the claim) of the Events that count."""
    ours: frozenset[str] = frozenset()
    """UIDs of the claims that we deleted."""
    raced: frozenset[str] = frozenset()
    """Of those, the ones whose outcome may be told wrongly: :func:`tests.search.judge.deleted`."""
    mirrored: frozenset[str] = frozenset()
    """UIDs of the claims for which the mirror was set."""
    tries: tuple[tuple[str, int], ...] = ()
    """How many attempts have begun, by claim."""


def shown(state: State) -> Groups:
    """What an up-to-date request shows."""
    return Groups(state.pool, state.claims, _related(state.nodes), state.pods)


@cache
def _related(nodes: tuple[Thing, ...]) -> tuple[Thing, ...]:
    return tuple(node for node in nodes if node.labelled)


def after(state: State, **changes: Any) -> State:
    """The state after a change of the world."""
    new = state._replace(**changes)
    was, now = shown(state), shown(new)
    if was == now:
        return new
    before = Groups(
        pool=was.pool if was.pool is not now.pool else state.before.pool,
        claims=was.claims if was.claims != now.claims else state.before.claims,
        nodes=was.nodes if was.nodes != now.nodes else state.before.nodes,
        pods=was.pods if was.pods != now.pods else state.before.pods,
    )
    flight, old = new.flight, new.old
    if was.pool is not now.pool:
        flight = flight._replace(current=False) if flight is not None else None
        old = old._replace(current=False) if old is not None else None
    return new._replace(before=before, flight=flight, old=old)


def put(things: tuple[Thing, ...], *new: Thing) -> tuple[Thing, ...]:
    """The group with these in it, instead of those of the same names."""
    taken = {one.name for one in new}
    kept = [one for one in things if one.name not in taken]
    return tuple(sorted([*kept, *new], key=lambda one: one.name))


def drop(things: tuple[Thing, ...], *gone: str) -> tuple[Thing, ...]:
    """The group without those of these names."""
    return tuple(one for one in things if one.name not in gone)


def find(things: tuple[Thing, ...], name: str | None) -> Thing | None:
    """The one of that name."""
    return next((one for one in things if one.name == name), None)
