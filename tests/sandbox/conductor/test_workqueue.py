"""The work queue has client-go's semantics."""

from __future__ import annotations

import threading
import time

import pytest

from hooks.sandbox.conductor.workqueue import WorkQueue


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def drained(queue: WorkQueue[str]) -> list[str]:
    keys = []
    while (key := queue.take()) is not None:
        keys.append(key)
        queue.done(key)
    return keys


def test_keys_come_in_order_and_a_waiting_key_waits_once() -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    for key in ("a", "b", "a"):
        queue.add(key)
    assert drained(queue) == ["a", "b"]


def test_a_key_being_worked_on_is_not_handed_out_again_until_it_is_done() -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    queue.add("a")
    assert queue.take() == "a"
    queue.add("a")
    queue.add("a")
    assert queue.take() is None
    queue.done("a")
    assert drained(queue) == ["a"]


@pytest.mark.parametrize(("first", "second"), [(5, 9), (9, 5)])
def test_of_two_delays_the_earlier_wins_and_the_other_is_gone(first: float, second: float) -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add_after("a", first)
    queue.add_after("a", second)
    assert queue.next_due() == 5
    clock.now = 4.9
    assert drained(queue) == []
    clock.now = 5
    assert drained(queue) == ["a"]
    clock.now = 9
    assert drained(queue) == []
    assert queue.next_due() is None


def test_an_add_does_not_cancel_a_delayed_add() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add_after("a", 5)
    queue.add("a")
    assert drained(queue) == ["a"]
    clock.now = 5
    assert drained(queue) == ["a"]


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_delay_is_an_add(seconds: float) -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    queue.add_after("a", seconds)
    assert drained(queue) == ["a"]


def test_each_key_has_its_own_backoff_until_it_is_forgotten() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    delays = []
    for key in ("a", "a", "b", "a"):
        queue.add_rate_limited(key)
        due = queue.next_due()
        assert due is not None
        delays.append(round(due - clock.now, 9))
        clock.now = due
        drained(queue)
    queue.forget("a")
    queue.add_rate_limited("a")
    assert delays == [0.005, 0.01, 0.005, 0.02]
    assert queue.next_due() == pytest.approx(clock.now + 0.005)


def test_a_hundred_retries_at_once_and_ten_a_second_afterwards() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    for number in range(103):
        queue.add_rate_limited(f"key-{number}")
    clock.now = 0.005
    assert len(drained(queue)) == 100
    clock.now = 0.1
    assert len(drained(queue)) == 1
    clock.now = 0.3
    assert len(drained(queue)) == 2


def test_get_waits_for_an_add_and_for_a_delay_and_ends_at_shut_down() -> None:
    queue: WorkQueue[str] = WorkQueue(time.monotonic)
    got: list[str | None] = []

    def work() -> None:
        while True:
            key = queue.get()
            got.append(key)
            if key is None:
                return
            queue.done(key)

    worker = threading.Thread(target=work)
    worker.start()
    queue.add_after("in an hour", 3600)
    queue.add("now")
    queue.add_after("soon", 0.05)
    deadline = time.monotonic() + 30
    while len(got) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    queue.shut_down()
    worker.join(30)
    assert got == ["now", "soon", None]


def test_nothing_is_queued_after_shut_down() -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    queue.shut_down()
    queue.add("a")
    queue.add_after("b", 1)
    assert (queue.take(), queue.next_due(), queue.get()) == (None, None, None)
