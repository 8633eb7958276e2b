"""What happens to objects without an owner, to Nodes that aren't well, and to the Pods of both."""

from __future__ import annotations

from collections.abc import Mapping

from hooks.sandbox.controllers.garbage import GarbageCollector
from hooks.sandbox.objects import Obj, uid_of
from hooks.sandbox.store.kinds import CONFIGMAPS, NODEPOOLS, NODES, PODS
from tests.sandbox.controllers.worlds import World, at


def config(world: World, name: str, *owners: Obj, blocks: bool = False) -> Obj:
    references = [
        {
            "apiVersion": one["apiVersion"],
            "kind": one["kind"],
            "name": one["metadata"]["name"],
            "uid": uid_of(one),
        }
        | ({"blockOwnerDeletion": True} if blocks else {})
        for one in owners
    ]
    metadata = {"name": name, "namespace": "default", "ownerReferences": references}
    return world.store.create(CONFIGMAPS, {"metadata": metadata})


def there(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in world.store.all(CONFIGMAPS)]


def test_dependents_go_with_their_owner_and_theirs_with_them() -> None:
    world = World()
    owner = config(world, "owner")
    config(world, "grandchild", config(world, "child", owner))
    config(world, "other")
    world.settle()
    world.store.delete(CONFIGMAPS, "default", "owner")
    world.settle()
    assert there(world) == ["other"]


def test_who_has_another_owner_loses_only_the_reference() -> None:
    world = World()
    first, second = config(world, "first"), config(world, "second")
    config(world, "child", first, second)
    world.store.delete(CONFIGMAPS, "default", "first")
    world.settle()
    owners = world.get(CONFIGMAPS, "child")["metadata"]["ownerReferences"]
    assert [one["name"] for one in owners] == ["second"]


def test_a_namesake_is_no_owner() -> None:
    world = World()
    owner = config(world, "owner")
    config(world, "child", owner)
    world.settle()
    world.store.delete(CONFIGMAPS, "default", "owner")
    config(world, "owner")
    world.settle()
    assert there(world) == ["owner"]


def test_an_object_of_an_owner_that_was_never_there_is_deleted() -> None:
    world = World()
    config(
        world, "child", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u"}}
    )
    unknown = {"apiVersion": "v9", "kind": "Thing", "metadata": {"name": "t", "uid": "u"}}
    config(world, "kept", unknown)
    world.settle()
    assert there(world) == ["kept"]


def test_cluster_scoped_owners_hold_namespaced_objects() -> None:
    world = World()
    pool = world.store.create(NODEPOOLS, {"metadata": {"name": "api"}, "spec": {}})
    config(world, "child", pool)
    world.settle()
    assert there(world) == ["child"]
    world.store.delete(NODEPOOLS, "", "api")
    world.settle()
    assert there(world) == []


def test_a_collector_that_has_lost_its_memory_finds_what_is_left() -> None:
    world = World()
    owner = config(world, "owner")
    config(world, "child", owner)
    world.settle()
    world.store.delete(CONFIGMAPS, "default", "owner")
    world.controllers = [GarbageCollector(world.store, world.clock)]
    world.settle()
    assert there(world) == []


def went(world: World, since: int) -> list[str]:
    return [one for one in world.happened(since, CONFIGMAPS) if "DELETED" in one]


def test_in_the_foreground_what_is_owned_goes_first() -> None:
    world = World()
    owner = config(world, "owner")
    config(world, "grandchild", config(world, "child", owner, blocks=True), blocks=True)
    config(world, "free", owner)
    world.settle()
    before = world.store.revision
    world.store.delete(CONFIGMAPS, "default", "owner", propagation="Foreground")
    assert world.get(CONFIGMAPS, "owner")["metadata"]["finalizers"] == ["foregroundDeletion"]
    world.settle()
    assert [one.split()[-1] for one in went(world, before)] == [
        "free",
        "grandchild",
        "child",
        "owner",
    ]


def test_an_owner_in_the_foreground_waits_for_what_is_held_by_somebody() -> None:
    world = World()
    owner = config(world, "owner")
    config(world, "child", owner, blocks=True)

    def hold(it: Obj) -> None:
        it["metadata"]["finalizers"] = ["example.com/held"]

    world.change(CONFIGMAPS, "child", hold)
    world.settle()
    world.store.delete(CONFIGMAPS, "default", "owner", propagation="Foreground")
    world.settle()
    assert there(world) == ["child", "owner"]

    def let_go(it: Obj) -> None:
        del it["metadata"]["finalizers"]

    world.change(CONFIGMAPS, "child", let_go)
    world.settle()
    assert there(world) == []


def test_an_owner_in_the_foreground_goes_when_nobody_names_it_any_more() -> None:
    world = World()
    owner, other = config(world, "owner"), config(world, "other")
    config(world, "child", owner, other, blocks=True)
    world.settle()
    world.store.delete(CONFIGMAPS, "default", "owner", propagation="Foreground")
    world.settle()
    owners = world.get(CONFIGMAPS, "child")["metadata"]["ownerReferences"]
    assert (there(world), [one["name"] for one in owners]) == (["child", "other"], ["other"])


