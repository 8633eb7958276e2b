"""The promises of design/rotation.md section 6, on the real hook, over random walks.

S1-S4 and C1 are watched at every step of a walk, L1 and L2 at its end. The walks are the same on
every run; ``NODEROTATION_WALKS`` asks for another number of random ones (hypothesis prints how to
repeat a failing one).
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks import names
from tests.support.environment import HARMFUL, HELPFUL, Around
from tests.support.folders import Stored, load, names_of_folders, run
from tests.support.metamodel import GROUPS, Cluster
from tests.support.scene import LATE, idle
from tests.support.walk import Walk
from tests.support.world import NOW, World, node, nodeclaim, policy, workload

WALKS = int(os.environ.get("NODEROTATION_WALKS", "0"))
PASSES = (Walk.stale, Walk.lost, Walk.repeated, Walk.dies, Walk.fails, Walk.meanwhile,
          Walk.overlapped)  # fmt: skip
ENDINGS = ("suspended", "frozen for ever", "not governed", "pool deleted")
BEGINNINGS = (NOW, "2026-11-29T21:58:00Z")
"""In the middle of the window, and just before it closes."""
ROUNDS = 60
"""Passes to come to rest, 20 s apart: readyTimeout is 5m, and each drain ends at once."""

_many = st.integers(0, 31)
steps = st.one_of(
    st.tuples(st.just(Walk.fresh), st.just(0)),
    st.tuples(st.just(Walk.fresh), st.just(0)),
    st.tuples(st.sampled_from(HELPFUL), st.integers(0, 7)),
    st.tuples(st.sampled_from(HELPFUL), st.integers(0, 7)),
    st.tuples(st.just(Walk.stale), st.integers(0, 95)),
    st.tuples(st.sampled_from(PASSES), _many),
    st.tuples(st.sampled_from(HARMFUL), st.integers(0, 7)),
)
walks = settings(
    max_examples=WALKS or 70,
    derandomize=not WALKS,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


def _world(*, late: bool) -> World:
    """Claims that are due, one whose Node gets a fallback, and one that isn't due."""
    world = idle(forcefulFallback={"enabled": True})
    world.claims.append(nodeclaim("other", created="2026-11-16T21:00:00Z"))
    world.nodes.append(node("other"))
    world.pods.append(workload("web-2", "other"))
    if late:
        world.claims.append(nodeclaim("late", created=LATE))
        world.nodes.append(node("late", created=LATE))
    return world


def _walk(*, late: bool, begins: str = NOW) -> Walk:
    world = _world(late=late)
    cluster = Cluster(world.live(), {"api": world.policies[0]})
    cluster.now = begins
    return Walk(cluster)


def _take(walk: Walk, step: Callable[[Any, int], None], at: int) -> None:
    step(walk if step in {Walk.fresh, *PASSES} else walk.around, at)
    walk.protected()


def _end(walk: Walk, ending: str) -> None:
    cluster = walk.cluster
    match ending:
        case "suspended":
            cluster.policies["api"] = policy(suspend=True)
            cluster.touch(cluster.policies["api"])
        case "frozen for ever":
            cluster.notes()[names.FREEZE] = "for ever"
            cluster.touch(cluster.pool)
        case "not governed":
            cluster.policies.clear()
        case _:
            cluster.pool["metadata"]["deletionTimestamp"] = cluster.now
            cluster.touch(cluster.pool)


@walks
@given(
    late=st.booleans(),
    begins=st.sampled_from(BEGINNINGS),
    path=st.lists(steps, min_size=30, max_size=70),
    ending=st.sampled_from(ENDINGS),
    helped=st.booleans(),
)
def test_the_promises_hold_on_a_walk(
    late: bool,
    begins: str,
    path: list[tuple[Callable[[Any, int], None], int]],
    ending: str,
    helped: bool,
) -> None:
    walk = _walk(late=late, begins=begins)
    for step, at in path:
        _take(walk, step, at)
    _end(walk, ending)
    walk.settle(ROUNDS, helped=helped)
    _at_rest(walk, ending)


def _at_rest(walk: Walk, ending: str) -> None:
    # Anchor and placeholder go with a NodePool that is deleted; the marks on Nodes have to go first.
    left = [what for what in walk.left() if ending != "pool deleted" or what.startswith("Node")]
    assert left == [], "L1: not at rest"
    cluster = walk.cluster
    written = len(cluster.writes)
    cluster.reads.clear()
    walk.fresh()
    assert cluster.writes[written:] == [], "L2: a steady state writes"
    if ending != "pool deleted":
        assert cluster.reads == [], "L2: a steady state asks"


