"""Plays that go on at the same time, each with a test that waits for it.

Owns beginning and ending them. What is played is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor


class Plays:
    """Begins all of them at once, ``at_once`` at the same time, in the order in which they come."""

    def __init__(self, plays: Mapping[str, Callable[[], None]], at_once: int) -> None:
        """Begin."""
        self._pool = ThreadPoolExecutor(max(1, at_once))
        self._futures: dict[str, Future[None]] = {
            name: self._pool.submit(play) for name, play in plays.items()
        }

    def outcome(self, name: str) -> None:
        """Wait for one; raises what it raised."""
        self._futures[name].result()

    def close(self) -> None:
        """Begin no other one, and wait for those that have begun."""
        self._pool.shutdown(cancel_futures=True)
