"""Whole NodePools: two at once, one that goes, one that has nothing to do."""

from __future__ import annotations

import sys

from hooks.verdict.course import all_replaced, cordoned_first, one_at_a_time, successor_first
from hooks.verdict.deadlines import before_the_deadline
from hooks.verdict.protection import protected_meanwhile
from hooks.verdict.questions import POOL_LABEL, PREFIX
from tests.scenarios.interposer import Rule
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Object, Stage
from tests.scenarios.story import Story, begin

ALL_GO_AT_ONCE = (
    successor_first,
    cordoned_first,
    one_at_a_time,
    protected_meanwhile,
    before_the_deadline,
    all_replaced,
)
"""What nobody promises when a NodePool is deleted: Karpenter takes all its nodes with it."""


@scenario(takes=80)
def two_pools_at_once(stage: Stage) -> None:
    """Two NodePools are rotated at the same time, each one node after the other."""
    stories = [begin(stage, suffix=suffix) for suffix in ("-one", "-two")]
    for story in stories:
        story.govern()
    for story in stories:
        story.ask()
    for story in stories:
        story.finish()

    one, two = ([r for r in story.rotations() if r.cleared] for story in stories)
    assert any(
        a.anchored.revision < b.cleared.revision and b.anchored.revision < a.cleared.revision
        for a in one
        for b in two
        if a.cleared and b.cleared
    ), "some of their rotations overlap"
    for story in stories:
        assert story.complaints() == []
        assert sorted(story.reports()) == [("RotationCompleted", c) for c in story.originals]


@scenario(takes=80)
def a_pool_is_deleted(stage: Stage) -> None:
    """A NodePool that is being deleted loses all our marks; its placeholder goes with it."""
    story = begin(stage)
    world, api = story.world, stage.api
    world.register_after("20s")
    world.require_available(world.size)
    story.govern()
    story.ask()
    story.placeholder()
    api.delete("NodePool", story.pool, foreground=True)
    stage.wait_until("no Node is marked", lambda: _marked(story) == [])
    world.require_available(0)
    stage.wait_until("the NodePool is gone", lambda: not api.find_one("NodePool", story.pool))
    stage.wait_until("the placeholder is gone", story.no_placeholder)
    stage.wait_until("its nodes are gone", lambda: world.claims() == world.ready_nodes() == [])

    assert story.complaints(without=ALL_GO_AT_ONCE) == []
    assert story.reports() == []


@scenario(own_server=True, takes=150)
def an_idle_pool(stage: Stage) -> None:
    """After a rotation, minutes go by without a single write, a status or an Event."""
    story = begin(stage)
    story.govern()
    story.ask_for(story.originals[0])
    story.finish(story.originals[:1])
    policy = stage.api.get("RotationPolicy", story.pool)
    assert policy["status"]["conditions"], "somebody keeps the status"
    idles(story, stage.idle)

    assert story.complaints(without=[all_replaced]) == []  # only one of them was to be rotated
    assert story.reports() == [("RotationCompleted", story.originals[0])]


def idles(story: Story, seconds: float) -> None:
    """Let time go by, and see that the hook server writes nothing and nothing of the pool changes.

    Whatever it writes counts, so it has no other pools: an Event's name doesn't tell whom it is about.
    """
    before = _state(story)
    writes = [Rule(method, ".*", times=sys.maxsize) for method in ("POST", "PATCH", "DELETE")]
    with story.stage.intercept(*writes):
        story.stage.pause(seconds)
    assert [hit for one in writes for hit in one.hits] == []
    assert _state(story) == before


def _marked(story: Story) -> list[str]:
    nodes = story.stage.api.find("Node", labelSelector=f"karpenter.sh/nodepool={story.pool}")
    return [
        f"{key} on {node['metadata']['name']}"
        for node in nodes
        for key in {**node["metadata"]["annotations"], **node["metadata"]["labels"]}
        if key.startswith(PREFIX)
    ]


def _state(story: Story) -> list[Object]:
    """Each object that we ever write: as they are, but of Nodes what we may write.

    Their own status is written again and again by whoever keeps them alive. The policy's is ours.
    """
    api, selector = story.stage.api, f"{POOL_LABEL}={story.pool}"
    policies = [one for one in api.find("RotationPolicy") if one["metadata"]["name"] == story.pool]
    things = [*policies, story.world.pool(), *api.find("NodeClaim", labelSelector=selector)]
    nodes = api.find("Node", labelSelector=selector)
    return [
        *({"kept": one["metadata"]["name"], "as": _version(one)} for one in things),
        *(
            {
                "spec": one["spec"],
                **{key: one["metadata"].get(key) for key in ("name", "labels", "annotations")},
            }
            for one in nodes
        ),
    ]


def _version(thing: Object) -> str:
    version: str = thing["metadata"]["resourceVersion"]
    return version
