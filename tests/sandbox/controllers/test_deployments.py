"""Deployments and ReplicaSets."""

from __future__ import annotations

import pytest

from hooks.sandbox.controllers.kubelets import READY_AFTER, STOP_AFTER
from hooks.sandbox.controllers.replicasets import by_worth
from hooks.sandbox.objects import Obj, annotations_of, labels_of, name_of
from hooks.sandbox.store.kinds import DEPLOYMENTS, PODS, REPLICASETS, RESOURCEQUOTAS
from tests.sandbox.controllers.worlds import World, at

REVISION = "deployment.kubernetes.io/revision"


def web_of(replicas: int, **spec: object) -> World:
    world = World()
    world.node("n")
    world.deployment(replicas, **spec)
    world.run(10)
    return world


def restart(world: World, **annotations: str) -> None:
    def changed(it: Obj) -> None:
        it["spec"]["template"]["metadata"]["annotations"] = annotations or {"restarted": "yes"}

    world.change(DEPLOYMENTS, "web", changed)


def condition(kind: str, status: str, reason: str, message: str, since: int, told: int) -> Obj:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": at(since),
        "lastUpdateTime": at(told),
    }


def test_a_deployment_gets_a_replica_set_and_that_its_pods() -> None:
    world = web_of(2)
    (replica_set,) = world.store.all(REPLICASETS)
    name, digest = name_of(replica_set), labels_of(replica_set)["pod-template-hash"]
    assert name == f"web-{digest}"
    assert annotations_of(replica_set) == {
        REVISION: "1",
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
    }
    assert replica_set["spec"]["selector"] == {
        "matchLabels": {"app": "web", "pod-template-hash": digest}
    }
    assert replica_set["status"] == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    assert annotations_of(world.get(DEPLOYMENTS, "web")) == {REVISION: "1"}
    # The fields are those of the recording deployment-rollout.
    assert world.status(DEPLOYMENTS, "web") == {
        "observedGeneration": 1,
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
        "conditions": [
            condition(
                *("Available", "True", "MinimumReplicasAvailable"),
                *("Deployment has minimum availability.", 4, 4),
            ),
            condition(
                *("Progressing", "True", "NewReplicaSetAvailable"),
                *(f'ReplicaSet "{name}" has successfully progressed.', 0, 4),
            ),
        ],
    }
    pod = world.pods("web")[0]
    assert pod["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": name,
            "uid": replica_set["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def least_and_most(world: World, since: int) -> tuple[int, int]:
    """Return the fewest available and the most Pods that were there at once."""
    available, total = [], []
    pods: dict[str, Obj] = {}
    for event in world.store.events_after(0):
        if event.resource != PODS:
            continue
        pods[name_of(event.obj)] = event.obj
        if event.type == "DELETED" or "deletionTimestamp" in event.obj["metadata"]:
            del pods[name_of(event.obj)]
            pods = {name: pod for name, pod in pods.items() if pod is not event.obj}
        if event.revision > since:
            ready = [pod for pod in pods.values() if pod["status"]["phase"] == "Running"]
            available.append(len(ready))
            total.append(len(pods))
    return min(available), max(total)


@pytest.mark.parametrize(
    ("surge", "unavailable", "bounds"),
    [(1, 0, (3, 4)), (0, 1, (2, 3)), ("100%", 0, (3, 6)), ("25%", "25%", (3, 4))],
)
def test_a_rollout_keeps_within_its_bounds(
    surge: object, unavailable: object, bounds: tuple[int, int]
) -> None:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    world = web_of(3, strategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    before = world.store.revision
    restart(world, **{STOP_AFTER: "0s"})
    world.run(60)
    status = world.status(DEPLOYMENTS, "web")
    assert (status["updatedReplicas"], status["availableReplicas"]) == (3, 3)
    assert annotations_of(world.get(DEPLOYMENTS, "web"))[REVISION] == "2"
    assert least_and_most(world, before) == bounds


def test_going_back_takes_the_old_replica_set_again() -> None:
    world = web_of(1)
    restart(world)
    world.run(20)
    world.change(
        DEPLOYMENTS, "web", lambda it: it["spec"]["template"]["metadata"].pop("annotations")
    )
    world.run(20)
    noted = {
        annotations_of(one)[REVISION]: (
            one["spec"]["replicas"],
            annotations_of(one).get("deployment.kubernetes.io/revision-history"),
        )
        for one in world.store.all(REPLICASETS)
    }
    assert noted == {"2": (0, None), "3": (1, "1")}


def test_recreate_waits_until_the_old_pods_are_gone() -> None:
    world = web_of(2, strategy={"type": "Recreate"})
    old = world.names("web")
    before = world.store.revision
    restart(world)
    world.run(20)
    events = [text for text in world.happened(before, PODS) if "MODIFIED" not in text]
    assert sorted(events[:2]) == [f"12 DELETED {name}" for name in old]
    assert sorted(events[2:]) == [f"12 ADDED {name}" for name in world.names("web")]


def test_a_rollout_that_does_not_get_on_times_out_and_says_so_once() -> None:
    world = web_of(1, progressDeadlineSeconds=30)
    restart(world, **{READY_AFTER: "never"})
    world.run(29)
    progressing = world.status(DEPLOYMENTS, "web")["conditions"][-1]
    assert (progressing["reason"], progressing["lastUpdateTime"]) == ("ReplicaSetUpdated", at(10))
    world.run(3)
    new = next(
        name_of(one) for one in world.store.all(REPLICASETS) if annotations_of(one)[REVISION] == "2"
    )
    message = f'ReplicaSet "{new}" has timed out progressing.'
    timed_out = condition("Progressing", "False", "ProgressDeadlineExceeded", message, 41, 41)
    assert world.status(DEPLOYMENTS, "web")["conditions"][-1] == timed_out
    before = world.store.revision
    world.run(100)
    assert world.store.revision == before


def test_a_paused_deployment_scales_and_does_not_roll() -> None:
    world = web_of(2, paused=True)
    assert world.names("web") == []
    world.change(DEPLOYMENTS, "web", lambda it: it["spec"].update(paused=False))
    world.run(10)
    world.change(DEPLOYMENTS, "web", lambda it: it["spec"].update(paused=True, replicas=3))
    restart(world)
    world.run(10)
    assert [one["spec"]["replicas"] for one in world.store.all(REPLICASETS)] == [3]
    paused = condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", 20, 20)
    assert world.status(DEPLOYMENTS, "web")["conditions"][0] == paused
    world.change(DEPLOYMENTS, "web", lambda it: it["spec"].update(paused=False))
    world.run(30)
    assert sorted(one["spec"]["replicas"] for one in world.store.all(REPLICASETS)) == [0, 3]


def test_pods_count_as_available_after_their_time() -> None:
    world = web_of(1, minReadySeconds=30)
    assert "availableReplicas" not in world.status(DEPLOYMENTS, "web")
    world.run(24)
    assert world.status(DEPLOYMENTS, "web")["availableReplicas"] == 1


def test_old_replica_sets_beyond_the_limit_are_deleted() -> None:
    world = web_of(1, revisionHistoryLimit=1)
    for number in "123":
        restart(world, number=number)
        world.run(20)
    revisions = [annotations_of(one)[REVISION] for one in world.store.all(REPLICASETS)]
    assert sorted(revisions) == ["3", "4"]


def test_annotations_of_the_deployment_reach_its_replica_set() -> None:
    world = web_of(1)
    world.change(
        DEPLOYMENTS,
        "web",
        lambda it: it["metadata"]["annotations"].update(
            {"a": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
        ),
    )
    world.run(1)
    (replica_set,) = world.store.all(REPLICASETS)
    assert annotations_of(replica_set) == {
        REVISION: "1",
        "deployment.kubernetes.io/desired-replicas": "1",
        "deployment.kubernetes.io/max-replicas": "2",
        "a": "b",
    }


def test_a_quota_that_is_full_shows_and_is_tried_again() -> None:
    world = World()
    world.node("n")
    quota = {"metadata": {"name": "few", "namespace": "default"}, "spec": {"hard": {"pods": "1"}}}
    world.store.create(RESOURCEQUOTAS, quota)
    world.deployment(2)
    world.run(10)
    failures = [
        one
        for one in world.status(DEPLOYMENTS, "web")["conditions"]
        if one["type"] == "ReplicaFailure"
    ]
    assert [(one["status"], one["reason"]) for one in failures] == [("True", "FailedCreate")]
    assert "exceeded quota: few" in failures[0]["message"]
    world.store.delete(RESOURCEQUOTAS, "default", "few")
    world.run(60)
    assert len(world.names("web")) == 2
    kinds = [one["type"] for one in world.status(DEPLOYMENTS, "web")["conditions"]]
    assert sorted(kinds) == ["Available", "Progressing"]


def test_pods_that_are_lost_are_made_anew() -> None:
    world = web_of(2)
    (first, _) = world.names("web")
    world.store.delete(PODS, "default", first)
    world.run(10)
    assert len(world.names("web")) == 2
    assert first not in world.names("web")


def test_a_deployment_that_is_deleted_takes_all_along() -> None:
    world = web_of(2)
    world.store.delete(DEPLOYMENTS, "default", "web")
    world.run(10)
    assert (world.store.all(REPLICASETS), world.names("web")) == ([], [])


def pod(name: str, node: str = "n", ready: int | None = 0, **more: Obj) -> Obj:
    conditions = []
    if ready is not None:
        conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": at(ready)}]
    return {
        "metadata": {"name": name, "creationTimestamp": at(0), **more},
        "spec": {"nodeName": node},
        "status": {"phase": "Pending" if ready is None else "Running", "conditions": conditions},
    }


def test_who_is_worth_least_is_given_up_first() -> None:
    cheap = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
    pods = [
        pod("old"),
        pod("young", "o", ready=9),
        pod("crowded", "m"),
        pod("beside", "m", ready=None),
        pod("cheap", "p", annotations=cheap),
        pod("pending", "q", ready=None),
        pod("homeless", "", ready=None),
    ]
    found = [name_of(one) for one in by_worth(pods)]
    assert found == ["homeless", "beside", "pending", "cheap", "crowded", "young", "old"]


def told(status: Obj) -> tuple[Obj, list[tuple[str, str, str]]]:
    counts = {key: value for key, value in status.items() if key.endswith("Replicas")}
    conditions = status["conditions"]
    return (
        {**counts, "replicas": status["replicas"]},
        [(one["type"], one["status"], one["reason"]) for one in conditions],
    )


def test_a_rollout_tells_what_the_recorded_one_told() -> None:
    # The requests of step c-rolling-sync of the recording deployment-rollout, in their order.
    available = ("Available", "True", "MinimumReplicasAvailable")
    recorded: list[tuple[dict[str, int], str]] = [
        ({"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1}, "NewReplicaSetCreated"),
        ({"replicas": 2, "updatedReplicas": 1, "readyReplicas": 1}, "ReplicaSetUpdated"),
        ({"replicas": 2, "updatedReplicas": 1, "readyReplicas": 2}, "ReplicaSetUpdated"),
        ({"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1}, "NewReplicaSetAvailable"),
    ]
    more: list[dict[str, int]] = [
        {"availableReplicas": 1, "terminatingReplicas": 0},
        {"availableReplicas": 1, "terminatingReplicas": 0, "unavailableReplicas": 1},
        {"availableReplicas": 2, "terminatingReplicas": 0},
        {"availableReplicas": 1, "terminatingReplicas": 1},
    ]
    expected = [
        ({**counts, **rest}, [available, ("Progressing", "True", reason)])
        for (counts, reason), rest in zip(recorded, more, strict=True)
    ]
    rolling = {"maxSurge": 1, "maxUnavailable": 0}
    world = web_of(1, strategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    before = world.store.revision
    restart(world)
    world.run(60)
    ours = [
        told(event.obj["status"])
        for event in world.store.events_after(before)
        if event.resource == DEPLOYMENTS
    ]
    assert [one for one in ours if one in expected] == expected
