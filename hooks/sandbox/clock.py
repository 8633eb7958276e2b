"""The embedded cluster's time, which moves only when it is told to.

Owns the one "now" that all parts of the cluster share. Real time never enters here.
"""

from __future__ import annotations

from datetime import datetime, timedelta


class VirtualClock:
    """A clock that stands still between steps."""

    def __init__(self, start: datetime) -> None:
        """Begin at ``start``, which must be aware of its zone."""
        self._start = start
        self._now = start

    def now(self) -> datetime:
        """The present moment."""
        return self._now

    def seconds(self) -> float:
        """Seconds since the start: a monotonic clock."""
        return (self._now - self._start).total_seconds()

    def advance_to(self, moment: datetime) -> None:
        """Move on; a moment that has passed changes nothing."""
        self._now = max(self._now, moment)

    def advance(self, span: timedelta) -> None:
        """Move on by a span."""
        self._now += span
