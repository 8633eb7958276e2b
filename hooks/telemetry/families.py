"""Numbers as the families that prometheus_client writes out.

Owns the translation alone. Leaves the numbers to :mod:`hooks.telemetry.metrics` and
:mod:`hooks.telemetry.drains`, and the names to :mod:`hooks.names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family

from hooks import names
from hooks.telemetry.distribution import Distribution

Labels: TypeAlias = tuple[str, ...]


def spread_of(
    by_labels: dict[Labels, Distribution], labels: Labels, bounds: tuple[float, ...]
) -> Distribution:
    """The numbers of these labels, begun with none when they are asked for first."""
    if labels not in by_labels:
        by_labels[labels] = Distribution(bounds)
    return by_labels[labels]


def counter_of(metric: names.Metric, values: Mapping[Labels, int]) -> Family:
    """A counter with a value for each combination of labels."""
    family = CounterMetricFamily(metric.name, metric.meaning, labels=metric.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def histogram_of(metric: names.Metric, values: dict[Labels, Distribution]) -> Family:
    """A histogram with the numbers of each combination of labels."""
    family = HistogramMetricFamily(metric.name, metric.meaning, labels=metric.labels)
    for labels, spread in sorted(values.items(), key=lambda entry: entry[0]):
        family.add_metric(labels, spread.buckets(), spread.total)
    return family
