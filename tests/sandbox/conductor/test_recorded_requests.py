"""The conductor's requests are those of a real Metacontroller, whole, for the same world."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.memory_api import MemoryApi
from tests.sandbox.conductor.world import APPS, EVENTS, NODES, PODS, FakeHook, World

FIXTURES = Path(__file__).parents[2] / "fixtures" / "metacontroller"
KARPENTER = "karpenter.sh/v1"
SERVED = (
    PODS,
    NODES,
    APPS,
    EVENTS,
    Resource(KARPENTER, "nodepools", "NodePool", namespaced=False, has_status=True),
    Resource(KARPENTER, "nodeclaims", "NodeClaim", namespaced=False, has_status=True),
    Resource(
        "noderotation.io/v1alpha1",
        "rotationpolicies",
        "RotationPolicy",
        namespaced=False,
        has_status=True,
    ),
)


def recorded(name: str) -> list[Obj]:
    lines = (FIXTURES / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


ROTATION = recorded("rotation.jsonl")
DEPLOYMENT = recorded("deployment.jsonl")
POLICY = recorded("policy-status.jsonl")
ALL_POOLS = {"relatedResources": [{"apiVersion": KARPENTER, "resource": "nodepools"}]}
CUSTOMIZE, *SYNCS = ROTATION


def bystanders(request: Obj) -> list[Obj]:
    """Objects of the same kinds that no rule and no owner reference selects."""
    found = []
    for group in (request["attachments"], request["related"]):
        for kind, objects in group.items():
            for obj in objects.values():
                other = copy.deepcopy(obj)
                other["metadata"] |= {"name": f"bystander-{kind.lower()}", "labels": {}}
                other["metadata"].pop("ownerReferences", None)
                found.append(other)
    return [other for other in found if other["kind"] != "RotationPolicy"]


def world_of(request: Obj) -> World:
    """The world that a request shows, with the controller as it was applied."""
    api = MemoryApi(*SERVED)
    groups = (*request["attachments"].values(), *request["related"].values())
    for obj in (request["object"], *bystanders(request)):
        api.place(obj)
    for group in groups:
        for obj in group.values():
            api.place(obj)
    applied = {key: value for key, value in request["controller"].items() if key != "status"}
    return World(runs=applied, customize=FakeHook(CUSTOMIZE["response"]), api=api)


@pytest.mark.parametrize(
    "line",
    [*SYNCS, *DEPLOYMENT],
    ids=[
        "idle",
        "surge",
        "two frozen nodes",
        "claim gone",
        *(f"deployment {number} {line['step']}" for number, line in enumerate(DEPLOYMENT)),
    ],
)
def test_the_sync_request_of_a_recorded_world_is_the_recorded_request(line: Obj) -> None:
    world = world_of(line["request"])
    world.settle_with_related()
    assert world.sync_hook.requests[0] == line["request"]


def test_the_recorded_answer_takes_the_tracking_from_the_deployment() -> None:
    cleared = DEPLOYMENT[-1]
    key = "graceful-drain.stonal.com/restarted-at"
    assert cleared["response"] == {"annotations": {key: None}}
    world = world_of(cleared["request"])
    world.sync_hook.answers = [cleared["response"]]
    world.settle_with_related()
    before = cleared["request"]["object"]["metadata"]["annotations"]
    after = world.api.get(APPS, "default", "single")["metadata"]["annotations"]
    assert after == {name: value for name, value in before.items() if name != key}
    world.settle_with_related()
    assert len(world.sync_hook.requests) == 1, "it is no parent any more"


def test_the_customize_request_of_a_recorded_world_is_the_recorded_request() -> None:
    world = world_of(SYNCS[0]["request"])
    world.settle_with_related()
    assert world.customize_hook.requests == [CUSTOMIZE["request"]]


def test_the_recorded_answer_creates_the_pod_that_metacontroller_created() -> None:
    surge = SYNCS[1]
    [(key, there)] = surge["request"]["attachments"]["Pod.v1"].items()
    before = copy.deepcopy(surge["request"])
    del before["attachments"]["Pod.v1"][key]
    world = world_of(before)
    world.sync_hook.answers = [surge["response"]]
    world.settle_with_related()
    created = world.api.get(PODS, *key.split("/"))["metadata"]
    recorded_pod = there["metadata"]
    assert created["annotations"] == recorded_pod["annotations"]
    assert created["labels"] == recorded_pod["labels"]
    assert created["ownerReferences"] == recorded_pod["ownerReferences"]


@pytest.mark.parametrize("line", POLICY, ids=["rotation done", "a node gone"])
def test_the_sync_request_of_a_recorded_composite_is_the_recorded_request(line: Obj) -> None:
    request = line["request"]
    api = MemoryApi(*SERVED)
    for obj in (request["parent"], *request["related"]["NodePool.karpenter.sh/v1"].values()):
        api.place(obj)
    applied = {key: value for key, value in request["controller"].items() if key != "status"}
    world = World(runs=applied, customize=FakeHook(ALL_POOLS), api=api)
    world.sync_hook.answers = [{"status": request["parent"]["status"], "children": []}]
    world.settle_with_related()
    assert world.sync_hook.requests[0] == request
    assert world.api.writes == [], "the status stands there already"
