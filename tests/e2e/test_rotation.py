"""A pool of five real Karpenter nodes is rotated node by node, judged by the whole history."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.e2e.api import wait_until
from tests.e2e.audit import calls, excesses
from tests.e2e.checks import complaints
from tests.e2e.control_plane import ControlPlane
from tests.e2e.history import Change, Recorder
from tests.e2e.installation import Installation
from tests.e2e.interposer import Interposer
from tests.e2e.processes import Child
from tests.e2e.questions import STATE, annotation
from tests.e2e.rotations import medians, rotations
from tests.e2e.story import LONGEST_ROTATION, Story
from tests.e2e.world import World

BLOCKED = 15.0
"""Seconds for which the budget refuses each drain."""
OUR_SHARE = 0.5
"""Seconds that hook and controller together may take of a rotation (median)."""


@pytest.fixture
def world(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[World]:
    """A settled world whose pool is called after the test."""
    made = World(plane.api, pool_name(request))
    made.create()
    yield made
    made.remove()


@pytest.fixture
def small_world(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[World]:
    """The same with two nodes."""
    made = World(plane.api, pool_name(request), stateful=1, stateless=1)
    made.create()
    yield made
    made.remove()


def pool_name(request: pytest.FixtureRequest) -> str:
    name: str = request.node.name
    return name.removeprefix("test_").replace("_", "-")


def test_each_node_after_the_other(
    plane: ControlPlane,
    installation: Installation,
    history: Recorder,
    world: World,
    say: Callable[[str], None],
) -> None:
    story, originals = Story(world, history), world.claims()
    with installation.hooks():
        installation.govern(world.name)
        story.begin()
        changes = story.end(originals)
        before = [one for one in calls(plane.audit_log) if one.writes]
        time.sleep(3)
        after = [one for one in calls(plane.audit_log) if one.writes]

    assert complaints(changes, world.name) == []
    assert len(rotations(changes, world.name)) == 5
    assert excesses(calls(plane.audit_log)) == []
    assert after == before, "a steady state writes nothing"
    measured = medians(rotations(changes, world.name))
    say(f"five nodes, drains unhindered; {measured.describe()}")
    assert measured.own < OUR_SHARE, f"the machine's load was {os.getloadavg()}"


def test_a_budget_blocks_each_drain(
    installation: Installation,
    history: Recorder,
    world: World,
    say: Callable[[str], None],
) -> None:
    story, originals = Story(world, history), world.claims()
    with installation.hooks():
        installation.govern(world.name)
        story.begin()
        story.block_each_drain(BLOCKED)
        changes = story.end(originals)

    assert complaints(changes, world.name) == []
    found = rotations(changes, world.name)
    drains = [one.gone.at - one.deleted.at for one in found if one.gone and one.deleted]
    assert len(drains) == 5
    assert min(drains) >= BLOCKED, "each drain was really blocked"
    say(f"five nodes, each drain blocked for {BLOCKED:.0f} s; {medians(found).describe()}")


def test_a_successor_lost_at_the_last_moment(
    plane: ControlPlane, installation: Installation, history: Recorder, small_world: World
) -> None:
    """Between the two writes of the pass that deletes, the placeholder is removed."""
    world = small_world
    story, originals = Story(world, history), world.claims()
    taken: list[str] = []

    def lose(claim: str) -> None:
        if not taken:
            taken.append(claim)
            plane.api.delete("Pod", f"noderotation-surge-{claim}", "node-rotation-system")

    with Interposer(plane, lose) as between, installation.hooks(server=between.url):
        installation.govern(world.name)
        story.begin()
        changes = story.end(originals)

    assert complaints(changes, world.name) == []
    assert states(changes, taken[0]) == ["pending", "draining", "pending", "draining"]


def test_a_crash_between_the_two_writes(
    plane: ControlPlane, installation: Installation, history: Recorder, small_world: World
) -> None:
    """The hook server dies after it has taken the candidate, and before it deletes it."""
    world = small_world
    story, originals = Story(world, history), world.claims()
    taken: list[str] = []
    servers: list[Child] = []

    def crash(claim: str) -> None:
        taken.append(claim)
        servers[0].kill()

    installation.govern(world.name)
    story.begin()
    with Interposer(plane, crash) as between, installation.hooks(server=between.url) as server:
        servers.append(server)
        wait_until("the hook server is dead", lambda: not server.running, LONGEST_ROTATION)
    unfinished = plane.api.get("NodeClaim", taken[0])
    with installation.hooks():
        changes = story.end(originals)

    assert "deletionTimestamp" not in unfinished["metadata"]
    assert complaints(changes, world.name) == []
    assert states(changes, taken[0]) == ["pending", "draining"]


def states(changes: Sequence[Change], claim: str) -> list[str]:
    """The states through which the claim's rotation went."""
    seen: list[str] = []
    for change in changes:
        state = annotation(change.object, STATE) if change.name == claim else None
        if state and seen[-1:] != [state]:
            seen.append(state)
    return seen
