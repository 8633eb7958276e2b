"""What a scenario may rely on when it waits for the steps of a rotation."""

from __future__ import annotations

from tests.scenarios.embedded_stage import EmbeddedStage
from tests.scenarios.manifests import NAMESPACE, Shape
from tests.scenarios.story import Story, begin
from tests.scenarios.world import World


def test_the_turns_go_by_age_before_they_go_by_name() -> None:
    with EmbeddedStage("older") as stage:
        story = _with_a_younger_node(stage)
        turns = story.in_turn()
        assert turns == story.originals[::-1], "the younger one's name comes first"
        story.govern()
        story.ask()
        story.finish()
        assert [one.claim for one in story.rotations()] == turns


def _with_a_younger_node(stage: EmbeddedStage) -> Story:
    begin(stage, Shape(stateful=0))
    stage.api.patch("Deployment", stage.name, {"spec": {"replicas": 2}}, NAMESPACE)
    world = World(stage, stage.name, Shape(stateful=0, stateless=2))
    world.await_settled()
    return Story(stage, world)
