"""Telling the story of signals on a stage, and holding what was heard against what is expected.

Owns the comparison, and what repeating a call must not change. Source: issue 5, *Done when*.
"""

from __future__ import annotations

from dataclasses import replace

from tests.scenarios.signals.expected import HEARD, MOMENTS
from tests.scenarios.signals.plot import Heard, Signals
from tests.scenarios.signals.retelling import POOL_LEVEL
from tests.scenarios.stage import ListeningStage

AFTERMATH = 5.0
"""Seconds that are watched after all calls were made once more."""
LEVELS = (POOL_LEVEL, "placeholder created", "placeholder unschedulable", "drain stuck")
"""All lines that tell of a level: a new process knows nothing of those of the last one."""


def tell(stage: ListeningStage) -> Signals:
    """Play the story; all of it is compared."""
    signals = Signals(stage)
    signals.play()
    assert signals.moments == MOMENTS
    assert signals.heard() == HEARD
    return signals


def tell_and_repeat(stage: ListeningStage) -> None:
    """Play it, then make each call of a sync hook once more, and again after a restart."""
    signals = tell(stage)
    objects, calls = signals.objects(), stage.syncs()
    assert len(calls) > len(HEARD[0].lines)

    # An old call may bring back an old level of the pool.
    assert {stage.send(call) for call in calls} == {200}
    stage.pause(AFTERMATH)
    assert without(signals.heard(), POOL_LEVEL) == without(HEARD, POOL_LEVEL)
    assert signals.objects() == objects

    stage.hooks.kill()
    stage.hooks.start()
    assert {stage.send(call) for call in calls} == {200}
    stage.pause(AFTERMATH)
    uncounted = tuple(replace(one, counts={}) for one in HEARD)
    assert without(signals.heard(), *LEVELS) == without(uncounted, *LEVELS)
    assert signals.objects() == objects


def without(heard: tuple[Heard, ...], *left_out: str) -> tuple[Heard, ...]:
    """What was heard, but for the lines of these names."""
    names = tuple(f": {name} " for name in left_out)
    return tuple(
        replace(one, lines=[line for line in one.lines if not any(name in line for name in names)])
        for one in heard
    )
