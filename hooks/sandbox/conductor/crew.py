"""Threads that are started together and end together.

Owns that an unexpected exception in one of them is logged and ends all, instead of leaving a
process that looks alive and does nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)


class Crew:
    """A group of daemon threads; ``stopping`` is set when they shall end."""

    def __init__(self, name: str, on_crash: Callable[[], None]) -> None:
        """``on_crash`` is called from the thread that failed."""
        self.stopping = threading.Event()
        self._name = name
        self._on_crash = on_crash
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        """Held while a thread starts: one that is known can be waited for."""

    def start(self, task: str, work: Callable[[], object]) -> None:
        """Run ``work`` in a thread of its own."""
        thread = threading.Thread(
            target=self._run, args=(work,), name=f"{self._name}/{task}", daemon=True
        )
        with self._lock:
            thread.start()
            self._threads.append(thread)

    def join(self, seconds: float) -> list[str]:
        """Wait for all threads together; return the names of those that still run."""
        deadline = time.monotonic() + seconds
        with self._lock:
            threads = tuple(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(deadline - time.monotonic(), 0.0))
        return [thread.name for thread in threads if thread.is_alive()]

    def _run(self, work: Callable[[], object]) -> None:
        done = False
        try:
            work()
            done = True
        finally:
            if not done:
                _log.critical("thread %s failed", threading.current_thread().name, exc_info=True)
                self._on_crash()
