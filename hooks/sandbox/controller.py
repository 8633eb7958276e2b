"""What runs beside the API server: the shape that all controllers of the embedded cluster have.

Owns the contract between a controller and the loop in :mod:`.embedded`, and the pace at which the
world around Kubernetes reacts. A controller keeps no truth of its own: it reads the store, and what
it remembers (a timer, a batch) may be lost without harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


class Controller(Protocol):
    """One controller, moved on step by step."""

    def step(self) -> bool:
        """Do what is to be done now, once; tell whether anything was written."""
        ...

    def next_due(self) -> datetime | None:
        """When to be asked again although nothing has changed; None for never."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How long machines take; ``spread`` is the greatest part by which each may vary."""

    launch: timedelta = timedelta(seconds=3)
    """From a NodeClaim to its Launched instance."""
    register: timedelta = timedelta(seconds=20)
    """From the instance to its Node."""
    node_ready: timedelta = timedelta(seconds=5)
    """From the Node to its Ready condition."""
    pod_start: timedelta = timedelta(seconds=3)
    """From a bound Pod to Running and Ready, unless an annotation of its own says otherwise."""
    pod_stop: timedelta = timedelta(seconds=2)
    """From a Pod's deletion to its end, at most its grace period."""
    instance_stop: timedelta = timedelta(seconds=5)
    """From the empty Node to the end of its instance."""
    spread: float = 0.2
