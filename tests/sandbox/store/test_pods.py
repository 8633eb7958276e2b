"""What admission does to Pods: priority, tolerations, requests and limits."""

from __future__ import annotations

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import PODS, PRIORITYCLASSES
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, asking, fields_of, pod, told

GPU = "example.com/gpu"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


def created(world: World, **spec: object) -> Obj:
    return world.store.create(PODS, pod("a", **spec))


def refusal(world: World, **spec: object) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        created(world, **spec)
    return caught.value


def with_class(world: World, name: str, value: int, **more: object) -> None:
    world.store.create(PRIORITYCLASSES, {"metadata": {"name": name}, "value": value, **more})


def priority(made: Obj) -> tuple[object, object, object]:
    spec = made["spec"]
    return spec.get("priorityClassName"), spec["priority"], spec["preemptionPolicy"]


def test_a_priority_class_gives_value_and_preemption(world: World) -> None:
    with_class(world, "placeholder", -10, preemptionPolicy="Never")
    assert priority(created(world, priorityClassName="placeholder")) == (
        "placeholder",
        -10,
        "Never",
    )


def test_without_a_class_the_priority_is_zero(world: World) -> None:
    with_class(world, "other", 5)
    assert priority(created(world)) == (None, 0, "PreemptLowerPriority")


def test_without_a_class_a_global_default_counts(world: World) -> None:
    with_class(world, "high", 9, globalDefault=True)
    with_class(world, "usual", 5, globalDefault=True)
    assert priority(created(world)) == ("usual", 5, "PreemptLowerPriority")


def test_the_systems_own_classes_are_always_there(world: World) -> None:
    made = created(world, priorityClassName="system-node-critical")
    assert priority(made) == ("system-node-critical", 2_000_001_000, "PreemptLowerPriority")


def test_a_class_that_is_not_there_is_refused(world: World) -> None:
    assert told(refusal(world, priorityClassName="lost")) == (
        403,
        "Forbidden",
        'pods "a" is forbidden: no PriorityClass with name lost was found',
    )


def test_a_priority_of_ones_own_is_refused(world: World) -> None:
    assert told(refusal(world, priority=7)) == (
        403,
        "Forbidden",
        (
            'pods "a" is forbidden: the integer value of priority (7) must not be provided in pod '
            "spec; priority admission controller computed 0 from the given PriorityClass name"
        ),
    )


@pytest.mark.parametrize(
    ("own", "added"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([{"key": NOT_READY, "effect": "NoExecute"}], [UNREACHABLE]),
        ([{"key": UNREACHABLE, "operator": "Exists"}], [NOT_READY]),
        ([{"operator": "Exists"}], []),
        ([{"key": NOT_READY, "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
    ],
)
def test_every_pod_stays_for_five_minutes_on_a_node_that_is_lost(
    world: World, own: list[Obj], added: list[str]
) -> None:
    made = created(world, tolerations=own)
    more = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    assert made["spec"]["tolerations"] == [*own, *({"key": key} | more for key in added)]


def test_a_limit_alone_is_a_request_too(world: World) -> None:
    made = created(world, **asking({"memory": "1Gi"}, {"cpu": "2", "memory": "2Gi"}))
    (container,) = made["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "2", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("requests", "limits", "quality"),
    [
        (None, None, "BestEffort"),
        ({"cpu": "1"}, None, "Burstable"),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"}, "Burstable"),
        ({"cpu": "1"}, {"cpu": "1000m", "memory": "1Gi"}, "Guaranteed"),
        ({GPU: "1"}, {GPU: "1"}, "BestEffort"),
    ],
)
def test_quality_of_service_follows_from_requests_and_limits(
    world: World, requests: Obj | None, limits: Obj | None, quality: str
) -> None:
    assert created(world, **asking(requests, limits))["status"] == {
        "phase": "Pending",
        "qosClass": quality,
    }


@pytest.mark.parametrize(
    ("requests", "limits", "message"),
    [
        (
            {GPU: "1"},
            None,
            (
                "spec.containers[0].resources.limits: Required value: Limit must be set for non "
                "overcommitable resources"
            ),
        ),
        (
            {GPU: "1"},
            {GPU: "2"},
            (
                f'spec.containers[0].resources.requests: Invalid value: "1": must be equal to {GPU} '
                "limit of 2"
            ),
        ),
        (
            {"cpu": "2"},
            {"cpu": "1"},
            (
                'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal '
                "to cpu limit of 1"
            ),
        ),
        (
            None,
            {"hugepages-2Mi": "4Mi"},
            "spec.containers[0].resources: Forbidden: HugePages require cpu or memory",
        ),
    ],
)
def test_requests_that_do_not_go_with_their_limits_are_invalid(
    world: World, requests: Obj | None, limits: Obj | None, message: str
) -> None:
    error = refusal(world, **asking(requests, limits))
    assert told(error) == (422, "Invalid", f'Pod "a" is invalid: {message}')
    assert fields_of(error) == [message.partition(":")[0]]


@pytest.mark.parametrize("name", [GPU, "hugepages-2Mi"])
def test_what_can_not_be_overcommitted_is_asked_for_by_its_limit(world: World, name: str) -> None:
    made = created(world, **asking({"cpu": "1"}, {name: "2"}))
    (container,) = made["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "1", name: "2"}
