"""The conductor on a store, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.conductor.stepped import SteppedConductor
from hooks.sandbox.objects import Obj
from hooks.sandbox.store import kinds
from hooks.sandbox.store.store import ObjectStore
from tests.sandbox.conductor.loopback import Received, Sent, serving

START = datetime(2026, 1, 1, tzinfo=UTC)
POOL: Obj = {"metadata": {"name": "api"}, "spec": {}}


def controller(url: str, **spec: object) -> Obj:
    hook = {"version": "v2", "webhook": {"url": url}}
    return {
        "metadata": {"name": "toy"},
        "spec": {
            "resources": [{"apiVersion": "karpenter.sh/v1", "resource": "nodepools"}],
            "attachments": [
                {"apiVersion": "v1", "resource": "pods", "updateStrategy": {"method": "OnDelete"}}
            ],
            "hooks": {"sync": hook},
            "resyncPeriodSeconds": 60,
            **spec,
        },
    }


@dataclass
class Stage:
    """A store, its conductor, and a hook that says ``answer`` and remembers what it was asked."""

    url: str
    requests: list[Obj]
    answers: list[Sent]
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))

    def __post_init__(self) -> None:
        self.store = ObjectStore(self.clock.now)
        self.conductor = SteppedConductor(self.store, self.clock)

    def settle(self) -> int:
        before = self.conductor.syncs
        while self.conductor.step():
            pass
        return self.conductor.syncs - before

    def jump(self) -> float:
        due = self.conductor.next_due()
        assert due is not None
        self.clock.advance_to(due)
        return self.clock.seconds()


@pytest.fixture
def stage() -> Iterator[Stage]:
    requests: list[Obj] = []
    answers: list[Sent] = []

    def answer(received: Received) -> Sent:
        requests.append(json.loads(received.body))
        return answers[0]

    with serving(answer) as url:
        made = Stage(url, requests, answers)
        yield made
        made.conductor.close()


def test_a_parent_is_synced_when_it_comes_and_when_it_changes(stage: Stage) -> None:
    stage.answers.append(Sent(body={}))
    stage.store.create(kinds.DECORATORCONTROLLERS, controller(stage.url))
    assert stage.settle() == 0
    stage.store.create(kinds.NODEPOOLS, POOL)
    assert stage.settle() == 1
    stage.store.modify(kinds.NODEPOOLS, "", "api", lambda pool: pool["spec"].update(weight=1))
    assert stage.settle() == 1
    assert [request["object"]["spec"].get("weight") for request in stage.requests] == [None, 1]


def test_an_answer_is_applied_and_its_own_write_brings_one_more_sync(stage: Stage) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"},
           "spec": {"containers": [{"name": "a", "image": "a"}]}}  # fmt: skip
    stage.answers.append(Sent(body={"annotations": {"seen": "yes"}, "attachments": [pod]}))
    stage.store.create(kinds.DECORATORCONTROLLERS, controller(stage.url))
    stage.store.create(kinds.NODEPOOLS, POOL)
    syncs = stage.settle()
    assert stage.store.get(kinds.NODEPOOLS, "", "api")["metadata"]["annotations"] == {"seen": "yes"}
    assert [one["metadata"]["name"] for one in stage.store.all(kinds.PODS)] == ["a"]
    assert syncs == len(stage.requests) == 2
    assert stage.settle() == 0


def test_it_comes_back_when_the_answer_asks_for_it(stage: Stage) -> None:
    stage.answers.append(Sent(body={"resyncAfterSeconds": 7}))
    stage.store.create(kinds.DECORATORCONTROLLERS, controller(stage.url, resyncPeriodSeconds=600))
    stage.store.create(kinds.NODEPOOLS, POOL)
    assert stage.settle() == 1
    assert stage.jump() == pytest.approx(7, abs=0.001)
    assert stage.settle() == 1


def test_the_resync_period_tells_every_parent_again(stage: Stage) -> None:
    stage.answers.append(Sent(body={}))
    stage.store.create(kinds.DECORATORCONTROLLERS, controller(stage.url))
    stage.store.create(kinds.NODEPOOLS, POOL)
    stage.settle()
    assert stage.jump() == pytest.approx(60, abs=0.001)
    assert stage.settle() == 1


def test_a_failing_hook_is_asked_again_after_a_backoff_that_doubles(stage: Stage) -> None:
    stage.answers.append(Sent(status=503))
    stage.store.create(kinds.DECORATORCONTROLLERS, controller(stage.url))
    stage.store.create(kinds.NODEPOOLS, POOL)
    times = []
    for _ in range(4):
        assert stage.settle() == 1
        times.append(stage.clock.seconds())
        stage.jump()
    assert times == pytest.approx([0, 0.005, 0.015, 0.035], abs=0.001)
    events = [event for event in stage.store.all(kinds.EVENTS) if event["reason"] == "SyncError"]
    assert events


def test_a_controller_that_cannot_run_says_so_and_one_that_goes_stops(stage: Stage) -> None:
    broken = controller(stage.url, hooks={})
    stage.store.create(kinds.DECORATORCONTROLLERS, broken)
    stage.store.create(kinds.NODEPOOLS, POOL)
    assert stage.settle() == 0
    assert [event["reason"] for event in stage.store.all(kinds.EVENTS)] == ["CreateError"]
    stage.answers.append(Sent(body={}))
    stage.store.update(kinds.DECORATORCONTROLLERS, controller(stage.url))
    assert stage.settle() == 1
    stage.store.delete(kinds.DECORATORCONTROLLERS, "", "toy")
    stage.clock.advance(timedelta(hours=1))
    assert stage.settle() == 0
    assert stage.conductor.next_due() is None


def test_a_composite_controller_keeps_the_status_of_its_parents(stage: Stage) -> None:
    stage.answers.append(Sent(body={"status": {"x": 1}, "children": []}))
    decorator = controller(stage.url)
    spec = {
        "parentResource": {"apiVersion": "karpenter.sh/v1", "resource": "nodepools"},
        "generateSelector": True,
        "hooks": decorator["spec"]["hooks"],
    }
    composite = decorator | {"spec": spec}
    stage.store.create(kinds.COMPOSITECONTROLLERS, composite)
    stage.store.create(kinds.NODEPOOLS, POOL)
    assert stage.settle() == 2
    status = stage.store.get(kinds.NODEPOOLS, "", "api")["status"]
    assert status == {"x": 1, "observedGeneration": 1}
    assert [sorted(request) for request in stage.requests] == [
        ["children", "controller", "finalizing", "parent", "related"]
    ] * 2
    stage.jump()
    assert stage.settle() == 1, "the resync period"
    stage.store.delete(kinds.COMPOSITECONTROLLERS, "", "toy")
    stage.store.update(
        kinds.NODEPOOLS, stage.store.get(kinds.NODEPOOLS, "", "api") | {"spec": {"limits": {}}}
    )
    assert stage.settle() == 0
