"""The scheduler: binding, refusals and preemption."""

from __future__ import annotations

from random import Random

from hooks.sandbox.controllers.scheduler import Scheduler
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import NODES, PODS, PRIORITYCLASSES
from tests.sandbox.controllers.worlds import World, at

NO_CLAIMS = "no new claims to deallocate, preemption:"


def scheduling_alone() -> World:
    return World(lambda store, clock: [Scheduler(store, clock, Random(7))])


def priority(world: World, name: str, value: int, **more: object) -> None:
    world.store.create(PRIORITYCLASSES, {"metadata": {"name": name}, "value": value, **more})


def unscheduled(message: str, since: int = 0) -> Obj:
    return {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": at(since),
        "observedGeneration": 1,
    }


def message(world: World, name: str) -> str:
    text: str = world.status(PODS, name)["conditions"][0]["message"]
    return text


def test_a_pod_is_bound_in_one_write_with_the_topology_of_its_node() -> None:
    world = scheduling_alone()
    world.node("n", zone="b")
    world.pod("p")
    before = world.store.revision
    world.run(1)
    pod = world.get(PODS, "p")
    assert world.happened(before, PODS) == ["0 MODIFIED p"]
    assert pod["spec"]["nodeName"] == "n"
    assert pod["metadata"]["labels"] == {"app": "p", "topology.kubernetes.io/zone": "b"}
    assert pod["metadata"]["generation"] == 1
    assert pod["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": at(0),
        }
    ]


