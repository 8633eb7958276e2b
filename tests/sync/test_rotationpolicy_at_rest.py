"""The policy hooks behind the conductor: what is written, and that it comes to rest."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import yaml

from hooks.customize.rotationpolicy import customize
from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.webhook import Reply
from hooks.sandbox.objects import Obj
from hooks.sync.rotationpolicy import sync
from tests.sandbox.conductor.memory_api import MemoryApi
from tests.sandbox.conductor.world import World
from tests.support.world import NOW, nodepool, policy

POOLS = Resource("karpenter.sh/v1", "nodepools", "NodePool", namespaced=False, has_status=True)
POLICIES = Resource(
    "noderotation.io/v1alpha1",
    "rotationpolicies",
    "RotationPolicy",
    namespaced=False,
    has_status=True,
)
EVENTS = Resource("v1", "events", "Event", namespaced=True)
MANIFEST = Path(__file__).parents[2] / "manifests" / "metacontroller" / "rotation-policy.yaml"
STATUS = "update status"
PERIOD = 300


class Syncing:
    """The sync hook as a transport, on the clock of the world."""

    def __init__(self) -> None:
        self.world: World | None = None
        self.calls = 0

    def post(self, body: bytes) -> Reply:
        self.calls += 1
        assert self.world is not None
        return Reply(200, sync(body, now(self.world)))


class Customizing:
    """The customize hook as a transport."""

    def post(self, body: bytes) -> Reply:
        return Reply(200, customize(body))


def now(world: World) -> datetime:
    return datetime.fromisoformat(NOW) + timedelta(seconds=world.seconds)


@dataclass
class Cluster:
    """Policies and pools, watched over by the shipped controller."""

    objects: list[Obj]
    syncing: Syncing = field(default_factory=Syncing)

    def __post_init__(self) -> None:
        self.api = MemoryApi(POOLS, POLICIES, EVENTS)
        self.world = World(
            *self.objects,
            runs=yaml.safe_load(MANIFEST.read_text(encoding="utf-8")),
            api=self.api,
            transport=self.syncing,
            customizing=Customizing(),
        )
        self.syncing.world = self.world
        self.world.settle_with_related()

    def status(self, name: str = "api") -> Obj:
        found: Obj = self.api.get(POLICIES, "", name)["status"]
        return found

    def ready(self, name: str = "api") -> tuple[str, str]:
        (condition,) = self.status(name)["conditions"]
        return condition["reason"], condition["lastTransitionTime"]

    def written(self) -> list[tuple[str, str, str]]:
        """What was written since this was asked last."""
        writes = list(self.api.writes)
        self.api.writes.clear()
        return writes

    def pass_time(self, seconds: float) -> None:
        """Let time pass, with a resync every five minutes and every delayed sync at its time."""
        end = self.world.seconds + seconds
        resync = self.world.seconds + PERIOD
        while self.world.seconds < end:
            due = self.world.engine.queue.next_due()
            self.world.seconds = min(end, resync, end if due is None else due)
            if self.world.seconds == resync:
                self.world.engine.resync()
                resync += PERIOD
            self.world.settle()


def other(pool: Obj, name: str, **labels: str) -> Obj:
    changed = copy.deepcopy(pool)
    changed["metadata"] |= {"name": name, "uid": f"uid-{name}", "labels": labels}
    return changed


def test_a_policy_gets_its_status_in_one_write_and_then_nothing_more_for_ten_minutes() -> None:
    cluster = Cluster([policy(), nodepool()])
    assert cluster.written() == [(STATUS, "RotationPolicy", "api")]
    assert cluster.world.engine.spec.resync_period == PERIOD
    assert cluster.status()["pools"] == [
        {"name": "api", "phase": "Idle", "ageThreshold": "287h51m0s", "capacity": 15}
    ]
    calls = cluster.syncing.calls
    cluster.pass_time(600)
    assert (cluster.written(), cluster.syncing.calls) == ([], calls + 2)
    assert cluster.api.names("events") == []


def test_several_policies_wake_each_other_and_come_to_rest() -> None:
    web = policy("web", labels={"workload": "web"})
    cluster = Cluster([policy(), web, policy("all", labels={}), nodepool()])
    assert sorted(cluster.written()) == [
        (STATUS, "RotationPolicy", name) for name in ("all", "api", "web")
    ]
    before = cluster.syncing.calls
    assert before <= 3 + 3 * 3
    cluster.pass_time(299)
    assert (cluster.written(), cluster.syncing.calls) == ([], before)


def test_a_window_that_closes_is_written_once_and_in_time() -> None:
    cluster = Cluster([policy(), nodepool()])
    cluster.written()
    assert cluster.status()["windowOpen"] is True
    cluster.pass_time(2 * 3600 - 1)
    assert cluster.written() == []
    cluster.pass_time(1.1)
    assert cluster.status()["windowOpen"] is False
    assert cluster.written() == [(STATUS, "RotationPolicy", "api")]


def test_a_rotation_is_told_while_it_lasts() -> None:
    cluster = Cluster([policy(), nodepool()])
    marks = {"active-rotation": "old"}
    told = []
    for now_marked in (marks, marks | {"active-rotation-state": "draining"}, {}):
        cluster.api.put(nodepool(now_marked))
        cluster.world.settle()
        (pool,) = cluster.status()["pools"]
        told.append((cluster.status()["rotatingNodePools"], pool["phase"], pool.get("nodeClaim")))
    assert told == [(1, "Surging", "old"), (1, "Draining", "old"), (0, "Idle", None)]


def test_a_tie_is_told_on_both_and_taken_back_on_both() -> None:
    cluster = Cluster([policy(), nodepool()])
    cluster.world.seconds = 60
    cluster.api.put(policy("rival"))
    cluster.world.settle()
    assert cluster.ready() == cluster.ready("rival") == ("Conflict", "2026-11-29T20:01:00Z")
    cluster.world.seconds = 120
    cluster.api.take_away(policy("rival"))
    cluster.world.settle()
    assert cluster.ready() == ("Accepted", "2026-11-29T20:02:00Z")


def test_a_pool_of_another_label_wakes_nobody_until_it_is_relabelled() -> None:
    cluster = Cluster([policy(), nodepool(), other(nodepool(), "web", workload="web")])
    before = cluster.syncing.calls
    cluster.api.put(other(nodepool({"active-rotation": "x"}), "web", workload="web"))
    cluster.world.settle()
    assert cluster.syncing.calls == before
    cluster.api.put(other(nodepool(), "web", workload="api"))
    cluster.world.settle()
    assert cluster.status()["matchedNodePools"] == 2


def test_a_policy_that_becomes_unreadable_keeps_its_pools_and_says_so() -> None:
    cluster = Cluster([policy(), nodepool()])
    stored = cluster.api.get(POLICIES, "", "api")
    stored["spec"]["maintenanceWindows"][0]["timezone"] = "Mars/Base"
    stored["metadata"]["generation"] = 2
    cluster.world.seconds = 60
    cluster.api.put(stored)
    cluster.world.settle()
    assert cluster.ready() == ("Invalid", "2026-11-29T20:01:00Z")
    assert (cluster.status()["observedGeneration"], cluster.status()["matchedNodePools"]) == (2, 1)
    assert "windowOpen" not in cluster.status()