HAPPY = (
    (Walk.fresh, 0), (Walk.fresh, 0), (Around.bring, 0), (Around.bind, 0), (Around.start, 0),
    (Walk.fresh, 0), (Walk.fresh, 0), (Walk.fresh, 0),
)  # fmt: skip


def test_a_walk_without_trouble_rotates() -> None:
    """So that the promises aren't kept by never doing anything."""
    walk = _walk(late=False)
    for step, at in HAPPY:
        _take(walk, step, at)
    assert list(walk.deleted.values()) == ["old"]
    walk.around.finish(0)
    walk.fresh()
    assert names.ACTIVE_ROTATION not in walk.cluster.notes()
    assert names.LAST_ROTATION_AT in walk.cluster.notes()
    assert [kind for _, kind, _ in walk.told] == ["terminal"]


@pytest.mark.parametrize("after", range(len(HAPPY) + 1))
@pytest.mark.parametrize("nth", range(3))
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("lost", [False, True])
def test_a_death_at_any_write_of_the_happy_path_changes_nothing(
    after: int, nth: int, at: int, lost: bool
) -> None:
    walk = _walk(late=False)
    for step, number in HAPPY[:after]:
        _take(walk, step, number)
    walk.dies(2 * nth + at)
    if lost:
        walk.around.preempt(0)
        walk.around.bury(0)
    for _ in range(40):
        for help_along in HELPFUL:
            help_along(walk.around, 0)
        walk.fresh()
        walk.around.tick(1)
        if names.LAST_ROTATION_AT in walk.cluster.notes():
            break
    assert "old" in walk.deleted.values()
    assert sum(walk.told.values()) <= 1


EVENTS: tuple[tuple[Callable[[Around, int], None], int], ...] = (
    (Around.freeze, 1), (Around.abort, 1), (Around.edit, 0), (Around.preempt, 0),
)  # fmt: skip
LAGS = ((1, {"nodeclaims"}), (2, {"nodeclaims"}), (1, {"nodeclaims", "pods"}),
        (1, {"nodepools"}), (1, set(GROUPS)))  # fmt: skip
"""How many changes ago which groups of a request are shown."""


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("after", range(len(HAPPY) + 1))
def test_one_pass_that_lags_behind_one_event(late: bool, after: int) -> None:
    """At any point of a rotation, with every lag: what was deleted lingers, and nothing doubles."""
    for event, number in EVENTS:
        for depth, groups in LAGS:
            walk = _walk(late=late)
            for step, at in HAPPY[:after]:
                _take(walk, step, at)
            event(walk.around, number)
            walk.lag(dict.fromkeys(groups, depth))
            walk.around.freeze(0)
            walk.around.edit(1)
            for _ in range(5):
                for step, at in HAPPY[1:6]:
                    _take(walk, step, at)


@pytest.mark.parametrize("passes", range(3))
@pytest.mark.parametrize(("event", "number"), [
    (Around.freeze, 1), (Around.tick, 5), (Around.edit, 0), (Around.edit, 2), (Around.edit, 5),
    (Around.edit, 6),
])  # fmt: skip
def test_a_fallback_that_may_no_longer_deletes_nothing(
    passes: int, event: Callable[[Around, int], None], number: int
) -> None:
    """Two passes make a fallback; whatever forbids it before the second one prevents the delete."""
    walk = _walk(late=True, begins=BEGINNINGS[1])
    for _ in range(passes):
        walk.fresh()
    event(walk.around, number)
    walk.fresh()
    walk.fresh()
    assert list(walk.deleted.values()) == (["late"] if passes == 2 else [])


@pytest.mark.parametrize("lived_on", [False, True])
def test_a_node_on_which_somebody_lives_is_not_reaped(lived_on: bool) -> None:
    walk = _walk(late=False)
    for step, at in (*HAPPY[:2], (Around.tick, 0), (Around.bring, 0), (Around.bind, 2)):
        _take(walk, step, at)
    if lived_on:
        walk.around.land(0)
    walk.fresh()
    walk.around.tick(4)
    walk.fresh()
    walk.around.bury(0)
    walk.fresh()
    brought = walk.cluster.objects["nodeclaims"]["new-1"]
    assert ("deletionTimestamp" in brought["metadata"]) is not lived_on
    assert [kind for _, kind, _ in walk.told] == ["failure"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", names_of_folders()[::7])
def test_the_order_of_a_request_does_not_matter(name: str, seed: int) -> None:
    stored = load(name)
    shuffled = _shuffled(stored["request"], random.Random(seed))
    other = Stored(stored.name, stored.why, stored.now, stored.parts | {"request": shuffled})
    assert run(other).body == run(stored).body


def _shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return json.loads(json.dumps({key: _shuffled(value[key], order) for key in keys}))
    return value
