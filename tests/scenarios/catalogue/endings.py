"""Deadlines: Karpenter's own expiry, and the fallback that comes before it."""

from __future__ import annotations

from datetime import datetime

from hooks.verdict.course import (
    all_replaced,
    cordoned_first,
    one_new_node_each,
    successor_first,
)
from hooks.verdict.deadlines import before_the_deadline
from hooks.verdict.protection import protected_meanwhile
from tests.scenarios.interposer import Sent
from tests.scenarios.manifests import Shape
from tests.scenarios.policies import ALWAYS_OPEN, closed_window
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Object, Stage
from tests.scenarios.story import Story, begin

LIFETIME = 100.0
EXPIRES_SOON = Shape(stateful=0, lifetime=f"{LIFETIME:.0f}s")
NEAR_ITS_DEADLINE = Shape(lifetime="10m", grace="10s")
ONE_NEAR_ITS_DEADLINE = Shape(stateful=0, lifetime="10m", grace="10s")
FALLBACK: Object = {"readyTimeout": "9m", "forcefulFallback": {"enabled": True}}
"""With the 10 s and two minutes more, a surge can't be sure to end before the deadline."""
WITHOUT_A_SURGE = (successor_first, cordoned_first, protected_meanwhile)
"""What a fallback doesn't promise: it has no successor, and nothing is done to the node before."""
EXPIRED = (all_replaced, before_the_deadline)
"""What can't hold where Karpenter's expiry is the scenario: a node goes that wasn't rotated."""


@scenario(takes=150)
def it_expires_while_pending(stage: Stage) -> None:
    """Karpenter expires the candidate before its successor is up: counted as expired, and undone."""
    story = begin(stage, EXPIRES_SOON)
    (claim,) = story.originals
    story.world.live_for("720h")
    born = datetime.fromisoformat(story.world.claim(claim)["metadata"]["creationTimestamp"])
    left = LIFETIME - (stage.now() - born).total_seconds()
    story.world.register_after(f"{left + 15:.0f}s")
    story.govern()
    story.ask()
    story.reported("RotationExpired", claim)
    story.finish()

    assert story.complaints(without=EXPIRED, excused=[f"{claim} was deleted"]) == []
    assert story.states(claim) == ["pending", "expired"]
    assert story.reports() == [("RotationExpired", claim)]


@scenario(takes=140)
def it_expires_while_failed(stage: Stage) -> None:
    """Karpenter expires a node whose attempt has failed: nobody rotates it, and nothing is left."""
    story = begin(stage, EXPIRES_SOON)
    (claim,) = story.originals
    story.world.live_for("720h")
    story.world.register_after("60m")
    story.govern(surge={"retryBackoff": "1h"})
    story.ask()
    story.launched()
    assert stage.command("abort", story.pool).status == 0
    story.reported("RotationFailed", claim)
    story.world.register_after("0s")
    story.gone(claim)
    story.finish()

    deletes = [f"{one} was deleted" for one in (claim, *story.brought())]
    # The rotation was over, its marks taken back, long before the node went.
    without = [*EXPIRED, one_new_node_each, protected_meanwhile]
    assert story.complaints(without=without, excused=deletes) == []
    assert story.states(claim) == ["pending", "failed"]
    assert story.reports() == [("RotationFailed", claim)]


@scenario()
def near_the_deadline(stage: Stage) -> None:
    """Nodes too near to their deadline are deleted one by one without a successor."""
    story = begin(stage, NEAR_ITS_DEADLINE)
    _allow_a_fallback(story)
    story.finish()

    assert story.complaints(without=WITHOUT_A_SURGE) == []
    assert [story.states(one) for one in story.originals] == [["draining"], ["draining"]]
    assert not [c for c in story.changes if c.name.startswith(f"noderotation-surge-{story.pool}-")]
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


@scenario(own_server=True, takes=80)
def a_fallback_loses_its_window(stage: Stage) -> None:
    """The window closes between the anchor and the take: the fallback is withdrawn."""
    _withdrawn(stage, withheld=True, states=["draining"])


@scenario(own_server=True, takes=80)
def a_taken_fallback_loses_its_window(stage: Stage) -> None:
    """The window closes between the take and the delete: the fallback is withdrawn."""
    _withdrawn(stage, withheld=False, states=["draining", "", "draining"])


def _withdrawn(stage: Stage, *, withheld: bool, states: list[str]) -> None:
    story = begin(stage, ONE_NEAR_ITS_DEADLINE)
    (claim,) = story.originals
    dead: list[str] = []

    def kill(sent: Sent) -> None:
        stage.hooks.kill()
        dead.append(sent.name)

    taking = story.patch('"draining"', claim, withheld=withheld, after=kill)
    if withheld:
        taking.before, taking.after = kill, None
    with stage.intercept(taking):
        _allow_a_fallback(story)
        stage.wait_until("the hook server is dead", lambda: bool(dead))
    begun = story.anchored(claim)
    story.amend(maintenanceWindows=[closed_window(stage.now())])
    stage.hooks.start()
    story.cleared(after=begun.revision)
    story.stays("the candidate is kept", story.kept(claim))
    assert story.reports() == []
    story.amend(maintenanceWindows=[ALWAYS_OPEN])
    story.finish()

    assert story.complaints(without=WITHOUT_A_SURGE) == []
    assert story.states(claim) == states
    assert story.reports() == [("RotationCompleted", claim)]


def _allow_a_fallback(story: Story) -> None:
    """The nodes that are there have ten minutes, and are due at once; future ones have a month."""
    story.world.live_for("720h")
    story.govern(surge=FALLBACK)
