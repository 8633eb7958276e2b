"""One scenario on the real control plane, from its stage to what is kept of it.

Leaves to :mod:`.test_scenarios` which are played when, and to :mod:`.stage` what a stage is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

from hooks.verdict.history import Change
from tests.e2e.played import keep
from tests.e2e.stage import RealStage
from tests.scenarios.registry import Beside, Scenario

OnStage: TypeAlias = Callable[[Scenario, str], AbstractContextManager[RealStage]]
"""A scenario, and what its stage is called, to that stage."""


def is_crowded(scenario: Scenario) -> bool:
    """Whether others play beside it."""
    return scenario.beside is not Beside.NOTHING


def play(on_stage: OnStage, scenario: Scenario) -> None:
    """Play one, and clear the stage whatever became of it; its line goes into ``scenarios.log``."""
    begun, outcome = time.monotonic(), "passed"
    with on_stage(scenario, scenario.name) as stage:
        try:
            scenario.play(stage)
        except BaseException as error:
            outcome = f"failed ({error!r})"
            raise
        finally:
            keep(scenario.name, stage.changes, passed=outcome == "passed")
            stage.clear()
            with (stage.plane.logs / "scenarios.log").open("a") as log:
                log.write(f"{scenario.name} {outcome} after {time.monotonic() - begun:.0f} s\n")


def play_again(on_stage: OnStage, scenario: Scenario, name: str) -> Sequence[Change]:
    """Play one once more, under another name, and return its history."""
    with on_stage(scenario, name) as stage:
        try:
            scenario.play(stage)
            return tuple(stage.changes)
        finally:
            stage.clear()
