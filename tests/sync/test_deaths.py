"""Wherever a process dies on the way, the Events of its rotation are all there in the end, each once."""

from __future__ import annotations

from collections import Counter

import pytest

from hooks import names
from tests.support.environment import HELPFUL, Around
from tests.support.metamodel import Cluster
from tests.support.scene import LATE, idle
from tests.support.walk import Walk
from tests.support.world import World, nodeclaim

PASSES = 7
"""From the anchor to the end."""


def _world(*, late: bool) -> World:
    world = idle(forcefulFallback={"enabled": True})
    if late:
        world.claims[0] = nodeclaim("old", created=LATE)
    return world


def _rotate(walk: Walk) -> None:
    """Passes, with all that the rest of the cluster does meanwhile, until the rotation is over."""
    for _ in range(40):
        walk.fresh()
        if names.LAST_ROTATION_AT in walk.cluster.notes():
            return
        for step in HELPFUL:
            step(walk.around, 0)
        walk.around.tick(1)
    raise AssertionError("it did not come to its end")


@pytest.mark.parametrize(("late", "begins"), [(False, "RotationStarted"),
                                              (True, "ForcefulFallback")])  # fmt: skip
@pytest.mark.parametrize("passes", range(PASSES))
@pytest.mark.parametrize("nth", range(4))
@pytest.mark.parametrize("landed", [False, True])
def test_each_event_of_a_rotation_is_there_once(
    late: bool, begins: str, passes: int, nth: int, landed: bool
) -> None:
    world = _world(late=late)
    walk = Walk(Cluster(world.live(), {"api": world.policies[0]}))
    for _ in range(passes):
        walk.fresh()
        for step in (Around.bring, Around.bind, Around.start):
            step(walk.around, 0)
    walk.dies(2 * nth + (not landed))
    if names.LAST_ROTATION_AT not in walk.cluster.notes():
        _rotate(walk)
    reasons = Counter(event["reason"] for event in walk.cluster.events.values())
    assert reasons == {begins: 1, "RotationCompleted": 1}
