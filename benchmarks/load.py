"""Open-loop load: each call is due at a moment of its own, whatever became of those before it.

Owns the clock of a run and how its latencies are summed up. A call's latency counts from when it
was due, not from when a thread got round to it: a server (or a client) that stalls delays all the
calls behind the stall, and each of them shows it. Leaves what is called to the benchmarks.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

from typing_extensions import override

Answer = TypeVar("Answer")

AT_ONCE: Final = 256
"""Calls under way at the most: at 50 a second, five seconds' worth, which is when a webhook is given up."""


@dataclass(frozen=True, slots=True)
class Timed(Generic[Answer]):
    """One call's answer, and its latency in seconds from when it was due."""

    latency: float
    answer: Answer


@dataclass(frozen=True, slots=True)
class Latencies:
    """Some quantiles of a run, in milliseconds."""

    count: int
    p50: float
    p99: float
    worst: float

    @classmethod
    def of(cls, run: Sequence[Timed[Answer]]) -> Latencies:
        """Sum up a run; quantiles are values that were measured, none is interpolated."""
        ordered = sorted(1000 * one.latency for one in run)
        return cls(len(ordered), _quantile(ordered, 0.5), _quantile(ordered, 0.99), ordered[-1])

    @override
    def __str__(self) -> str:
        """One line for a table."""
        return (
            f"p50 {self.p50:6.1f} ms  p99 {self.p99:6.1f} ms  worst {self.worst:6.1f} ms"
            f"  ({self.count} calls)"
        )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[math.ceil(share * len(ordered)) - 1]


def run(calls: Sequence[Callable[[], Answer]], a_second: float) -> list[Timed[Answer]]:
    """Make all calls, evenly spaced, and return their answers in this order.

    A call that raises ends the run with its error once those under way are through: what counts as
    an answer, an error status for instance, is the call's to say.
    """
    # A full collection of all that pytest has loaded would stop the client for 0.1 s.
    gc.collect()
    gc.freeze()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        begin = time.monotonic()
        under_way = []
        for number, call in enumerate(calls):
            due = begin + number / a_second
            time.sleep(max(0.0, due - time.monotonic()))
            under_way.append(threads.submit(partial(_timed, call, due)))
        return [one.result() for one in under_way]


def _timed(call: Callable[[], Answer], due: float) -> Timed[Answer]:
    answer = call()
    return Timed(time.monotonic() - due, answer)
