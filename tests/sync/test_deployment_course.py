"""A whole drain as bytes: evictions and syncs, two replicas of each, on one cluster in memory.

What the Deployment controller, the scheduler and a kubelet do in between is put there by hand.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from hooks import names
from hooks.admission.eviction import EvictionReview
from hooks.cluster.errors import ClusterError
from hooks.settings import read_settings
from hooks.sync.deployment import DeploymentSync
from tests.protocol.recorded import body
from tests.support.live import POD, Json
from tests.support.singleton import (
    NEW,
    NEW_POD,
    NOW,
    OLD_POD,
    cluster,
    deployment,
    evicted,
    put,
    replica_set,
    review,
    sync_request,
)
from tests.support.singletonfolders import shown
from tests.support.singletonlive import DEPLOYMENT, REPLICASET, SingletonLive

KEY = "default/single"
SETTINGS = read_settings({"NODEROTATION_TOKEN_FILE": "token"})
COMPLETED = 'gracefuldrain_rollouts_total{outcome="completed"} 1.0'


class Course:
    """The cluster, a clock, and two replicas of either server."""

    def __init__(self) -> None:
        self.live = SingletonLive(cluster(evicted(), replica_set(), deployment()))
        self.now = datetime.fromisoformat(NOW)
        self.webhooks = [EvictionReview(SETTINGS, self.live.within, self.clock) for _ in range(2)]
        self.syncs = [DeploymentSync(SETTINGS, self.live.within, self.clock) for _ in range(2)]

    def clock(self) -> datetime:
        return self.now

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)

    @property
    def deployment(self) -> Json:
        return self.live.objects[DEPLOYMENT][KEY]

    def mark(self, key: str) -> str | None:
        found: str | None = self.deployment["metadata"]["annotations"].get(key)
        return found

    def change(self, path: str, value: object) -> None:
        self.live.objects[DEPLOYMENT][KEY] = put(self.deployment, path, value)
        self.live.touch(self.deployment)

    def is_allowed(self, pod: str = OLD_POD, replica: int = 0) -> bool:
        answer = json.loads(self.webhooks[replica](body(review(pod)), deadline=0.0))
        allowed: bool = answer["response"]["allowed"]
        return allowed

    def answer(self, parent: Json | None = None, replica: int = 0) -> Json:
        """A sync, of what a cache shows; the answer isn't applied."""
        raw = body(sync_request(parent or self.deployment))
        answered: Json = json.loads(self.syncs[replica](raw, deadline=0.0))
        return answered

    def sync(self, replica: int = 0) -> None:
        """A sync whose answer is applied, as Metacontroller does."""
        for key, value in self.answer(replica=replica).get("annotations", {}).items():
            assert value is None
            notes = dict(self.deployment["metadata"]["annotations"])
            del notes[key]
            self.change("metadata.annotations", notes)

    def surge(self) -> None:
        """The Deployment controller sees the new template: a Pod of each revision."""
        self.live.objects[REPLICASET][f"default/single-{NEW}"] = replica_set(NEW)
        self.live.objects[POD][f"default/{NEW_POD}"] = evicted(NEW_POD, ready=False)
        notes = {**self.deployment["metadata"]["annotations"], names.REVISION: "2"}
        self.change("metadata.annotations", notes)
        self.report(replicas=2, readyReplicas=1, updatedReplicas=1, unavailableReplicas=1)

    def both_ready(self) -> None:
        self.live.objects[POD][f"default/{NEW_POD}"] = evicted(NEW_POD)
        self.report(replicas=2, readyReplicas=2, updatedReplicas=1)

    def one_left(self) -> None:
        del self.live.objects[POD][f"default/{OLD_POD}"]
        self.report(replicas=1, readyReplicas=1, updatedReplicas=1)

    def report(self, **counts: int) -> None:
        self.change("status", {"observedGeneration": 2, **counts})

    def patches(self) -> list[Json]:
        return [write for write in self.live.writes if "ops" in write]

    def restarts(self) -> int:
        return sum(
            op["path"].startswith("/spec/template") for one in self.patches() for op in one["ops"]
        )

    def reasons(self) -> list[str]:
        return [write["reason"] for write in self.live.writes if "reason" in write]


def test_from_the_first_eviction_to_the_last_and_everything_twice() -> None:
    course = Course()
    assert not course.is_allowed()
    assert not course.is_allowed(replica=1)
    before = course.deployment
    course.sync()
    course.answer(before, replica=1)
    course.surge()
    course.later(seconds=10)
    assert not course.is_allowed(replica=1)
    course.sync(replica=1)
    course.both_ready()
    assert not course.is_allowed(NEW_POD)
    assert course.is_allowed()
    course.one_left()
    course.later(seconds=10)
    complete = course.deployment
    course.answer(complete)
    course.answer(complete, replica=1)
    course.sync(replica=1)
    assert course.answer() == {}
    assert course.mark(names.DRAIN_RESTARTED_AT) is None
    assert (len(course.patches()), course.restarts()) == (2, 1)
    assert course.reasons() == ["GracefulDrainTriggered", "GracefulDrainCompleted"]
    counted = [line for sync in course.syncs for line in shown(sync)]
    assert [line for line in counted if "_total" in line] == [COMPLETED]
    assert "gracefuldrain_rollout_duration_seconds_sum 20.0" in counted


def test_an_evictor_that_goes_on_after_the_timeout_is_let_through_and_starts_nothing() -> None:
    course = Course()
    assert not course.is_allowed()
    course.sync()
    course.surge()
    for _ in range(59):
        course.later(seconds=10)
        assert not course.is_allowed()
    course.later(seconds=10)
    assert course.is_allowed()
    course.sync()
    assert course.mark(names.DRAIN_RESTARTED_AT) is None
    for _ in range(30):
        course.later(seconds=10)
        assert course.is_allowed()
        assert course.answer() == {}
    assert course.restarts() == 1
    assert course.reasons() == ["GracefulDrainTriggered", "GracefulDrainTimeout"]


def test_a_tool_that_takes_restartedat_back_every_minute_gets_no_second_rollout() -> None:
    course = Course()
    assert not course.is_allowed()
    course.sync()
    course.surge()
    for _ in range(9):
        course.later(minutes=1)
        course.change("spec.template.metadata.annotations", {})
        course.sync()
    assert course.restarts() == 1


def test_an_hpa_that_scales_up_ends_it_and_back_again_begins_nothing_for_that_pod() -> None:
    course = Course()
    assert not course.is_allowed()
    course.sync()
    course.surge()
    course.change("spec.replicas", 2)
    assert course.is_allowed()
    course.sync()
    assert course.mark(names.DRAIN_RESTARTED_AT) is None
    course.change("spec.replicas", 1)
    assert course.is_allowed()
    assert course.restarts() == 1


def test_a_lost_answer_of_the_one_patch_brings_no_second_one() -> None:
    course = Course()
    assert not course.is_allowed()
    before = course.deployment
    course.live.fault = lambda verb, _: "after" if verb == "patch deployments" else None
    with pytest.raises(ClusterError):
        course.answer()
    course.live.fault = lambda _verb, _name: None
    for parent in (before, None):
        assert course.answer(parent)["resyncAfterSeconds"] <= 10
    assert course.restarts() == 1


def test_a_lost_answer_of_the_tracking_patch_allows_once_and_then_denies() -> None:
    course = Course()
    course.live.fault = lambda verb, _: "after" if verb == "patch deployments" else None
    assert course.is_allowed()
    course.live.fault = lambda _verb, _name: None
    assert not course.is_allowed()
    assert len(course.patches()) == 1
