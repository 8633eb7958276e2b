from __future__ import annotations

import queue
import threading
from functools import partial

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from hooks.server.errands import Errands


def test_errands_hold_up_nobody_and_are_run_in_their_order() -> None:
    errands = Errands(Logger(Config()))
    goes_on, done = threading.Event(), threading.Event()
    ran: list[str] = []

    def first() -> None:
        assert goes_on.wait(10)
        ran.append("first")

    def second() -> None:
        ran.append("second")
        done.set()

    errands(first)
    errands(second)
    assert ran == []
    goes_on.set()
    assert done.wait(10)
    assert ran == ["first", "second"]


def test_one_that_fails_is_told_and_the_next_one_is_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    errands, done = Errands(Logger(Config())), threading.Event()

    def fails() -> None:
        raise ValueError("on purpose")

    errands(fails)
    errands(done.set)
    assert done.wait(10)
    assert "on purpose" in capsys.readouterr().err


def test_between_two_there_is_a_rest_that_the_end_cuts_short() -> None:
    errands = Errands(Logger(Config()), pause=3600)
    first, second = threading.Event(), threading.Event()
    errands(first.set)
    errands(second.set)
    assert first.wait(10)
    assert not second.wait(0.2)
    errands.hurry()
    assert second.wait(10)


def test_so_many_may_wait_and_those_beyond_are_dropped_aloud(
    capsys: pytest.CaptureFixture[str],
) -> None:
    errands = Errands(Logger(Config()), pause=0, most=2)
    begun, goes_on = threading.Event(), threading.Event()
    ran: queue.Queue[int] = queue.Queue()

    def first() -> None:
        begun.set()
        assert goes_on.wait(10)

    errands(first)
    assert begun.wait(10)
    for number in range(3):
        errands(partial(ran.put, number))
    assert "dropped" in capsys.readouterr().err
    goes_on.set()
    assert [ran.get(timeout=10), ran.get(timeout=10)] == [0, 1]
    errands(partial(ran.put, 3))
    assert ran.get(timeout=10) == 3, "there is room again, and the third one is gone"
