"""The hook server dies, its answers get lost, the API server is away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from hooks.verdict.course import (
    all_replaced,
    marks_go_with_the_anchor,
    one_new_node_each,
    placeholder_leaves_with_the_delete,
)
from tests.scenarios.interposer import Action, Rule, Sent
from tests.scenarios.manifests import Shape
from tests.scenarios.registry import Beside, scenario
from tests.scenarios.stage import Stage
from tests.scenarios.story import Story, begin

Spot: TypeAlias = Callable[[Story, str, Action], Rule]
"""The rule that kills at one spot in the rotation of a claim."""
DOWN = 0.5
"""Seconds for which the hook server stays dead."""


@scenario(own_server=True, takes=150)
def killed_while_the_surge_waits(stage: Stage) -> None:
    """The hook server is killed after each write of a surge; each node is rotated once."""
    _killed_at(
        stage,
        (
            lambda s, claim, kill: s.patch('"pending"', claim, after=kill),
            lambda s, _, kill: s.node_patch("unschedulable", after=kill),
            lambda s, claim, kill: s.patch("surge-claim", claim, after=kill),
        ),
    )


@scenario(own_server=True, takes=150)
def killed_around_the_delete(stage: Stage) -> None:
    """The hook server is killed around the two writes that delete; each node is rotated once."""
    _killed_at(
        stage,
        (
            lambda s, claim, kill: s.patch('"draining"', claim, before=kill, withheld=True),
            lambda s, claim, kill: s.patch('"draining"', claim, after=kill),
            lambda s, _, kill: s.deletion(after=kill),
        ),
    )


@scenario(own_server=True, takes=120)
def killed_at_the_end(stage: Stage) -> None:
    """The hook server is killed after each write that ends a rotation; each is counted once."""
    _killed_at(
        stage,
        (
            lambda s, _, kill: s.node_patch("remove", after=kill),
            lambda s, claim, kill: s.event(f"NodeClaim {claim} was rotated", after=kill),
        ),
    )


@scenario(own_server=True, takes=110)
def killed_while_rolling_back(stage: Stage) -> None:
    """The hook server is killed after two writes of a failing attempt, which fails only once."""
    story = begin(stage, Shape(stateful=0))
    (claim,) = story.originals
    story.world.register_after("60m")
    story.govern(surge={"readyTimeout": "20s", "retryBackoff": "1h"})
    story.ask()
    _kill_at(stage, lambda kill: story.deletion(after=kill))
    _kill_at(stage, lambda kill: story.patch('"failed"', claim, after=kill))
    story.failed(claim)
    story.world.register_after("0s")
    story.amend(surge={"readyTimeout": "5m", "retryBackoff": "1s"})
    story.finish()

    reaped = story.brought()[:-1]
    assert story.complaints(excused=[f"{one} was deleted" for one in reaped]) == []
    assert story.states(claim) == ["pending", "failed", "pending", "draining"]
    assert story.reports() == [("RotationFailed", claim), ("RotationCompleted", claim)]


@scenario()
def answers_get_lost(stage: Stage) -> None:
    """The hook server doesn't hear that its take and its delete have landed."""
    story = begin(stage)
    first, second = story.in_turn()
    story.govern()
    with stage.intercept(
        story.patch('"draining"', first, lose_the_answer=True),
        story.patch('"pending"', second, lose_the_answer=True),
        story.deletion(lose_the_answer=True),
    ):
        story.ask()
        story.finish()

    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


@scenario(own_server=True, takes=60)
def an_abandoned_rotation(stage: Stage) -> None:
    """An anchor is removed by hand while nobody looks: what it left behind is swept at the start."""
    story = begin(stage, Shape(stateful=0))
    (claim,) = story.originals
    story.world.register_after("60m")
    story.govern()
    story.ask()
    story.launched()
    stage.hooks.kill()
    stage.api.delete("RotationPolicy", story.pool)
    story.world.annotate_pool(active_rotation=None, active_rotation_uid=None)
    stage.hooks.start()
    stage.wait_until("the placeholder is gone", story.no_placeholder)
    story.state("failed", claim)
    story.rest()

    assert not story.world.node_of(claim)["spec"].get("unschedulable")
    assert story.reports() == []
    kept = [f"on NodeClaim {claim}"]
    without = [all_replaced, marks_go_with_the_anchor]
    assert story.complaints(without=without, excused=kept) == []


@scenario(beside=Beside.NOTHING, takes=80)
def the_api_server_restarts(stage: Stage) -> None:
    """The API server is away for some seconds, once before a delete and once after it."""
    story = begin(stage)
    world = story.world
    story.hold_with_a_successor()
    stage.restart_api_server()
    world.require_available(world.size)
    story.thaw()
    story.deleted()
    stage.wait_until("the placeholder is gone", story.no_placeholder)
    stage.restart_api_server()
    world.require_available(world.size - 1)
    story.finish()

    # While everybody finds their way back, Karpenter may see old news, and Metacontroller be late.
    late = (one_new_node_each, placeholder_leaves_with_the_delete)
    assert story.complaints(without=late, excused=["the pool grew"]) == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


def _killed_at(stage: Stage, spots: Sequence[Spot]) -> None:
    story = begin(stage, Shape(stateful=1, stateless=len(spots) - 1))
    story.govern()
    for claim, spot in zip(story.originals, spots, strict=True):
        story.ask_for(claim)
        _kill_at(stage, partial(spot, story, claim))
        story.finish([claim])

    assert story.complaints() == []
    assert story.reports() == [("RotationCompleted", one) for one in story.originals]


def _kill_at(stage: Stage, rule: Callable[[Action], Rule]) -> None:
    """Let the rule kill the hook server, and start it again after a while."""
    dead: list[str] = []

    def kill(sent: Sent) -> None:
        stage.hooks.kill()
        dead.append(sent.name)

    with stage.intercept(rule(kill)):
        stage.wait_until("the hook server is dead", lambda: bool(dead))
    stage.pause(DOWN)
    stage.hooks.start()
