"""Budgets and evictions."""

from __future__ import annotations

import pytest

from hooks.sandbox.controllers.budgets import Budgets, covered
from hooks.sandbox.controllers.eviction import REFUSAL, BudgetRefusal, evict
from hooks.sandbox.controllers.kubelets import READY_AFTER, STOP_AFTER
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import DEPLOYMENTS, PODDISRUPTIONBUDGETS, PODS
from tests.sandbox.controllers.worlds import World, at


def web_of(replicas: int, **budget: object) -> World:
    world = World()
    for name in ("m", "n"):
        world.node(name)
    world.deployment(replicas)
    if budget:
        world.budget("web", **budget)
    world.run(10)
    return world


def counts(world: World) -> tuple[int, int, int, int]:
    status = world.status(PODDISRUPTIONBUDGETS, "web")
    fields = ("expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed")
    expected, healthy, desired, allowed = (status[field] for field in fields)
    return expected, healthy, desired, allowed


@pytest.mark.parametrize(
    ("spec", "figures"),
    [
        ({"minAvailable": 2}, (3, 3, 2, 1)),
        ({"minAvailable": "50%"}, (3, 3, 2, 1)),
        ({"minAvailable": "100%"}, (3, 3, 3, 0)),
        ({"maxUnavailable": 1}, (3, 3, 2, 1)),
        ({"maxUnavailable": "34%"}, (3, 3, 1, 2)),
        ({"maxUnavailable": 0}, (3, 3, 3, 0)),
        ({"maxUnavailable": 5}, (3, 3, 0, 3)),
    ],
)
def test_a_budget_counts(spec: Obj, figures: tuple[int, int, int, int]) -> None:
    assert counts(web_of(3, **spec)) == figures


def test_the_status_is_whole() -> None:
    world = web_of(2, minAvailable=2)
    assert world.status(PODDISRUPTIONBUDGETS, "web") == {
        "currentHealthy": 2,
        "desiredHealthy": 2,
        "disruptionsAllowed": 0,
        "expectedPods": 2,
        "observedGeneration": 1,
        "conditions": [
            {
                "type": "DisruptionAllowed",
                "status": "False",
                "reason": "InsufficientPods",
                "message": "",
                "observedGeneration": 1,
                "lastTransitionTime": at(0),
            }
        ],
    }


def test_a_budget_over_pods_without_a_scale_allows_nothing() -> None:
    world = web_of(1)
    world.daemon_set()
    world.budget("agent", maxUnavailable=1)
    world.run(10)
    assert world.status(PODDISRUPTIONBUDGETS, "agent") == {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "disruptionsAllowed": 0,
        "expectedPods": 0,
        "conditions": [
            {
                "type": "DisruptionAllowed",
                "status": "False",
                "reason": "SyncFailed",
                "message": "apps/v1/DaemonSet does not implement the scale subresource",
                "observedGeneration": 0,
                "lastTransitionTime": at(10),
            }
        ],
    }


def test_an_eviction_without_a_budget_deletes_and_says_why() -> None:
    world = web_of(1)
    (name,) = world.names("web")
    before = world.store.revision
    evict(world.store, world.clock, "default", name, grace_seconds=5)
    pod = world.get(PODS, name)
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 5
    assert pod["status"]["conditions"][-1] == {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": None,
        "lastTransitionTime": at(10),
    }
    assert world.happened(before, PODS) == [f"10 MODIFIED {name}"] * 2


def test_two_evictions_at_the_same_instant_do_not_both_pass() -> None:
    world = web_of(3, maxUnavailable=1)
    first, second, _ = world.names("web")
    evict(world.store, world.clock, "default", first)
    with pytest.raises(BudgetRefusal) as refused:
        evict(world.store, world.clock, "default", second)
    error = refused.value
    assert (error.status, error.reason, str(error)) == (429, "TooManyRequests", REFUSAL)
    assert (error.cause, error.retry_after) == (
        "The disruption budget web does not allow evicting pods currently",
        0,
    )
    assert world.status(PODDISRUPTIONBUDGETS, "web")["disruptedPods"] == {first: at(10)}
    world.settle()
    assert "disruptedPods" not in world.status(PODDISRUPTIONBUDGETS, "web")
    with pytest.raises(BudgetRefusal) as refused:
        evict(world.store, world.clock, "default", second)
    assert (
        refused.value.cause == "The disruption budget web needs 2 healthy pods and has 2 currently"
    )
    world.run(10)
    evict(world.store, world.clock, "default", second)


def test_a_grant_that_is_not_used_is_forgotten_after_two_minutes() -> None:
    world = web_of(2, minAvailable=1)
    first, _ = world.names("web")

    def granted(it: Obj) -> None:
        it["status"]["disruptedPods"] = {first: at(10)}

    world.store.modify(PODDISRUPTIONBUDGETS, "default", "web", granted, "status")
    world.run(100)
    assert counts(world) == (2, 1, 1, 0)
    world.run(20)
    assert counts(world) == (2, 2, 1, 1)


def test_a_budget_that_was_just_changed_refuses_for_now() -> None:
    world = web_of(2, minAvailable=1)
    world.change(PODDISRUPTIONBUDGETS, "web", lambda it: it["spec"].update(minAvailable=0))
    with pytest.raises(BudgetRefusal) as refused:
        evict(world.store, world.clock, "default", world.names("web")[0])
    assert (refused.value.cause, refused.value.retry_after) == (
        "The disruption budget web is still being processed by the server.",
        10,
    )


