"""What is counted of graceful drains: answers to evictions, rollouts that ended, and calls.

Owns those numbers. Leaves their names to :mod:`hooks.names`, and which end counts to
:mod:`hooks.cluster.herald`. Source: design/observability.md *Metrics*, design/drain.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Lock
from typing import Final

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from typing_extensions import override

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.drain import DrainApi
from hooks.drain.reasons import Answer, Outcome, Reason
from hooks.drain.verdict import TABLE
from hooks.telemetry.calls import ALREADY_EXISTS, OK, counting, there
from hooks.telemetry.distribution import Distribution
from hooks.telemetry.families import Labels, counter_of, histogram_of
from hooks.telemetry.metrics import Metrics

ROLLOUT_BOUNDS: Final = tuple(5.0 * 2**step for step in range(10))
"""From 5 seconds to about 43 minutes."""


class Evictions(Collector):
    """The answers to evictions. A series begins with zero, or its first count would be no increase."""

    def __init__(self) -> None:
        rows = {(row.answer, row.reason) for row in TABLE}
        faults = set(Reason) - {reason for _, reason in rows}
        self._lock = Lock()
        self._answers: Counter[Labels] = Counter(
            dict.fromkeys(sorted(rows | {(Answer.ALLOW, reason) for reason in faults}), 0)
        )

    def answered(self, answer: Answer, reason: Reason) -> None:
        """One more answer was made."""
        with self._lock:
            self._answers[str(answer), str(reason)] += 1

    @override
    def collect(self) -> Iterator[Family]:
        """What prometheus_client asks for at each scrape."""
        with self._lock:
            family = counter_of(names.EVICTIONS, self._answers)
        yield family


class Rollouts(Collector):
    """The rollouts that evictions began and that ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ends: Counter[Labels] = Counter({(str(outcome),): 0 for outcome in Outcome})
        self._spread = Distribution(ROLLOUT_BOUNDS)

    def ended(self, outcome: Outcome, took: timedelta | None) -> None:
        """One more came to its end; a completed one ``took`` that long from its eviction on."""
        with self._lock:
            self._ends[str(outcome),] += 1
            if outcome is Outcome.COMPLETED and took is not None:
                self._spread.observe(took.total_seconds())

    @override
    def collect(self) -> Iterator[Family]:
        """What prometheus_client asks for at each scrape."""
        with self._lock:
            families = [
                counter_of(names.ROLLOUTS, self._ends),
                histogram_of(names.ROLLOUT_DURATION, {(): self._spread}),
            ]
        yield from families


@dataclass(frozen=True, slots=True)
class CountedDrain:
    """Implements :class:`hooks.cluster.drain.DrainApi` by another one, and counts what comes of it."""

    api: DrainApi
    metrics: Metrics

    def within(self, deadline: float) -> CountedDrain:
        """See :meth:`DrainApi.within`."""
        return replace(self, api=self.api.within(deadline))

    def briefly(self, seconds: float) -> CountedDrain:
        """See :meth:`DrainApi.briefly`."""
        return replace(self, api=self.api.briefly(seconds))

    def get_pod(self, namespace: str, name: str) -> Json | None:
        """See :meth:`DrainApi.get_pod`."""
        return self._read("pods", lambda: self.api.get_pod(namespace, name))

    def get_replicaset(self, namespace: str, name: str) -> Json | None:
        """See :meth:`DrainApi.get_replicaset`."""
        return self._read("replicasets", lambda: self.api.get_replicaset(namespace, name))

    def get_deployment(self, namespace: str, name: str) -> Json | None:
        """See :meth:`DrainApi.get_deployment`."""
        return self._read("deployments", lambda: self.api.get_deployment(namespace, name))

    def patch_deployment(self, namespace: str, name: str, ops: Sequence[Json]) -> Json:
        """See :meth:`DrainApi.patch_deployment`."""
        return counting(
            self.metrics,
            "patch",
            "deployments",
            lambda: self.api.patch_deployment(namespace, name, ops),
        )

    def create_event(self, namespace: str, body: Json) -> bool:
        """See :meth:`DrainApi.create_event`."""
        return counting(
            self.metrics,
            "create",
            "events",
            lambda: self.api.create_event(namespace, body),
            lambda created: OK if created else ALREADY_EXISTS,
        )

    def _read(self, resource: str, call: Callable[[], Json | None]) -> Json | None:
        return counting(self.metrics, "get", resource, call, there)
