"""What happens on the way: each mishap at its moment, on an object store of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from hooks import names
from hooks.planning.demo import world
from hooks.planning.demo.story import (
    BLOCKADE,
    BLOCKED,
    HOSTED,
    KEPT,
    LET_GO,
    LOOKED_INTO,
    LOST,
    SILENCE,
    SUSPECT,
    Story,
)
from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import (
    NAMESPACES,
    NODECLAIMS,
    NODEPOOLS,
    NODES,
    PODDISRUPTIONBUDGETS,
    PODS,
)
from hooks.sandbox.store.store import ObjectStore
from hooks.verdict.case import CORDON, DO_NOT_DISRUPT, OperatorMark


@dataclass
class Stage:
    """A store with a pool of old nodes, and a list of what is to happen later."""

    clock: VirtualClock = field(default_factory=lambda: VirtualClock(world.BEGIN))
    said: list[str] = field(default_factory=list)
    plans: list[tuple[datetime, Callable[[], None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = ObjectStore(self.clock.now)
        for namespace in (world.NAMESPACE, names.NAMESPACE):
            self.store.create(NAMESPACES, {"metadata": {"name": namespace}})
        self.store.create(NODEPOOLS, world.node_pool())
        for workload in world.WORKLOADS:
            self.store.create(PODDISRUPTIONBUDGETS, world.budget(workload))
        for number in range(1, 6):
            self.machine(f"old-{number}")
        self.clock.advance_to(world.INSTALLED)
        self.story = Story(self.store, self.later, self.said.append)
        self.store.listeners.append(self.story.on_event)

    def later(self, moment: datetime, action: Callable[[], None]) -> None:
        self.plans.append((moment, action))

    def run_to(self, moment: datetime) -> None:
        """Let everything happen that is planned until then."""
        while due := [plan for plan in self.plans if plan[0] <= moment]:
            plan = min(due, key=lambda one: one[0])
            self.plans.remove(plan)
            self.clock.advance_to(plan[0])
            plan[1]()
        self.clock.advance_to(moment)

    def machine(self, claim: str) -> None:
        labels = {names.NODEPOOL_LABEL: world.POOL}
        node = {"name": f"node-of-{claim}", "labels": labels}
        self.store.create(NODECLAIMS, {"metadata": {"name": claim, "labels": labels}})
        status = {"status": {"nodeName": node["name"]}}
        self.store.modify(NODECLAIMS, "", claim, lambda it: it.update(status), "status")
        self.store.create(NODES, {"metadata": node, "spec": {}})
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        name = f"node-of-{claim}"
        self.store.modify(NODES, "", name, lambda it: it.update(status=ready), "status")

    def pod(self, name: str, namespace: str, node: str, labels: dict[str, str]) -> None:
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        container = {"name": "c", "image": "c"}
        spec = {"nodeName": node, "containers": [container], "terminationGracePeriodSeconds": 0}
        self.store.create(PODS, {"metadata": metadata, "spec": spec})

    def annotate(self, kind: Any, name: str, **annotations: str) -> None:
        def change(it: Obj) -> None:
            it["metadata"]["annotations"] = {
                f"noderotation.io/{key.replace('_', '-')}": value
                for key, value in annotations.items()
            }

        self.store.modify(kind, "", name, change)

    def turns(self, count: int) -> str:
        """Let it be the turn of one node after the other; the last one's claim."""
        for number in range(1, count + 1):
            self.annotate(NODEPOOLS, world.POOL, active_rotation=f"old-{number}")
        return f"old-{count}"

    def ready(self, node: str) -> str:
        status: str = self.store.get(NODES, "", node)["status"]["conditions"][0]["status"]
        return status


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_the_first_nodes_kubelet_is_silent_for_a_while(stage: Stage) -> None:
    now = stage.clock.now()
    stage.turns(1)
    assert stage.ready("node-of-old-1") == "True"
    stage.run_to(now)
    assert stage.ready("node-of-old-1") == "Unknown"
    stage.run_to(now + SILENCE)
    assert stage.ready("node-of-old-1") == "True"
    assert stage.said == [
        "The kubelet of old-1 falls silent: its Node isn't Ready.",
        "The kubelet of old-1 is back: its Node is Ready again.",
    ]


def test_a_kubelet_whose_node_is_gone_does_not_come_back(stage: Stage) -> None:
    stage.turns(1)
    stage.run_to(stage.clock.now())
    stage.store.delete(NODES, "", "node-of-old-1")
    stage.run_to(stage.clock.now() + SILENCE)
    assert len(stage.said) == 1


def test_a_placeholder_is_lost_once_between_the_two_writes(stage: Stage) -> None:
    claim = stage.turns(LOST)
    placeholder = f"noderotation-surge-{claim}"
    for _ in range(2):
        stage.pod(placeholder, names.NAMESPACE, "node-of-old-5", {})
        stage.annotate(NODECLAIMS, claim, state="pending")
        assert stage.store.find(PODS, names.NAMESPACE, placeholder) is not None
        stage.annotate(NODECLAIMS, claim, state="draining")
        if stage.store.find(PODS, names.NAMESPACE, placeholder) is not None:
            break
    assert stage.store.find(PODS, names.NAMESPACE, placeholder) is not None
    assert stage.said == [f"Somebody deletes the placeholder of {claim} too early."]