def test_orphans_stay_without_their_owner() -> None:
    world = World()
    config(world, "child", config(world, "owner"), blocks=True)
    world.settle()
    world.store.delete(CONFIGMAPS, "default", "owner", propagation="Orphan")
    world.settle()
    assert there(world) == ["child"]
    assert "ownerReferences" not in world.get(CONFIGMAPS, "child")["metadata"]


def test_a_deletion_in_the_background_overtakes_one_in_the_foreground() -> None:
    world = World()
    config(world, "child", config(world, "owner"), blocks=True)
    world.store.delete(CONFIGMAPS, "default", "owner", propagation="Foreground")
    world.store.delete(CONFIGMAPS, "default", "owner", propagation="Background")
    assert there(world) == ["child"]
    world.settle()
    assert there(world) == []


def taints(world: World, name: str = "n") -> list[Obj]:
    found: list[Obj] = world.get(NODES, name)["spec"].get("taints", [])
    return found


def set_ready(world: World, status: str) -> None:
    def changed(it: Obj) -> None:
        it["status"]["conditions"] = [{"type": "Ready", "status": status}]

    world.store.modify(NODES, "", "n", changed, "status")


def taint(key: str, effect: str, since: int = 0) -> Mapping[str, str]:
    return {"key": f"node.kubernetes.io/{key}", "effect": effect, "timeAdded": at(since)}


def test_a_cordon_shows_as_a_taint_and_leaves_others_alone() -> None:
    world = World()
    mine = {"key": "k", "effect": "NoSchedule"}
    world.node("n", taints=[mine])
    world.settle()
    assert taints(world) == [mine]
    world.change(NODES, "n", lambda it: it["spec"].update(unschedulable=True))
    world.settle()
    assert taints(world) == [mine, taint("unschedulable", "NoSchedule")]
    world.change(NODES, "n", lambda it: it["spec"].pop("unschedulable"))
    world.settle()
    assert taints(world) == [mine]


def test_a_node_that_is_not_ready_is_tainted_until_it_is() -> None:
    world = World()
    world.store.create(NODES, {"metadata": {"name": "n"}, "spec": {}})
    world.settle()
    assert [one["key"] for one in taints(world)] == ["node.kubernetes.io/not-ready"]
    world.store.modify(NODES, "", "n", lambda it: it.update(status={"conditions": []}), "status")
    set_ready(world, "True")
    world.settle()
    assert taints(world) == []
    set_ready(world, "Unknown")
    world.settle()
    assert taints(world) == [taint("unreachable", "NoExecute"), taint("unreachable", "NoSchedule")]


def test_pods_leave_a_node_that_stays_unwell_after_five_minutes() -> None:
    world = World()
    world.node("n")
    world.pod("p")
    world.run(10)
    before = world.store.revision
    set_ready(world, "False")
    world.run(299)
    assert world.happened(before, PODS) == []
    world.run(10)
    assert world.happened(before, PODS) == [
        "310 MODIFIED p",
        "310 MODIFIED p",
        "312 MODIFIED p",
        "312 DELETED p",
    ]


def test_pods_that_do_not_put_up_with_a_taint_leave_at_once() -> None:
    world = World()
    world.node("n")
    tolerated = {"key": "k", "operator": "Exists"}
    world.pod("p")
    world.pod("q", tolerations=[tolerated])
    world.run(10)
    added = {"key": "k", "effect": "NoExecute"}
    world.change(NODES, "n", lambda it: it["spec"].update(taints=[added]))
    world.run(0)
    condition = world.status(PODS, "p")["conditions"][-1]
    assert (condition["reason"], condition["message"]) == (
        "DeletionByTaintManager",
        "Taint manager: deleting due to NoExecute taint",
    )
    world.run(10)
    assert world.where() == {"q": "n"}


def test_pods_of_a_node_that_is_gone_fail_and_go_after_a_while() -> None:
    world = World()
    world.node("n")
    world.pod("p")
    world.run(10)
    before = world.store.revision
    world.store.delete(NODES, "", "n")
    world.run(39)
    assert world.happened(before, PODS) == []
    world.run(1)
    events = [event for event in world.store.events_after(before) if event.resource == PODS]
    assert [event.type for event in events] == ["MODIFIED", "MODIFIED", "DELETED"]
    status = events[0].obj["status"]
    assert (status["phase"], status["observedGeneration"]) == ("Failed", 1)
    assert status["conditions"][-1] == {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
        "lastProbeTime": None,
        "lastTransitionTime": at(50),
        "observedGeneration": 1,
    }


def test_a_node_that_comes_back_in_time_keeps_its_pods() -> None:
    world = World()
    world.node("n")
    world.pod("p")
    world.run(10)
    world.store.delete(NODES, "", "n")
    world.run(20)
    world.node("n")
    world.run(100)
    assert world.where() == {"p": "n"}
