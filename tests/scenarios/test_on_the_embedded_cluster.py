"""The catalogue of scenarios on the embedded cluster: each in a second or two, minutes of its own time."""

from __future__ import annotations

import pytest

from tests.scenarios.embedded_stage import EmbeddedStage
from tests.scenarios.registry import Scenario, scenarios


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda one: one.name)
def test_it_plays_as_told(scenario: Scenario) -> None:
    with EmbeddedStage(scenario.name) as stage:
        scenario.play(stage)