def test_a_placeholder_that_is_not_there_is_not_lost(stage: Stage) -> None:
    stage.annotate(NODECLAIMS, stage.turns(LOST), state="draining")
    assert stage.said == []


def test_a_budget_blocks_one_drain_and_is_then_as_before(stage: Stage) -> None:
    before = stage.store.get(PODDISRUPTIONBUDGETS, world.NAMESPACE, "cart")["spec"]
    node = f"node-of-old-{BLOCKED}"
    stage.pod("agent-1", world.NAMESPACE, node, {"app": world.AGENT})
    stage.pod("cart-1", world.NAMESPACE, node, {"app": "cart"})
    stage.turns(BLOCKED)
    stage.run_to(stage.clock.now())
    during = stage.store.get(PODDISRUPTIONBUDGETS, world.NAMESPACE, "cart")["spec"]
    assert during == {"selector": before["selector"], "maxUnavailable": 0}
    finalizers = {"finalizers": ["karpenter.sh/termination"]}
    claim = f"old-{BLOCKED}"
    stage.store.modify(NODECLAIMS, "", claim, lambda it: it["metadata"].update(finalizers))
    stage.store.delete(NODECLAIMS, "", claim)
    begun = stage.clock.now()
    stage.run_to(begun + BLOCKADE - timedelta(seconds=1))
    assert stage.store.get(PODDISRUPTIONBUDGETS, world.NAMESPACE, "cart")["spec"] == during
    stage.run_to(begun + BLOCKADE)
    assert stage.store.get(PODDISRUPTIONBUDGETS, world.NAMESPACE, "cart")["spec"] == before
    assert [one for one in stage.said if "release" in one] == [
        "A release of cart begins: its budget lets no Pod go.",
        "The release of cart is over: its budget is as before.",
    ]


def test_operators_mark_a_node_and_let_it_go_later(stage: Stage) -> None:
    stage.story.begin()
    stage.run_to(LOOKED_INTO)
    node = f"node-of-old-{SUSPECT}"
    revision = stage.store.revision
    found = stage.store.get(NODES, "", node)
    assert found["spec"] == {"unschedulable": True}
    assert found["metadata"]["annotations"] == {names.DO_NOT_DISRUPT: "true"}
    stage.run_to(LET_GO)
    found = stage.store.get(NODES, "", node)
    assert found["spec"] == {"unschedulable": True}
    assert found["metadata"].get("annotations", {}) == {}
    assert stage.story.marks[:2] == [
        OperatorMark(node, CORDON, revision - 1),
        OperatorMark(node, DO_NOT_DISRUPT, revision, until=stage.store.revision),
    ]
    assert stage.said == [
        f"An operator cordons old-{SUSPECT} and forbids to disrupt it.",
        f"The operator lets old-{SUSPECT} go, and leaves the cordon.",
    ]


def test_operators_protect_a_new_node_for_good(stage: Stage) -> None:
    stage.story.begin()
    stage.turns(5)
    stage.run_to(LOOKED_INTO)
    stage.machine("new-1")
    stage.run_to(KEPT)
    mark = stage.story.marks[-1]
    assert (mark.node, mark.what, mark.until) == ("node-of-new-1", DO_NOT_DISRUPT, None)
    assert stage.said[-1] == "An operator protects the new node new-1 for good."


def test_a_node_that_is_gone_cannot_be_let_go(stage: Stage) -> None:
    stage.story.begin()
    stage.run_to(LOOKED_INTO)
    stage.store.delete(NODES, "", f"node-of-old-{SUSPECT}")
    with pytest.raises(ApiError):
        stage.store.get(NODES, "", f"node-of-old-{SUSPECT}")
    said = len(stage.said)
    stage.run_to(LET_GO)
    assert stage.said[said:] == ["The node that the operator wants to let go isn't there any more."]


def test_an_operator_protects_the_host_before_the_software_marks_it(stage: Stage) -> None:
    stage.turns(HOSTED)
    stage.machine("new-1")
    stage.machine("new-2")
    stage.run_to(stage.clock.now())
    (mark,) = stage.story.marks
    assert mark == OperatorMark("node-of-new-1", DO_NOT_DISRUPT, stage.store.revision)
    found = stage.store.get(NODES, "", mark.node)["metadata"]["annotations"]
    assert found == {names.DO_NOT_DISRUPT: "true"}
    assert stage.said[-1] == "An operator protects the machine that just came up, for good."
    stage.story.begin()
    stage.run_to(LET_GO)
    assert (stage.story.marks[0].until, stage.story.marks[2].node) == (
        None,
        f"node-of-old-{SUSPECT}",
    )
