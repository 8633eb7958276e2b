"""The story of signals on the embedded cluster: as it is told, and with each call made twice."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.scenarios.crowded import Crowded
from tests.scenarios.interposer import Rule, Sent
from tests.scenarios.signals.embedded import EmbeddedListeningStage
from tests.scenarios.signals.hearing import SYNC
from tests.scenarios.signals.telling import tell, tell_and_repeat


def test_it_leaves_its_signals_and_repeating_it_leaves_no_others() -> None:
    with EmbeddedListeningStage("signals") as stage:
        tell_and_repeat(stage)


def test_a_node_too_many_changes_no_signal() -> None:
    with Crowded("signals") as stage, stage.losing_each_race():
        tell(stage)
        assert len(stage.brought) == 2


def first_answer_lost(again: Callable[[Sent], None]) -> Rule:
    return Rule("POST", SYNC, before=again, times=sys.maxsize)


def second_answer_lost(again: Callable[[Sent], None]) -> Rule:
    return Rule("POST", SYNC, after=again, times=sys.maxsize)


@pytest.mark.parametrize("rule", [first_answer_lost, second_answer_lost])
def test_each_call_made_twice_leaves_the_same_signals(
    rule: Callable[[Callable[[Sent], None]], Rule],
) -> None:
    answered: list[int] = []
    with EmbeddedListeningStage(
        "signals", rule(lambda call: answered.append(stage.send(call)))
    ) as stage:
        tell(stage)
    assert set(answered) == {200}