def test_the_condition_changes_with_the_message_and_its_time_does_not() -> None:
    world = scheduling_alone()
    world.pod("p", cpu="5")
    world.run(10)
    expected = unscheduled("no nodes available to schedule pods")
    assert world.status(PODS, "p")["conditions"] == [expected]
    world.node("n")
    before = world.store.revision
    world.run(10)
    told = (
        f"0/1 nodes are available: 1 Insufficient cpu. {NO_CLAIMS} "
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    assert world.status(PODS, "p")["conditions"] == [unscheduled(told)]
    world.run(10)
    assert world.happened(before, PODS) == ["10 MODIFIED p"]


def test_the_most_important_is_bound_first_then_the_oldest() -> None:
    world = scheduling_alone()
    priority(world, "high", 10)
    world.pod("z", cpu="2")
    world.clock.advance_to(world.clock.now().replace(second=1))
    world.pod("a", cpu="2")
    world.pod("b", cpu="2", priorityClassName="high", preemptionPolicy="PreemptLowerPriority")
    world.node("n")
    world.run(0)
    assert world.where() == {"b": "n", "z": "n"}


def test_pods_of_another_scheduler_and_gated_ones_are_left_alone() -> None:
    world = scheduling_alone()
    world.node("n")
    world.pod("other", schedulerName="mine")
    world.pod("gated", schedulingGates=[{"name": "wait"}])
    world.run(1)
    assert world.where() == {}


def test_a_placeholder_makes_room_at_once_for_a_pod_that_needs_it() -> None:
    world = scheduling_alone()
    priority(world, "placeholder", -10, preemptionPolicy="Never")
    world.node("n")
    world.pod("held", "3", priorityClassName="placeholder", terminationGracePeriodSeconds=0)
    world.run(1)
    world.pod("p", cpu="2")
    before = world.store.revision
    world.run(1)
    assert world.where() == {"p": "n"}
    # The writes of a real control plane (v1.36.3, seen for this test), in their order.
    assert world.happened(before, PODS) == [
        "1 MODIFIED p",
        "1 MODIFIED held",
        "1 MODIFIED held",
        "1 DELETED held",
        "1 MODIFIED p",
    ]
    assert "nominatedNodeName" not in world.status(PODS, "p")


def test_the_room_that_was_made_is_kept_while_the_victim_ends() -> None:
    world = scheduling_alone()
    priority(world, "high", 10)
    world.node("n")
    world.pod("low", cpu="3")
    world.run(0)
    world.pod("p", cpu="4", priorityClassName="high")
    world.run(0)
    status = world.status(PODS, "p")
    assert status["nominatedNodeName"] == "n"
    # Nothing more is told while it waits.
    assert message(world, "p") == "0/1 nodes are available: 1 Insufficient cpu."
    assert world.status(PODS, "low")["conditions"][-1] == {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": "default-scheduler: preempting to accommodate a higher priority pod",
        "lastProbeTime": None,
        "lastTransitionTime": at(0),
        "observedGeneration": 1,
    }
    # Another one of the same importance finds the room taken.
    world.pod("late", cpu="1", priorityClassName="high")
    world.run(0)
    assert world.where() == {"low": "n"}
    world.store.delete(PODS, "default", "low", grace_seconds=0)
    world.run(0)
    assert world.where() == {"p": "n"}


def test_who_never_preempts_is_told_what_the_real_scheduler_told() -> None:
    # The message is that of the recording rotation-with-pdb-blocked-drain.
    world = scheduling_alone()
    priority(world, "placeholder", -10, preemptionPolicy="Never")
    for name, zone in (("m", "a"), ("n", "a"), ("o", "b"), ("p", "b")):
        world.node(name, zone=zone)
    selector = {"topology.kubernetes.io/zone": "a"}
    for name in ("one", "two"):
        world.pod(name, cpu="4", nodeSelector=selector)
    world.run(0)
    world.pod("held", cpu="3", priorityClassName="placeholder", nodeSelector=selector)
    world.run(0)
    assert message(world, "held") == (
        "0/4 nodes are available: 2 Insufficient cpu, "
        "2 node(s) didn't match Pod's node affinity/selector. "
        "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."
    )


def test_the_least_important_go_and_no_more_of_them_than_needed() -> None:
    world = scheduling_alone()
    priority(world, "high", 10)
    priority(world, "low", -10)
    world.node("n")
    world.pod("a", cpu="2", priorityClassName="low", terminationGracePeriodSeconds=0)
    world.pod("b", cpu="1", priorityClassName="low", terminationGracePeriodSeconds=0)
    world.pod("c", cpu="1", terminationGracePeriodSeconds=0)
    world.run(0)
    world.pod("p", cpu="2", priorityClassName="high")
    world.run(0)
    assert world.where() == {"b": "n", "c": "n", "p": "n"}


def test_a_node_whose_pods_are_less_important_is_preferred() -> None:
    world = scheduling_alone()
    priority(world, "high", 10)
    priority(world, "low", -10)
    world.node("m")
    world.pod("web", cpu="4")
    world.run(0)
    world.node("n")
    world.pod("held", cpu="4", priorityClassName="low", terminationGracePeriodSeconds=0)
    world.run(0)
    world.pod("p", cpu="4", priorityClassName="high")
    world.run(0)
    assert world.where() == {"p": "n", "web": "m"}


def test_pods_under_a_budget_are_spared_where_others_can_go() -> None:
    world = scheduling_alone()
    priority(world, "high", 10)
    world.node("m")
    world.pod("guarded", cpu="4")
    world.budget("guarded", minAvailable=1)
    world.run(0)
    world.node("n")
    world.pod("free", cpu="4", terminationGracePeriodSeconds=0)
    world.run(0)
    world.pod("p", cpu="4", priorityClassName="high")
    world.run(0)
    assert world.where() == {"guarded": "m", "p": "n"}


def test_nobody_is_pushed_aside_for_a_pod_that_would_not_fit_anyway() -> None:
    world = scheduling_alone()
    priority(world, "high", 10)
    world.node("m", unschedulable=True)
    world.node("n")
    world.pod("equal", cpu="3", priorityClassName="high")
    world.run(0)
    world.pod("p", cpu="2", priorityClassName="high")
    world.run(0)
    assert message(world, "p") == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. "
        f"{NO_CLAIMS} 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling."
    )
    world.change(NODES, "m", lambda it: it["spec"].pop("unschedulable"))
    world.run(0)
    assert world.where() == {"equal": "n", "p": "m"}
