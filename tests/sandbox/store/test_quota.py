"""ResourceQuotas on the creation of Pods."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import PODS, PRIORITYCLASSES, RESOURCEQUOTAS
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, asking, bound, pod, told

SMALL = asking({"cpu": "500m", "memory": "1Gi"}, {"memory": "1Gi"})


def limit(world: World, hard: Obj, **spec: object) -> None:
    world.store.create(
        RESOURCEQUOTAS,
        {"metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": hard, **spec}},
    )


def refusal(world: World, made: Obj) -> tuple[int, str, str]:
    with pytest.raises(RefusedError) as caught:
        world.store.create(PODS, made)
    return told(caught.value)


def test_one_pod_too_many_is_refused(world: World) -> None:
    limit(world, {"pods": "1"})
    world.store.create(PODS, pod("a"))
    assert refusal(world, pod("b")) == (
        403,
        "Forbidden",
        (
            'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, '
            "limited: pods=1"
        ),
    )


def test_only_what_is_exceeded_is_named(world: World) -> None:
    limit(world, {"pods": "9", "requests.cpu": "700m", "requests.memory": "10Gi"})
    world.store.create(PODS, pod("a", **SMALL))
    assert refusal(world, pod("b", **SMALL)) == (
        403,
        "Forbidden",
        (
            'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, '
            "used: requests.cpu=500m, limited: requests.cpu=700m"
        ),
    )


@pytest.mark.parametrize("key", ["cpu", "requests.cpu", "memory", "limits.memory"])
def test_what_a_quota_counts_must_be_said(world: World, key: str) -> None:
    limit(world, {key: "10"})
    assert refusal(world, pod("a")) == (
        403,
        "Forbidden",
        f'pods "a" is forbidden: failed quota: q: must specify {key} for: main',
    )


@pytest.mark.parametrize(
    ("key", "most"),
    [
        ("cpu", "400m"),
        ("limits.memory", "1023Mi"),
        ("requests.example.com/gpu", "1"),
        ("count/pods", "0"),
    ],
)
def test_every_kind_of_amount_counts(world: World, key: str, most: str) -> None:
    limit(world, {key: most})
    gpu = {"example.com/gpu": "2"}
    spec = asking({"cpu": "500m", "memory": "1Gi"}, {"memory": "1Gi"} | gpu)
    assert refusal(world, pod("a", **spec))[:2] == (403, "Forbidden")


def test_another_namespace_is_not_counted(world: World) -> None:
    limit(world, {"pods": "0"})
    elsewhere = pod("a")
    elsewhere["metadata"]["namespace"] = "other"
    world.store.create(PODS, elsewhere)


def test_a_pod_that_has_ended_is_no_longer_counted(world: World) -> None:
    limit(world, {"pods": "1"})
    world.store.create(PODS, pod("a"))
    world.store.modify(
        PODS, "shop", "a", lambda obj: obj["status"].update(phase="Succeeded"), "status"
    )
    world.store.create(PODS, pod("b"))


def test_a_pod_that_should_have_ended_is_no_longer_counted(world: World) -> None:
    limit(world, {"pods": "1"})
    world.store.create(PODS, bound("a"))
    world.store.delete(PODS, "shop", "a")
    assert refusal(world, pod("b"))[:2] == (403, "Forbidden")
    world.clock.advance(timedelta(seconds=61))
    world.store.create(PODS, pod("b"))


@pytest.mark.parametrize(
    ("scope", "counted"),
    [
        ({"operator": "In", "values": ["low"]}, True),
        ({"operator": "In", "values": ["other"]}, False),
        ({"operator": "NotIn", "values": ["low"]}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "DoesNotExist"}, False),
    ],
)
def test_a_quota_may_be_for_one_priority_class(world: World, scope: Obj, counted: bool) -> None:
    world.store.create(PRIORITYCLASSES, {"metadata": {"name": "low"}, "value": -1})
    selector = {"matchExpressions": [scope | {"scopeName": "PriorityClass"}]}
    limit(world, {"pods": "0"}, scopeSelector=selector)
    made = pod("a", priorityClassName="low")
    if counted:
        assert refusal(world, made)[:2] == (403, "Forbidden")
    else:
        world.store.create(PODS, made)


@pytest.mark.parametrize(
    ("scope", "counted"),
    [
        ("BestEffort", True),
        ("NotBestEffort", False),
        ("Terminating", False),
        ("CrossNamespacePodAffinity", False),
        ("NotTerminating", True),
    ],
)
def test_a_quota_may_be_for_one_sort_of_pods(world: World, scope: str, counted: bool) -> None:
    limit(world, {"pods": "0"}, scopes=[scope])
    if counted:
        assert refusal(world, pod("a"))[:2] == (403, "Forbidden")
    else:
        world.store.create(PODS, pod("a"))
