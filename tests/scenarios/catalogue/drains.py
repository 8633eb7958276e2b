"""What holds a drain up."""

from __future__ import annotations

from tests.scenarios.manifests import Shape
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Stage
from tests.scenarios.story import begin

BLOCKED = 15.0
"""Seconds for which the budget refuses the drain."""
HELD = "noderotation-e2e/held"


@scenario()
def a_budget_blocks(stage: Stage) -> None:
    """A PodDisruptionBudget holds the drain up, and nothing else is deleted meanwhile."""
    story = begin(stage)
    world = story.world
    world.require_available(world.size)
    story.govern()
    story.ask()
    first = story.deleted().name
    story.stays("the drain is held up", lambda: world.is_deleting(first), BLOCKED)
    assert [one for one in world.claims() if world.is_deleting(one)] == [first]
    world.require_available(world.size - 1)
    story.finish()

    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


@scenario(takes=200)
def a_drain_gets_stuck(stage: Stage) -> None:
    """A drain that takes longer than its bound keeps the gate shut, and ends well all the same."""
    story = begin(stage, Shape(grace="10s"))
    for claim in story.originals:
        finalizers = story.world.claim(claim)["metadata"]["finalizers"]
        story.stage.api.patch("NodeClaim", claim, {"metadata": {"finalizers": [*finalizers, HELD]}})
    story.govern()
    story.ask()
    first = story.deleted().name
    stage.pause(140.0)  # terminationGracePeriod and two minutes
    story.stays("the gate is held", lambda: not story.unanchored() and story.no_placeholder())
    for claim in story.originals:
        kept = story.world.claim(claim)["metadata"]["finalizers"]
        without = {"metadata": {"finalizers": [one for one in kept if one != HELD]}}
        story.stage.api.patch("NodeClaim", claim, without)
    story.finish()

    assert story.complaints() == []
    assert story.reports()[0] == ("RotationCompleted", first)
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]
