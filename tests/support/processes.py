"""What a process of the hook remembers and has counted, so that several add up to one account.

Leaves to :mod:`tests.support.mishaps` when a process begins and dies.
"""

from __future__ import annotations

from collections import Counter

from typing_extensions import override

from hooks.cluster.herald import Announced
from hooks.telemetry.metrics import Metrics
from tests.support.live import Json


class Heard(Announced):
    """The memory of a process, which can be handed on."""

    def __init__(self, before: Heard | None) -> None:
        super().__init__()
        self.remembered: list[str] = []
        self.noted: list[str] = []
        if before is not None:
            for name in before.remembered:
                self.remember(name)
            for name in before.noted:
                self.count(name)

    @override
    def remember(self, name: str) -> None:
        self.remembered.append(name)
        super().remember(name)

    @override
    def count(self, name: str) -> bool:
        self.noted.append(name)
        return super().count(name)


def counters(metrics: Metrics) -> Counter[str]:
    """What metrics have counted: each counter and histogram that isn't zero."""
    found: Counter[str] = Counter()
    for family in metrics.collect():
        if family.type in {"counter", "histogram"}:
            for sample in family.samples:
                if sample.name.endswith(("_total", "_count")) and sample.value:
                    labels = (v for k, v in sample.labels.items() if k != "nodepool")
                    found[" ".join((sample.name, *labels))] += int(sample.value)
    return found


def heading(line: Json) -> str:
    """What a line is counted as: a node's turn comes with an Event of its own in each mode."""
    event: str = line["event"]
    return f"{event} {line['mode']}" if event == "candidate selected" else event
