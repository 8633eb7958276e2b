"""When the webhook's certificate ends, as a metric.

Owns that number's place. Leaves its name to :mod:`hooks.names`, and reading it to
:mod:`hooks.server.expiry`. Source: docs/observability.md *Metrics*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from typing_extensions import override

from hooks import names


@dataclass(frozen=True, slots=True)
class CertificateEnd(Collector):
    """``not_after`` tells the end in seconds since 1970, None when there is nothing to tell."""

    not_after: Callable[[], float | None]

    @override
    def collect(self) -> Iterator[Family]:
        """What prometheus_client asks for at each scrape."""
        metric = names.CERTIFICATE_NOT_AFTER
        family = GaugeMetricFamily(metric.name, metric.meaning)
        end = self.not_after()
        if end is not None:
            family.add_metric((), end)
        yield family
