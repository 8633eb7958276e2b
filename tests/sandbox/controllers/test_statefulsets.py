"""StatefulSets: names, order and updates."""

from __future__ import annotations

from hooks.sandbox.controllers.kubelets import KUBELET, READY_AFTER, STOP_AFTER
from hooks.sandbox.objects import Obj, labels_of
from hooks.sandbox.store.kinds import NODES, PODS, STATEFULSETS
from tests.sandbox.controllers.worlds import World


def db_of(replicas: int, **spec: object) -> World:
    world = World()
    world.node("n")
    world.stateful_set(replicas, **spec)
    return world


def births(world: World, since: int = 0) -> list[str]:
    return [text for text in world.happened(since, PODS) if "MODIFIED" not in text]


def change_template(world: World, **annotations: str) -> None:
    def changed(it: Obj) -> None:
        it["spec"]["template"]["metadata"]["annotations"] = annotations or {"restarted": "yes"}

    world.change(STATEFULSETS, "db", changed)


def test_one_after_the_other_each_when_the_one_before_is_ready() -> None:
    world = db_of(3)
    world.run(20)
    assert births(world) == ["0 ADDED db-0", "4 ADDED db-1", "8 ADDED db-2"]
    status = world.status(STATEFULSETS, "db")
    revision = status["updateRevision"]
    assert status == {
        "observedGeneration": 1,
        "replicas": 3,
        "readyReplicas": 3,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "availableReplicas": 3,
        "currentRevision": revision,
        "updateRevision": revision,
        "collisionCount": 0,
    }
    pod = world.get(PODS, "db-1")
    assert labels_of(pod) == {
        "app": "db",
        "apps.kubernetes.io/pod-index": "1",
        "controller-revision-hash": revision,
        "statefulset.kubernetes.io/pod-name": "db-1",
        "topology.kubernetes.io/zone": "a",
    }
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-1", "db")


def test_all_at_once_when_asked_for() -> None:
    world = db_of(3, podManagementPolicy="Parallel")
    world.run(20)
    assert births(world) == ["0 ADDED db-0", "0 ADDED db-1", "0 ADDED db-2"]


def test_ordinals_may_start_elsewhere() -> None:
    world = db_of(2, ordinals={"start": 5})
    world.run(20)
    assert world.names("db") == ["db-5", "db-6"]


def test_the_same_name_comes_back_only_after_the_old_one_is_gone() -> None:
    world = db_of(2)
    world.run(20)
    before = world.store.revision
    world.store.delete(PODS, "default", "db-0")
    world.run(20)
    assert births(world, before) == ["22 DELETED db-0", "22 ADDED db-0"]


def test_a_pod_on_a_node_with_a_dead_kubelet_holds_its_name() -> None:
    world = db_of(1)
    world.run(10)
    world.change(NODES, "n", lambda it: it["metadata"].update(annotations={KUBELET: "dead"}))
    before = world.store.revision
    world.store.delete(PODS, "default", "db-0")
    world.run(100)
    assert births(world, before) == []


def test_the_highest_go_first_and_one_at_a_time() -> None:
    world = db_of(3)
    world.run(20)
    before = world.store.revision
    world.change(STATEFULSETS, "db", lambda it: it["spec"].update(replicas=1))
    world.run(20)
    assert births(world, before) == ["22 DELETED db-2", "24 DELETED db-1"]


def test_all_go_at_once_when_asked_for() -> None:
    world = db_of(3, podManagementPolicy="Parallel")
    world.run(20)
    before = world.store.revision
    world.change(STATEFULSETS, "db", lambda it: it["spec"].update(replicas=1))
    world.run(20)
    assert births(world, before) == ["22 DELETED db-1", "22 DELETED db-2"]


def test_nobody_goes_while_one_that_stays_is_broken() -> None:
    world = db_of(2)
    world.run(20)
    world.store.delete(PODS, "default", "db-0", grace_seconds=0)
    world.change(STATEFULSETS, "db", lambda it: it["spec"].update(replicas=1))
    before = world.store.revision
    world.run(3)
    assert births(world, before) == ["20 ADDED db-0"]
    world.run(20)
    assert births(world, before) == ["20 ADDED db-0", "26 DELETED db-1"]


def test_an_update_replaces_the_highest_first_and_waits_for_each() -> None:
    world = db_of(2)
    world.run(20)
    before = world.store.revision
    change_template(world)
    world.run(4)
    status = world.status(STATEFULSETS, "db")
    assert status["currentRevision"] != status["updateRevision"]
    assert (status["currentReplicas"], status["updatedReplicas"]) == (1, 1)
    world.run(20)
    assert births(world, before) == [
        "22 DELETED db-1",
        "22 ADDED db-1",
        "28 DELETED db-0",
        "28 ADDED db-0",
    ]
    status = world.status(STATEFULSETS, "db")
    assert status["currentRevision"] == status["updateRevision"]


def test_an_update_stops_at_the_partition_and_at_what_is_broken() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    world = db_of(3, updateStrategy=rolling)
    world.run(20)
    before = world.store.revision
    change_template(world, **{READY_AFTER: "never"})
    world.run(60)
    assert births(world, before) == ["22 DELETED db-2", "22 ADDED db-2"]


def test_on_delete_leaves_old_pods_to_whoever_deletes_them() -> None:
    world = db_of(1, updateStrategy={"type": "OnDelete"})
    world.run(10)
    before = world.store.revision
    change_template(world)
    world.run(10)
    assert births(world, before) == []
    world.store.delete(PODS, "default", "db-0")
    world.run(10)
    status = world.status(STATEFULSETS, "db")
    assert status["updatedReplicas"] == 1


def test_a_failed_pod_is_replaced() -> None:
    world = db_of(1)
    world.run(10)
    before = world.store.revision
    world.store.modify(
        PODS, "default", "db-0", lambda it: it["status"].update(phase="Failed"), "status"
    )
    world.run(10)
    assert births(world, before) == ["10 DELETED db-0", "10 ADDED db-0"]


def test_several_are_updated_together_when_as_many_may_be_missing() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    world = db_of(2, updateStrategy=rolling, podManagementPolicy="Parallel")
    world.run(20)
    before = world.store.revision
    change_template(world, **{STOP_AFTER: "1s"})
    world.run(20)
    assert births(world, before) == [
        "22 DELETED db-0",
        "22 DELETED db-1",
        "22 ADDED db-0",
        "22 ADDED db-1",
    ]
