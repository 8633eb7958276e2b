"""Threads that start and end together."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from hooks.sandbox.conductor.crew import Crew


def test_who_waits_for_the_crew_while_one_of_it_is_about_to_start_waits_for_that_one_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crew, about_to, goes_on = Crew("crew", lambda: None), threading.Event(), threading.Event()
    start, ran = threading.Thread.start, threading.Event()

    def start_slowly(thread: threading.Thread) -> None:
        if thread.name == "crew/late":
            about_to.set()
            assert goes_on.wait(30)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_slowly)
    with ThreadPoolExecutor(2) as others:
        starting = others.submit(crew.start, "late", ran.set)
        assert about_to.wait(30)
        joining = others.submit(crew.join, 30)
        wait([joining], 0.2)
        goes_on.set()
        starting.result()
        assert joining.result() == []
    assert ran.is_set()
