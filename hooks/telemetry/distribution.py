"""A histogram's numbers: how many values there were up to each bound.

Not prometheus_client's own histogram: that one can't be left out of a scrape as a whole together
with the other series of its pool, and exports the time of its making beside them.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate


class Distribution:
    """Counts values by the lowest of the ``bounds`` (sorted) that isn't below them."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._labels = [*(repr(float(bound)) for bound in bounds), "+Inf"]
        self._bounds = bounds
        self._counts = [0] * len(self._labels)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """(bound as Prometheus writes it, how many values up to it), the last one +Inf."""
        return list(zip(self._labels, map(float, accumulate(self._counts)), strict=True))
