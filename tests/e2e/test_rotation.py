"""A pool of five real Karpenter nodes is rotated node by node, judged by the whole history."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from hooks.verdict.checks import complaints
from hooks.verdict.rotations import medians, rotations
from tests.e2e.audit import asked, calls, excesses, granted
from tests.e2e.control_plane import ControlPlane
from tests.e2e.history import Recorder
from tests.e2e.installation import SERVICE_ACCOUNT, Installation
from tests.e2e.story import Story
from tests.e2e.world import World

BLOCKED = 12.0
"""Seconds for which the budget refuses each drain: longer than any batch of Karpenter's, which brings
nodes, and until shortly before its eighth attempt, as the ninth comes ten seconds later."""
OUR_SHARE = 0.5
"""Seconds that hook and controller together may take of a rotation (median), on processors that have
nothing else to do; where work waits for them, as much more as there is of it."""


@pytest.fixture(scope="module")
def worlds(plane: ControlPlane, request: pytest.FixtureRequest) -> dict[str, World]:
    """A settled world for each test of this run; they are made at the same time."""
    tests = [one for one in request.session.items if one.path == request.path]
    made = {pool_name(one): World(plane.api, pool_name(one)) for one in tests}
    with ThreadPoolExecutor(len(made)) as makers:
        list(makers.map(World.create, made.values()))
    return made


@pytest.fixture
def world(worlds: dict[str, World], request: pytest.FixtureRequest) -> Iterator[World]:
    """The one whose pool is called after the test."""
    made = worlds[pool_name(request.node)]
    yield made
    made.remove()


def pool_name(test: pytest.Item) -> str:
    return test.name.removeprefix("test_").replace("_", "-")


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
    assert (
        excesses(asked(plane.audit_log), granted(installation.manifests(), SERVICE_ACCOUNT)) == []
    )
    assert after == before, "a steady state writes nothing"
    measured = medians(rotations(changes, world.name))
    say(f"five nodes, drains unhindered; {measured.describe()}")
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    assert measured.own < OUR_SHARE * max(1.0, load), f"{load:.1f} programs a processor"


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
