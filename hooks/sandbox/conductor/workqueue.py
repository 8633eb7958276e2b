"""The rate-limited queue that decides when a parent is synced again.

Owns the semantics of client-go's work queue: a key waits once, is never handed out twice at the
same time, and is queued again afterwards when it was added meanwhile. Delayed adds keep the
earliest time asked for and are never cancelled. Source: design/rotation.md section 1.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")

BASE_DELAY: Final = 0.005
MAX_DELAY: Final = 1000.0
_BUCKET_SIZE: Final = 100.0
_BUCKET_RATE: Final = 10.0


class Backoff(Generic[K]):
    """The greater of a delay that doubles for each failure of a key and a bucket for all keys.

    5 ms to 1000 s for a key; all keys together get 100 retries at once and 10 a second afterwards.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start with no failures and a full bucket; ``clock`` counts seconds."""
        self._clock = clock
        self._failures: dict[K, int] = {}
        self._tokens = _BUCKET_SIZE
        self._filled_at = clock()

    def next_delay(self, key: K) -> float:
        """Count one more failure and return the seconds to wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        doubled = BASE_DELAY * 2.0 ** min(failures, 64)
        return max(min(doubled, MAX_DELAY), self._take_token())

    def forget(self, key: K) -> None:
        """Let the next failure of this key be its first."""
        self._failures.pop(key, None)

    def _take_token(self) -> float:
        now = self._clock()
        refilled = self._tokens + (now - self._filled_at) * _BUCKET_RATE
        self._tokens = min(refilled, _BUCKET_SIZE) - 1
        self._filled_at = now
        return max(-self._tokens / _BUCKET_RATE, 0.0)


class WorkQueue(Generic[K]):
    """Keys to be worked on; safe to use from several threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start empty; ``clock`` is a monotonic one in seconds."""
        self._clock = clock
        self._backoff: Backoff[K] = Backoff(clock)
        self._changed = threading.Condition()
        self._ready: deque[K] = deque()
        self._dirty: set[K] = set()
        self._processing: set[K] = set()
        self._due: dict[K, float] = {}
        self._timers: list[tuple[float, int, K]] = []
        self._order = itertools.count()
        self._shut = False

    def add(self, key: K) -> None:
        """Queue a key now; while it is being worked on, remember it for afterwards."""
        with self._changed:
            self._add(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Queue a key after a time; of several times asked for, the earliest wins."""
        with self._changed:
            if seconds <= 0:
                self._add(key)
                return
            due = self._clock() + seconds
            if self._shut or self._due.get(key, due + 1) <= due:
                return
            self._due[key] = due
            heapq.heappush(self._timers, (due, next(self._order), key))
            self._changed.notify()

    def add_rate_limited(self, key: K) -> None:
        """Queue a key that failed, after its backoff."""
        with self._changed:
            delay = self._backoff.next_delay(key)
        self.add_after(key, delay)

    def forget(self, key: K) -> None:
        """Reset the backoff of a key that succeeded."""
        with self._changed:
            self._backoff.forget(key)

    def take(self) -> K | None:
        """Hand out a key that is ready now, without waiting."""
        with self._changed:
            self._move_due()
            if not self._ready:
                return None
            key = self._ready.popleft()
            self._processing.add(key)
            self._dirty.discard(key)
            return key

    def get(self) -> K | None:
        """Wait for a key and hand it out; None once the queue is shut."""
        while True:
            with self._changed:
                if self._shut:
                    return None
                self._move_due()
                if not self._ready:
                    self._changed.wait(self._seconds_to_next())
                    continue
            key = self.take()
            if key is not None:
                return key

    def done(self, key: K) -> None:
        """Give a key back, so that it may be handed out again."""
        with self._changed:
            self._processing.discard(key)
            if key in self._dirty:
                self._ready.append(key)
                self._changed.notify()

    def next_due(self) -> float | None:
        """Return when the next delayed key becomes ready, on the queue's clock."""
        with self._changed:
            return min(self._due.values(), default=None)

    def shut_down(self) -> None:
        """Hand out nothing any more and wake everyone who waits."""
        with self._changed:
            self._shut = True
            self._changed.notify_all()

    def _add(self, key: K) -> None:
        if self._shut or key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._processing:
            self._ready.append(key)
            self._changed.notify()

    def _move_due(self) -> None:
        now = self._clock()
        while self._timers and self._timers[0][0] <= now:
            due, _, key = heapq.heappop(self._timers)
            # An entry that an earlier time has overtaken is left in the heap and skipped here.
            if self._due.get(key) == due:
                del self._due[key]
                self._add(key)

    def _seconds_to_next(self) -> float | None:
        return max(self._timers[0][0] - self._clock(), 0.0) if self._timers else None
