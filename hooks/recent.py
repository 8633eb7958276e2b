"""A memory of bounded size: what nobody asked about for longest is forgotten first.

Owns that bound, for all that a process keeps beside the cluster's objects. Any thread may use it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Keeps a value for each of the last ``most`` keys that were asked about or noted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        """Return what was noted last; None when nothing was, or it is forgotten."""
        with self._lock:
            value = self._kept.get(key)
            if value is not None:
                self._kept.move_to_end(key)
            return value

    def note(self, key: Key, value: Value) -> Value | None:
        """Note a value, and return the one that was there before."""
        with self._lock:
            before = self._kept.get(key)
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return before

    def forget(self, key: Key) -> None:
        """Forget it, if it is known."""
        with self._lock:
            self._kept.pop(key, None)
