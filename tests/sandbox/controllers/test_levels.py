"""When a controller looks again, and what it does with refusals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

import pytest
from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.controllers.levels import LevelController, varied
from hooks.sandbox.failures import ApiError
from hooks.sandbox.store.kinds import CONFIGMAPS, NODES, SECRETS
from hooks.sandbox.store.store import ObjectStore
from tests.sandbox.controllers.worlds import START


class Looker(LevelController):
    """Notes when it looked, and does what it is told to."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODES})

    def __init__(self) -> None:
        clock = VirtualClock(START)
        super().__init__(ObjectStore(clock.now), clock)
        self.looks: list[float] = []
        self.task: Callable[[], object] = list

    @override
    def reconcile(self, now: datetime) -> None:
        self.looks.append(self.clock.seconds())
        self.task()

    def pass_by(self, seconds: float) -> bool:
        self.clock.advance(timedelta(seconds=seconds))
        return self.step()

    def add(self, resource: Resource, name: str = "a") -> None:
        self.store.create(resource, {"metadata": {"name": name}})


def test_it_looks_once_and_then_only_when_what_it_watches_has_changed() -> None:
    looker = Looker()
    assert [looker.step(), looker.pass_by(1)] == [False, False]
    looker.add(CONFIGMAPS)
    looker.pass_by(1)
    looker.add(NODES)
    looker.pass_by(1)
    looker.pass_by(1)
    assert looker.looks == [0, 3]


def test_its_own_writes_are_a_reason_to_look_again() -> None:
    looker = Looker()

    def write_once() -> None:
        if len(looker.looks) == 1:
            looker.add(NODES)

    looker.task = write_once
    assert [looker.step(), looker.step(), looker.step()] == [True, False, False]
    assert looker.looks == [0, 0]


def test_it_looks_at_the_earliest_time_that_it_named() -> None:
    looker = Looker()

    def name_times() -> None:
        for seconds in (9, 5, 7):
            looker.wake_at(START + timedelta(seconds=seconds))

    looker.task = name_times
    looker.step()
    assert looker.next_due() == START + timedelta(seconds=5)
    looker.task = list
    looker.pass_by(4)
    looker.pass_by(1)
    assert (looker.looks, looker.next_due()) == ([0, 5], None)


def test_what_was_refused_is_tried_again_ever_later() -> None:
    looker = Looker()
    tries: list[float] = []

    def refused() -> None:
        tries.append(looker.clock.seconds())
        raise ApiError(403, "Forbidden", "no")

    looker.task = lambda: looker.attempt("key", refused)
    looker.step()
    for _ in range(3):
        # Changes in between are no reason to try.
        looker.add(NODES, f"n{len(tries)}")
        looker.step()
        due = looker.next_due()
        assert due is not None
        looker.clock.advance_to(due)
        looker.step()
    assert tries == [0, 0.005, 0.015, 0.035]
    looker.clock.advance(timedelta(seconds=1))
    looker.task = lambda: looker.attempt("key", list)
    looker.step()
    assert looker.next_due() is None


def test_the_refusal_is_known_while_it_waits() -> None:
    looker = Looker()
    error = ApiError(403, "Forbidden", "no")

    def refused() -> None:
        raise error

    answers = [looker.attempt("key", refused), looker.attempt("key", list)]
    assert answers == [error, error]


@pytest.mark.parametrize(
    "error", [ApiError(404, "NotFound", "gone"), ApiError(409, "Conflict", "")]
)
def test_when_somebody_else_was_faster_it_looks_again(error: ApiError) -> None:
    looker = Looker()

    def lost() -> None:
        raise error

    looker.task = lost
    assert not looker.step()
    looker.task = list
    looker.step()
    looker.step()
    assert looker.looks == [0, 0]


def test_other_errors_are_not_hidden() -> None:
    looker = Looker()

    def broken() -> None:
        raise ApiError(422, "Invalid", "broken")

    looker.task = broken
    with pytest.raises(ApiError, match="broken"):
        looker.step()


def test_a_status_that_is_what_it_was_is_not_written() -> None:
    looker = Looker()
    looker.add(NODES)
    looker.put_status(NODES, looker.store.get(NODES, "", "a"), {"phase": "x"})
    before = looker.store.revision
    looker.put_status(NODES, looker.store.get(NODES, "", "a"), {"phase": "x"})
    looker.add(SECRETS)
    assert looker.store.revision == before + 1


def test_spans_vary_within_their_bounds_and_the_same_each_time() -> None:
    spans = [varied(timedelta(seconds=10), 0.2, Random(seed)) for seed in range(50)]
    assert min(spans) >= timedelta(seconds=8)
    assert max(spans) <= timedelta(seconds=12)
    assert spans == [varied(timedelta(seconds=10), 0.2, Random(seed)) for seed in range(50)]
    assert varied(timedelta(seconds=10), 0.0, Random(1)) == timedelta(seconds=10)
