"""Kubelets: how Pods start and end."""

from __future__ import annotations

import pytest

from hooks.sandbox.controllers.kubelets import DEAD, KUBELET, READY_AFTER, STOP_AFTER
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import NODES, PODS
from tests.sandbox.controllers.worlds import World, at


def one_node() -> World:
    world = World()
    world.node("n")
    return world


def conditions(world: World, name: str = "p") -> dict[str, tuple[str, str]]:
    found = world.status(PODS, name)["conditions"]
    return {one["type"]: (one["status"], one["lastTransitionTime"]) for one in found}


def test_a_pod_starts_as_in_the_recording() -> None:
    # Seen in the recording rotation-with-pdb-blocked-drain.
    world = one_node()
    world.pod("p")
    world.run(2)
    created = world.status(PODS, "p")
    address = created["podIP"]
    waiting = {"reason": "ContainersNotReady", "message": "containers with unready status: [ c ]"}
    known = {"lastProbeTime": None}

    def container(state: Obj, *, ready: bool) -> Obj:
        return {
            "name": "c",
            "image": "i",
            "imageID": "",
            "lastState": {},
            "ready": ready,
            "restartCount": 0,
            "started": ready,
            "state": state,
        }

    def condition(kind: str, status: str, since: int, **more: str) -> Obj:
        return {"type": kind, "status": status, "lastTransitionTime": at(since), **known, **more}

    addresses = {"hostIP": "127.0.0.1", "podIP": address, "podIPs": [{"ip": address}]}
    assert created == {
        "phase": "Pending",
        "qosClass": "Burstable",
        **addresses,
        "conditions": [
            condition("Initialized", "True", 2),
            condition("Ready", "False", 2, **waiting),
            condition("ContainersReady", "False", 2, **waiting),
            condition("PodScheduled", "True", 0),
        ],
        "containerStatuses": [container({"waiting": {"reason": "ContainerCreating"}}, ready=False)],
    }
    world.run(2)
    assert world.status(PODS, "p") == {
        "phase": "Running",
        "qosClass": "Burstable",
        **addresses,
        "startTime": at(4),
        "conditions": [
            condition("Initialized", "True", 2),
            condition("Ready", "True", 4),
            condition("ContainersReady", "True", 4),
            condition("PodScheduled", "True", 0),
        ],
        "containerStatuses": [container({"running": {"startedAt": at(4)}}, ready=True)],
    }


def test_a_slow_pod_runs_before_it_is_ready() -> None:
    world = one_node()
    world.pod("p", annotations={READY_AFTER: "1m"})
    world.run(63)
    assert world.status(PODS, "p")["phase"] == "Running"
    assert conditions(world)["Ready"] == ("False", at(2))
    world.run(1)
    assert conditions(world)["Ready"] == ("True", at(64))
    assert world.status(PODS, "p")["containerStatuses"][0]["ready"] is True


def test_a_pod_that_never_gets_ready_runs_and_keeps_nobody_awake() -> None:
    world = one_node()
    world.pod("p", annotations={READY_AFTER: "never"})
    world.run(5)
    assert world.status(PODS, "p")["phase"] == "Running"
    assert (conditions(world)["Ready"][0], world.next_due()) == ("False", None)


@pytest.mark.parametrize(
    ("grace", "annotations", "end"),
    [
        (30, {}, 2),
        (1, {}, 1),
        (30, {STOP_AFTER: "20s"}, 20),
        (30, {STOP_AFTER: "2m"}, 30),
        (30, {STOP_AFTER: "0s"}, 0),
        (0, {}, 0),
    ],
)
def test_a_pod_ends_in_its_own_time_and_within_its_grace(
    grace: int, annotations: Obj, end: int
) -> None:
    world = one_node()
    world.pod("p", annotations=annotations, terminationGracePeriodSeconds=grace)
    world.run(10)
    before = world.store.revision
    world.store.delete(PODS, "default", "p")
    world.run(200)
    assert world.happened(before, PODS)[-1] == f"{10 + end} DELETED p"


def test_a_second_delete_with_less_grace_ends_it_sooner() -> None:
    world = one_node()
    world.pod("p", annotations={STOP_AFTER: "20s"})
    world.run(10)
    before = world.store.revision
    world.store.delete(PODS, "default", "p")
    world.run(5)
    world.store.delete(PODS, "default", "p", grace_seconds=7)
    world.run(30)
    assert world.happened(before, PODS)[-1] == "17 DELETED p"


def test_a_dead_kubelet_moves_nothing_until_it_is_back() -> None:
    world = one_node()
    world.pod("p")
    world.run(10)
    world.change(NODES, "n", lambda it: it["metadata"].update(annotations={KUBELET: DEAD}))
    world.store.delete(PODS, "default", "p")
    world.pod("q")
    world.run(100)
    assert list(conditions(world, "q")) == ["PodScheduled"]
    assert world.names("p") == ["p"]
    world.change(NODES, "n", lambda it: it["metadata"].pop("annotations"))
    world.run(4)
    assert conditions(world, "q")["Ready"] == ("True", at(114))
    assert world.names("p") == []


def test_a_finished_pod_stays_as_it_is() -> None:
    world = one_node()
    world.pod("p")
    world.run(10)
    world.store.modify(
        PODS, "default", "p", lambda it: it["status"].update(phase="Failed"), "status"
    )
    world.run(10)
    assert world.status(PODS, "p")["phase"] == "Failed"
