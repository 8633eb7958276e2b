"""The catalogue of scenarios on the embedded cluster: each in a second or two, minutes of its own time."""

from __future__ import annotations

import pytest

from tests.scenarios.crowded import Crowded
from tests.scenarios.embedded_stage import EmbeddedStage
from tests.scenarios.registry import Scenario, scenarios


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda one: one.name)
def test_it_plays_as_told(scenario: Scenario) -> None:
    with EmbeddedStage(scenario.name) as stage:
        scenario.play(stage)


@pytest.mark.parametrize(
    "name", ["a-freeze-in-each-phase", "a-window-closes-in-flight", "one-claim-is-due"]
)
def test_it_plays_as_told_also_where_each_race_is_lost(name: str) -> None:
    (scenario,) = (one for one in scenarios() if one.name == name)
    with Crowded(name) as stage, stage.losing_each_race():
        scenario.play(stage)
        assert stage.brought
