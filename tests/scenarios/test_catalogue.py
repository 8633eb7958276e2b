"""The catalogue is whole: every scenario can be told apart, and is told."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.scenarios.registry import Scenario, scenarios

LONGEST_NAME = 45
"""A NodeClaim's name goes on after that of its pool, and is a label's value."""


def test_no_name_begins_another_one() -> None:
    """What belongs to a scenario is known by the beginning of its name."""
    names = [one.name for one in scenarios()]
    assert [pair for pair in permutations(names, 2) if pair[0].startswith(pair[1])] == []


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda one: one.name)
def test_it_is_told(scenario: Scenario) -> None:
    assert scenario.sentence.endswith(".")
    assert len(scenario.name) <= LONGEST_NAME
