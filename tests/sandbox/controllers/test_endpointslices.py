"""EndpointSlices say which Pods of a Service are ready."""

from __future__ import annotations

import pytest

from hooks.sandbox.controllers.kubelets import READY_AFTER
from hooks.sandbox.objects import Obj, name_of, uid_of
from hooks.sandbox.store.kinds import DEPLOYMENTS, ENDPOINTSLICES, NODES, PODS, SERVICES
from tests.sandbox.controllers.worlds import World


def service(world: World, **spec: object) -> Obj:
    whole = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}], **spec}
    metadata = {"name": "web", "namespace": "default", "labels": {"team": "a"}}
    return world.store.create(SERVICES, {"metadata": metadata, "spec": whole})


def there(world: World) -> Obj:
    (found,) = world.store.all(ENDPOINTSLICES)
    return found


def conditions(world: World) -> list[tuple[bool, bool, bool]]:
    """Ready, serving, terminating of each endpoint."""
    return [
        (one["conditions"]["ready"], one["conditions"]["serving"], one["conditions"]["terminating"])
        for one in there(world)["endpoints"]
    ]


@pytest.fixture
def world() -> World:
    world = World()
    world.node("n1", zone="z")
    return world


def test_a_slice_has_the_shape_of_the_real_controllers(world: World) -> None:
    made = service(world)
    world.deployment(1)
    world.run(10)
    (pod,) = world.pods("web")
    found = there(world)
    metadata = found["metadata"]
    assert (metadata["generateName"], metadata["labels"]) == (
        "web-",
        {
            "team": "a",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
            "kubernetes.io/service-name": "web",
        },
    )
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Service", uid_of(made), True)
    assert {key: found[key] for key in ("addressType", "endpoints", "ports")} == {
        "addressType": "IPv4",
        "endpoints": [
            {
                "addresses": [pod["status"]["podIP"]],
                "conditions": {"ready": True, "serving": True, "terminating": False},
                "nodeName": "n1",
                "targetRef": {
                    "kind": "Pod",
                    "name": name_of(pod),
                    "namespace": "default",
                    "uid": uid_of(pod),
                },
                "zone": "z",
            }
        ],
        "ports": [{"name": "", "port": 8080, "protocol": "TCP"}],
    }


def test_a_pod_comes_in_with_its_address_and_is_ready_when_it_is(world: World) -> None:
    service(world)
    world.run(1)
    assert (there(world)["endpoints"], there(world)["ports"]) == ([], [])
    world.pod("web", annotations={READY_AFTER: "20s"})
    world.run(3)
    assert conditions(world) == [(False, False, False)]
    world.run(17)
    assert conditions(world) == [(False, False, False)]
    world.run(5)
    assert conditions(world) == [(True, True, False)]
    world.store.delete(PODS, "default", "web")
    world.settle()
    assert conditions(world) == [(False, True, True)]
    world.run(5)
    assert conditions(world) == []


def test_a_finished_pod_and_one_of_others_stand_for_nothing(world: World) -> None:
    service(world)
    world.pod("db")
    world.pod("web")
    world.run(10)
    assert conditions(world) == [(True, True, False)]
    world.store.patch(
        PODS,
        "default",
        "web",
        {"status": {"phase": "Succeeded"}},
        "application/merge-patch+json",
        "status",
    )
    world.settle()
    assert conditions(world) == []


def test_who_wants_all_addresses_gets_them(world: World) -> None:
    service(world, publishNotReadyAddresses=True)
    world.pod("web", annotations={READY_AFTER: "never"})
    world.run(10)
    assert conditions(world) == [(True, False, False)]


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ({"port": 80}, [80]),
        ({"port": 80, "targetPort": "http"}, [8443]),
        ({"port": 80, "targetPort": "nobody"}, []),
    ],
)
def test_ports(world: World, port: Obj, expected: list[int]) -> None:
    service(world, ports=[port])
    container = {"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": 8443}]}
    world.pod("web", containers=[container])
    world.run(10)
    assert [one["port"] for one in there(world)["ports"]] == expected


def test_a_service_without_selector_gets_none_and_one_that_goes_takes_its_slice(
    world: World,
) -> None:
    service(world, selector=None)
    world.run(1)
    assert world.store.all(ENDPOINTSLICES) == []
    world.change(SERVICES, "web", lambda it: it["spec"].update(selector={"app": "web"}))
    world.run(1)
    assert there(world)
    world.store.delete(SERVICES, "default", "web")
    world.run(60)
    assert world.store.all(ENDPOINTSLICES) == []


def test_a_pod_whose_node_is_unknown_has_no_zone(world: World) -> None:
    service(world)
    world.pod("web")
    world.run(10)
    world.store.delete(NODES, "", "n1")
    world.settle()
    assert all("zone" not in one for one in there(world)["endpoints"])


def test_a_rollout_of_one_pod_has_a_ready_endpoint_all_the_time(world: World) -> None:
    service(world)
    world.deployment(1)

    def slow(it: Obj) -> None:
        it["spec"]["template"]["metadata"]["annotations"] = {READY_AFTER: "20s"}

    world.run(10)
    before = world.store.revision
    world.change(DEPLOYMENTS, "web", slow)
    world.run(120)
    ready = [
        sum(one["conditions"]["ready"] for one in event.obj["endpoints"])
        for event in world.store.events_after(before)
        if event.resource == ENDPOINTSLICES
    ]
    assert (min(ready), max(ready), ready[-1]) == (1, 2, 1)
