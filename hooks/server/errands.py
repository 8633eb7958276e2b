"""What is left to do when an answer is out: on a thread of its own, so that no connection waits for it.

A client that keeps its connections (Go's does) sends its next request on the one that it used last.
That one isn't read while a thread still works for it. And when many answers come at once, their
errands must not take the processors and the API server away from the next ones: they are run at a
pace. Owns that pace, and how many may wait. Leaves what is to be done to whoever hands it over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

from gunicorn.glogging import Logger

PAUSE: Final = 0.1
"""Seconds of rest after each errand."""
MOST: Final = 10_000
"""How many may wait; those beyond are dropped, and that is said."""


class Errands:
    """Runs jobs one after the other, each as soon as there was a ``pause`` since the last one.

    Those that wait at the end of the process are still run, without a pause.
    """

    def __init__(self, log: Logger, *, pause: float = PAUSE, most: int = MOST) -> None:
        self._log = log
        self._thread = ThreadPoolExecutor(1, "errands")
        self._pause = pause
        self._room = threading.BoundedSemaphore(most)
        self._hurried = threading.Event()

    def __call__(self, job: Callable[[], None]) -> None:
        """Take a job, and return at once."""
        if self._room.acquire(blocking=False):
            self._thread.submit(partial(self._run, job)).add_done_callback(self._tell)
        else:
            self._log.warning(
                "dropped what was left to do after an answer: too much of that waits already"
            )

    def hurry(self) -> None:
        """Rest no more: the process is about to end."""
        self._hurried.set()

    def _run(self, job: Callable[[], None]) -> None:
        self._room.release()
        try:
            job()
        finally:
            self._hurried.wait(self._pause)

    def _tell(self, done: Future[None]) -> None:
        error = done.exception()
        if error is not None:
            self._log.error("failed after the answer was out", exc_info=error)
