"""The software is taken off the cluster."""

from __future__ import annotations

from hooks.verdict.course import all_replaced, marks_go_with_the_anchor
from hooks.verdict.questions import PREFIX
from tests.scenarios.registry import Beside, scenario
from tests.scenarios.stage import Object, Stage
from tests.scenarios.story import begin

CONTROLLER = "node-rotation"
A_SWEEP = (marks_go_with_the_anchor,)
"""What doesn't hold while one goes on: it clears the anchors first."""


@scenario(beside=Beside.NOTHING, takes=80)
def uninstalled_in_flight(stage: Stage) -> None:
    """With a rotation in flight the controller is removed and the cluster swept: nothing is left."""
    story = begin(stage)
    world, api = story.world, stage.api
    world.register_after("20s")
    story.govern()
    story.ask()
    story.launched()
    refused = stage.command("sweep")
    assert (refused.status, "still exists" in refused.output) == (1, True)
    controller = api.get("DecoratorController", CONTROLLER)
    api.delete("DecoratorController", CONTROLLER)
    try:
        swept = stage.command("sweep")
        assert swept.status == 0, swept.output
        story.rest()
        assert story.complaints(without=[*A_SWEEP, all_replaced]) == []
        assert [story.kept(one)() for one in story.originals] == [True, True]
        assert story.reports() == []
        assert [key for key in world.pool()["metadata"]["annotations"] if PREFIX in key] == []
    finally:
        api.apply_objects(_as_written(controller))
    story.up()
    world.register_after("0s")
    # First the one whose successor is there already: the other one's may have to be of another zone.
    begun = story.rotations()[0].claim
    (other,) = set(story.originals) - {begun}
    reinstalled = story.latest()
    story.ask_for(begun)
    story.anchored(begun, after=reinstalled)
    story.ask_for(other)
    story.finish()

    assert story.complaints(without=A_SWEEP) == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


def _as_written(stored: Object) -> Object:
    """What a user would apply to get this object."""
    metadata = {
        key: stored["metadata"][key]
        for key in ("name", "labels", "annotations")
        if key in stored["metadata"]
    }
    return {
        "apiVersion": stored["apiVersion"],
        "kind": stored["kind"],
        "metadata": metadata,
        "spec": stored["spec"],
    }