def test_a_budget_that_can_not_be_counted_says_so() -> None:
    world = web_of(1)
    world.daemon_set()
    world.budget("agent", maxUnavailable=1)
    world.run(10)
    world.store.modify(
        PODDISRUPTIONBUDGETS,
        "default",
        "agent",
        lambda it: it["status"].update(observedGeneration=1),
        "status",
    )
    with pytest.raises(BudgetRefusal) as refused:
        evict(world.store, world.clock, "default", world.names("agent")[0])
    assert refused.value.cause == (
        "The disruption budget agent does not allow evicting pods currently because it failed sync: "
        "apps/v1/DaemonSet does not implement the scale subresource"
    )


def test_two_budgets_over_one_pod_are_an_error() -> None:
    world = web_of(1, minAvailable=0)
    world.store.create(
        PODDISRUPTIONBUDGETS,
        {
            "metadata": {"name": "too", "namespace": "default"},
            "spec": {"selector": {}, "minAvailable": 0},
        },
    )
    world.settle()
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget") as refused:
        evict(world.store, world.clock, "default", world.names("web")[0])
    assert refused.value.status == 500


def unready(world: World, **budget: object) -> None:
    def slow(it: Obj) -> None:
        it["spec"]["template"]["metadata"]["annotations"] = {READY_AFTER: "never"}
        it["spec"]["strategy"] = {"type": "Recreate"}

    world.change(DEPLOYMENTS, "web", slow)
    world.budget("web", **budget)
    world.run(20)


@pytest.mark.parametrize(
    ("budget", "passes"),
    [
        ({"minAvailable": 1}, False),
        ({"minAvailable": 1, "unhealthyPodEvictionPolicy": "IfHealthyBudget"}, False),
        ({"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, True),
    ],
)
def test_an_unready_pod_of_a_broken_application_is_evicted_only_if_allowed(
    budget: Obj, *, passes: bool
) -> None:
    world = web_of(2)
    unready(world, **budget)
    name = world.names("web")[0]
    if passes:
        evict(world.store, world.clock, "default", name)
    else:
        with pytest.raises(BudgetRefusal):
            evict(world.store, world.clock, "default", name)
    assert ("deletionTimestamp" in world.get(PODS, name)["metadata"]) is passes


def test_an_unready_pod_of_a_healthy_application_goes_without_being_counted() -> None:
    world = web_of(2, minAvailable=2)
    world.pod("lame", annotations={READY_AFTER: "never"})
    world.store.modify(
        PODS, "default", "lame", lambda it: it["metadata"].update(labels={"app": "web"})
    )
    world.run(10)
    assert counts(world) == (3, 2, 2, 0)
    evict(world.store, world.clock, "default", "lame")
    assert "disruptedPods" not in world.status(PODDISRUPTIONBUDGETS, "web")


def test_pending_finished_and_leaving_pods_are_not_guarded() -> None:
    world = web_of(1, minAvailable=1)
    world.change(
        DEPLOYMENTS,
        "web",
        lambda it: it["spec"]["template"]["metadata"].update(annotations={STOP_AFTER: "30s"}),
    )
    world.run(1)
    fresh = next(pod for pod in world.pods("web") if pod["status"]["phase"] == "Pending")
    evict(world.store, world.clock, "default", fresh["metadata"]["name"])
    evict(world.store, world.clock, "default", fresh["metadata"]["name"])


def test_a_dry_run_changes_nothing() -> None:
    world = web_of(2, minAvailable=1)
    before = world.store.revision
    evict(world.store, world.clock, "default", world.names("web")[0], dry_run=True)
    assert world.store.revision == before


def test_a_pod_of_another_uid_is_not_evicted() -> None:
    world = web_of(1)
    with pytest.raises(ApiError, match="the UID in the precondition") as refused:
        evict(world.store, world.clock, "default", world.names("web")[0], uid="other")
    assert (refused.value.status, refused.value.is_conflict) == (409, True)


def test_pods_without_a_workload_count_only_with_a_plain_number() -> None:
    world = World()
    world.node("n")
    world.pod("lone")
    world.budget("lone", minAvailable=1)
    world.run(10)
    status = world.status(PODDISRUPTIONBUDGETS, "lone")
    assert (status["expectedPods"], status["currentHealthy"]) == (1, 1)
    world.change(PODDISRUPTIONBUDGETS, "lone", lambda it: it["spec"].update(minAvailable="50%"))
    world.run(1)
    status = world.status(PODDISRUPTIONBUDGETS, "lone")
    assert (status["expectedPods"], status["disruptionsAllowed"]) == (0, 0)


def test_pods_whose_workload_is_gone_can_not_be_counted() -> None:
    world = web_of(1, maxUnavailable=1)
    (name,) = world.names("web")
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": "u"}
    owned = {**reference, "controller": True}
    world.controllers = [Budgets(world.store, world.clock)]
    world.change(PODS, name, lambda it: it["metadata"].update(ownerReferences=[owned]))
    world.settle()
    condition = world.status(PODDISRUPTIONBUDGETS, "web")["conditions"][0]
    assert (condition["reason"], condition["message"]) == (
        "SyncFailed",
        f'found no controllers for pod "{name}"',
    )


def test_a_budget_without_a_selector_covers_nobody_and_an_empty_one_everybody() -> None:
    world = web_of(1)
    pods = world.pods("web")
    metadata = {"name": "b", "namespace": "default"}
    assert covered({"metadata": metadata, "spec": {}}, pods) == []
    assert covered({"metadata": metadata, "spec": {"selector": {}}}, pods) == pods
