"""What happens to a rotation when the word of its policy changes."""

from __future__ import annotations

from tests.scenarios.manifests import Shape
from tests.scenarios.policies import ALWAYS_OPEN, closed_window, policy
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Stage
from tests.scenarios.story import Story, begin

ONE_NODE = Shape(stateful=0)


@scenario()
def a_policy_is_deleted(stage: Stage) -> None:
    """Without its policy a surge is taken back; with a new one it begins anew."""
    story = _pending(stage)
    stage.api.delete("RotationPolicy", story.pool)
    _is_taken_back(story)
    story.govern()
    _ends_well(story)


@scenario()
def a_policy_goes_while_draining(stage: Stage) -> None:
    """A drain goes on without its policy and is counted; nothing else starts."""
    story = begin(stage)
    world = story.world
    world.require_available(world.size)
    story.govern()
    story.ask()
    first = story.deleted().name
    stage.api.delete("RotationPolicy", story.pool)
    story.stays("the gate is held", lambda: not story.unanchored())
    world.require_available(world.size - 1)
    story.reported("RotationCompleted", first)
    story.cleared(after=story.gone(first).revision)
    world.await_settled()
    story.stays("nothing starts", story.unanchored)
    story.govern()
    story.finish()

    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


@scenario()
def a_second_policy_ties(stage: Stage) -> None:
    """Two policies with equal claims govern nobody: the surge is taken back until one goes."""
    story = _pending(stage)
    twin = f"{story.pool}-twin"
    stage.api.apply_objects(policy(story.pool, name=twin))
    _is_taken_back(story)
    stage.api.delete("RotationPolicy", twin)
    _ends_well(story)


@scenario()
def a_policy_becomes_invalid(stage: Stage) -> None:
    """A policy that can't be read still wins by its selector: no weaker one takes over."""
    story = _pending(stage)
    strict = f"{story.pool}-strict"
    labels = {"matchLabels": {"pool": story.pool, "rotated": "yes"}}
    broken = {**ALWAYS_OPEN, "timezone": "Mars/Olympus"}
    stage.api.apply_objects(
        policy(story.pool, name=strict, nodePoolSelector=labels, maintenanceWindows=[broken])
    )
    _is_taken_back(story)
    whole = {"spec": {"maintenanceWindows": [ALWAYS_OPEN]}}
    stage.api.patch("RotationPolicy", strict, whole)
    _ends_well(story)


@scenario(takes=90)
def a_policy_is_edited(stage: Stage) -> None:
    """A shorter readyTimeout holds for the attempt in flight, which fails at once."""
    story = begin(stage, ONE_NODE)
    (claim,) = story.originals
    story.world.register_after("60m")
    story.govern(surge={"retryBackoff": "1h"})
    story.ask()
    story.launched()
    story.amend(surge={"readyTimeout": "1s"})
    story.failed(claim)
    story.world.register_after("0s")
    story.amend(surge={"readyTimeout": "5m", "retryBackoff": "1s"})
    story.finish()

    reaped = story.brought()[:-1]
    assert story.complaints(excused=[f"{one} was deleted" for one in reaped]) == []
    assert story.states(claim) == ["pending", "failed", "pending", "draining"]
    assert story.reports() == [("RotationFailed", claim), ("RotationCompleted", claim)]


@scenario(takes=80)
def a_window_closes_in_flight(stage: Stage) -> None:
    """A rotation goes on past the end of its window, and the next one waits for a new window."""
    story = begin(stage)
    story.govern()
    story.ask()
    first = story.anchor()
    story.placeholder()
    story.amend(maintenanceWindows=[closed_window(stage.now())])
    story.cleared(after=story.gone(first).revision)
    story.world.await_settled()
    story.stays("nothing starts", story.unanchored)
    story.amend(maintenanceWindows=[ALWAYS_OPEN])
    story.finish()

    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


def _pending(stage: Stage) -> Story:
    """A pool of one node whose successor is on its way."""
    story = begin(stage, ONE_NODE)
    story.world.register_after("15s")
    story.govern()
    story.ask()
    story.state("pending")
    story.launched()
    return story


def _is_taken_back(story: Story) -> None:
    (claim,) = story.originals
    story.cleared(after=story.anchored().revision)
    story.stage.wait_until("the placeholder is gone", story.no_placeholder)
    story.stays("nothing starts", story.unanchored)
    assert not story.world.node_of(claim)["spec"].get("unschedulable")
    assert story.kept(claim)()
    story.up()


def _ends_well(story: Story) -> None:
    (claim,) = story.originals
    story.finish()
    assert story.complaints() == []
    assert story.states(claim) == ["pending", "", "pending", "draining"]
    assert story.reports() == [("RotationCompleted", claim)]
