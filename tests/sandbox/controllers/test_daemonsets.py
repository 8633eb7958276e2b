"""DaemonSets: one Pod on each Node that suits."""

from __future__ import annotations

from hooks.sandbox.objects import Obj, name_of
from hooks.sandbox.store.kinds import DAEMONSETS, NODES, PODS
from tests.sandbox.controllers.worlds import World


def agents(world: World) -> dict[str, str]:
    """Return the phase of the agent on each Node."""
    return {pod["spec"]["nodeName"]: pod["status"]["phase"] for pod in world.pods("agent")}


def test_each_node_gets_one_pod_that_is_made_for_it() -> None:
    world = World()
    world.node("m")
    world.node("n", unschedulable=True)
    world.daemon_set()
    world.run(10)
    assert agents(world) == {"m": "Running", "n": "Running"}
    pod = next(one for one in world.pods("agent") if one["spec"]["nodeName"] == "n")
    field = {"key": "metadata.name", "operator": "In", "values": ["n"]}
    assert pod["spec"]["affinity"] == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [field]}]
            }
        }
    }
    tolerated = [
        (one["key"].partition("/")[2], one["effect"]) for one in pod["spec"]["tolerations"]
    ]
    assert tolerated == [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ]
    assert world.status(DAEMONSETS, "agent") == {
        "currentNumberScheduled": 2,
        "desiredNumberScheduled": 2,
        "numberMisscheduled": 0,
        "numberReady": 2,
        "updatedNumberScheduled": 2,
        "numberAvailable": 2,
        "observedGeneration": 1,
    }


def test_a_pod_that_does_not_fit_its_node_waits_for_it() -> None:
    world = World()
    world.node("m", cpu="50m")
    world.node("n")
    world.daemon_set()
    world.run(10)
    (waiting,) = [pod for pod in world.pods("agent") if "nodeName" not in pod["spec"]]
    assert waiting["status"]["conditions"][0]["message"] == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) "
        "[NodeAffinity]. no new claims to deallocate, preemption: 0/2 nodes are available: "
        "2 Preemption is not helpful for scheduling."
    )
    # It goes with its Node.
    world.store.delete(NODES, "", "m")
    world.run(1)
    assert agents(world) == {"n": "Running"}


def test_nodes_that_do_not_suit_have_none_and_lose_theirs() -> None:
    world = World()
    world.node("m")
    world.node("n")
    world.daemon_set()
    world.run(10)
    taint = {"key": "k", "effect": "NoSchedule"}
    world.change(NODES, "m", lambda it: it["spec"].update(taints=[taint]))
    world.run(10)
    # Who is there may stay.
    assert agents(world) == {"m": "Running", "n": "Running"}
    status = world.status(DAEMONSETS, "agent")
    assert (status["desiredNumberScheduled"], status["numberMisscheduled"]) == (1, 1)

    def elsewhere(it: Obj) -> None:
        it["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "o"}

    world.change(DAEMONSETS, "agent", elsewhere)
    world.run(10)
    assert agents(world) == {}


def test_a_failed_pod_is_replaced() -> None:
    world = World()
    world.node("n")
    world.daemon_set()
    world.run(10)
    (old,) = world.names("agent")
    world.store.modify(
        PODS, "default", old, lambda it: it["status"].update(phase="Failed"), "status"
    )
    world.run(10)
    assert agents(world) == {"n": "Running"}
    assert world.names("agent") != [old]


def test_a_new_template_reaches_one_node_after_the_other() -> None:
    world = World()
    world.node("m")
    world.node("n")
    world.daemon_set()
    world.run(10)
    before = world.store.revision

    def changed(it: Obj) -> None:
        it["spec"]["template"]["metadata"]["annotations"] = {"restarted": "yes"}

    world.change(DAEMONSETS, "agent", changed)
    world.run(30)
    lives = [
        text.rpartition(" ")[0] for text in world.happened(before, PODS) if "MODIFIED" not in text
    ]
    assert lives == ["12 DELETED", "12 ADDED", "18 DELETED", "18 ADDED"]
    assert world.status(DAEMONSETS, "agent")["updatedNumberScheduled"] == 2


def test_on_delete_leaves_old_pods_alone() -> None:
    world = World()
    world.node("n")
    world.daemon_set(updateStrategy={"type": "OnDelete"})
    world.run(10)
    old = [name_of(pod) for pod in world.pods("agent")]

    def changed(it: Obj) -> None:
        it["spec"]["template"]["metadata"]["annotations"] = {"restarted": "yes"}

    world.change(DAEMONSETS, "agent", changed)
    world.run(10)
    assert world.names("agent") == old
    assert "updatedNumberScheduled" not in world.status(DAEMONSETS, "agent")
