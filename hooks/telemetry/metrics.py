"""The metrics of the process, and ``/metrics``: what passes, hooks and API calls add up to.

Owns the numbers and how long a pool's are kept: Metacontroller sends nothing when a NodePool is
gone, so one that isn't heard of any more takes all its series along. Leaves their names to
:mod:`hooks.names`, what a pool's gauges are to :mod:`hooks.rotation.figures`, and which transition
counts to :mod:`hooks.cluster.herald`. Source: design/observability.md *Metrics*.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from typing_extensions import override

from hooks import names
from hooks.rotation.decision import Decision, Figures
from hooks.rotation.outcomes import DRAIN, EXPIRED, FAILURE, FALLBACK, SUCCESS, SURGE_WAIT
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import Announce
from hooks.telemetry.distribution import Distribution
from hooks.telemetry.families import Labels, counter_of, histogram_of, spread_of
from hooks.telemetry.gauges import gauges

FORGOTTEN_AFTER: Final = 600.0
"""Seconds without a request after which a pool is gone: ten resync periods."""
PHASE_BOUNDS: Final = tuple(30.0 * 2**step for step in range(10))
"""From 30 seconds to about 4 hours."""
HOOK_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
BYTE_BOUNDS: Final = tuple(1024.0 * 4**step for step in range(9))
"""From 1 KiB to 64 MiB."""
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class _Pool:
    """What is known of one pool: counted since it was first heard of, shown as of its last pass."""

    heard: float
    figures: Figures = field(default_factory=Figures)
    reason: Reason | None = None
    completed: Counter[str] = field(default_factory=Counter)
    fallbacks: int = 0
    durations: dict[str, Distribution] = field(
        default_factory=lambda: {phase: Distribution(PHASE_BOUNDS) for phase in (SURGE_WAIT, DRAIN)}
    )

    def add(self, announce: Announce) -> None:
        if announce.outcome == FALLBACK:
            self.fallbacks += 1
        elif announce.outcome:
            self.completed[announce.outcome] += 1
        for phase, span in announce.durations:
            self.durations[phase].observe(span.total_seconds())


class Metrics(Collector):
    """All numbers of one process; ``clock`` (seconds, monotonic) tells how long a pool is silent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._pools: dict[str, _Pool] = {}
        self._hook_durations: dict[Labels, Distribution] = {}
        self._hook_bytes: dict[Labels, Distribution] = {}
        self._calls: Counter[Labels] = Counter()
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def add(self, collector: Collector) -> None:
        """Show another collector's metrics, too."""
        self._registry.register(collector)

    # --- What happens. ---

    def heard(self, pool: str) -> None:
        """A request for this pool came in, whatever becomes of it."""
        with self._lock:
            self._known(pool)

    def show(self, pool: str, figures: Figures, reason: Reason) -> None:
        """Set the pool's gauges, as of a pass that is over."""
        with self._lock:
            known = self._known(pool)
            known.figures, known.reason = figures, reason

    def count(self, pool: str, decision: Decision, counted: AbstractSet[str]) -> None:
        """Count what a pass told of, as far as its Events are ``counted`` (their names)."""
        events = [write for write in decision.writes if isinstance(write, Announce)]
        events += decision.announcements
        with self._lock:
            known = self._known(pool)
            for event in events:
                if event.name in counted:
                    known.add(event)

    def answered(self, hook: str, status: int, seconds: float, size: int | None) -> None:
        """A hook's request was answered; ``size`` in bytes, None when no body was taken."""
        with self._lock:
            spread_of(self._hook_durations, (hook, str(status)), HOOK_BOUNDS).observe(seconds)
            if size is not None:
                spread_of(self._hook_bytes, (hook,), BYTE_BOUNDS).observe(size)

    def called(self, verb: str, resource: str, result: str) -> None:
        """One call to the API server came to its end."""
        with self._lock:
            self._calls[verb, resource, result] += 1

    def _known(self, pool: str) -> _Pool:
        now = self._clock()
        if pool not in self._pools:
            self._forget(now)
            self._pools[pool] = _Pool(now)
        known = self._pools[pool]
        known.heard = now
        return known

    def _forget(self, now: float) -> None:
        self._pools = {
            name: pool for name, pool in self._pools.items() if now - pool.heard < FORGOTTEN_AFTER
        }

    # --- What is shown. ---

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    @override
    def collect(self) -> Iterator[Family]:
        """What prometheus_client asks for at each scrape."""
        with self._lock:
            self._forget(self._clock())
            families = [
                *_gauge_families(self._pools),
                *_counted_families(self._pools),
                histogram_of(names.HOOK_DURATION, self._hook_durations),
                histogram_of(names.HOOK_BYTES, self._hook_bytes),
                counter_of(names.API_CALLS, self._calls),
            ]
        yield from families


def _gauge_families(pools: dict[str, _Pool]) -> Iterator[Family]:
    shown = {name: gauges(pool.figures) for name, pool in pools.items() if pool.reason is not None}
    for metric in names.POOL_GAUGES:
        family = GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels)
        for name, values in shown.items():
            family.add_metric((name,), values[metric])
        yield family
    family = GaugeMetricFamily(names.REASON.name, names.REASON.meaning, labels=names.REASON.labels)
    for name, pool in pools.items():
        if pool.reason is not None:
            family.add_metric((name, pool.reason.value), 1.0)
    yield family


def _counted_families(pools: dict[str, _Pool]) -> Iterator[Family]:
    # A series that begins with its first count has no increase: all begin with zero.
    outcomes = (SUCCESS, FAILURE, EXPIRED)
    ends: dict[Labels, int] = {
        (name, end): pool.completed[end] for name, pool in pools.items() for end in outcomes
    }
    yield counter_of(names.COMPLETED, ends)
    yield counter_of(names.FALLBACKS, {(name,): pool.fallbacks for name, pool in pools.items()})
    spans: dict[Labels, Distribution] = {
        (name, phase): spread
        for name, pool in pools.items()
        for phase, spread in pool.durations.items()
    }
    yield histogram_of(names.DURATION, spans)
