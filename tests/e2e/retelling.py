"""Scenarios once more on the embedded cluster, in processes of their own.

Owns what runs there; leaves the comparison to :mod:`.test_same_plot`.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from hooks.verdict.history import Change
from tests.scenarios.embedded_stage import EmbeddedStage
from tests.scenarios.registry import scenarios

Retold: TypeAlias = Mapping[str, Future[Sequence[Change]]]
"""Scenario's name to what becomes its history."""

LAST = 19
"""The niceness of who gets what the others leave."""


@contextmanager
def retelling(names: Iterable[str]) -> Iterator[Retold]:
    """Begin all of them, one on each processor at the same time."""
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), spawning, initializer=_step_back) as processes:
        yield {name: processes.submit(retell, name) for name in names}


def retold_as(name: str, stage_name: str) -> Sequence[Change]:
    """One of them on a stage of another name."""
    with ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), initializer=_step_back
    ) as process:
        return process.submit(retell, name, stage_name).result()


def retell(name: str, stage_name: str = "") -> Sequence[Change]:
    """Play the scenario of this name, and return its history."""
    (scenario,) = (one for one in scenarios() if one.name == name)
    with EmbeddedStage(stage_name or name) as stage:
        scenario.play(stage)
        return tuple(stage.changes)


def _step_back() -> None:
    """Let what the hook servers log go nowhere, and the control plane have the processors first."""
    os.nice(LAST)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
