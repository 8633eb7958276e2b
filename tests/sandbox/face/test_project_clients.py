"""The face before the real clients of the project: the hooks' own, and the conductor's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.broom import Change
from hooks.cluster.connection import Connection, connect
from hooks.cluster.credentials import open_access
from hooks.cluster.errors import AlreadyExists, Conflict, NotFound, NotServed, Refused
from hooks.cluster.patches import amend
from hooks.cluster.preflight import is_ready, preflight
from hooks.cluster.resources import NODECLAIMS, NODES, PODS
from hooks.cluster.sweep import StillActive, Swept, sweep_all, sweep_stale
from hooks.cluster.verbs import Verbs
from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.apiserver import ApiServer
from hooks.sandbox.face import Face
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import name_of
from hooks.sandbox.store import kinds
from hooks.sandbox.store.port import StorePort
from tests.sandbox.store.worlds import START, World, asking, bound, node, pod

EVENT = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "e", "namespace": "default"},
    "eventTime": "2026-11-01T12:00:00.000000Z",
    "reportingController": names.REPORTING_CONTROLLER,
    "reportingInstance": "hooks-1",
    "action": "Rotate",
    "reason": "RotationStarted",
    "type": "Normal",
    "note": "it starts",
    "regarding": {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "api"},
}


@pytest.fixture
def connection(face: Face) -> Iterator[Connection]:
    made = connect(open_access(face.url))
    yield made
    made.close()


@pytest.fixture
def verbs(connection: Connection) -> Verbs:
    return Verbs(connection)


# --- hooks.cluster ---


def test_the_preflight_finds_everything(connection: Connection) -> None:
    assert preflight(connection) is None
    assert is_ready(connection)


def test_the_preflight_misses_a_kind_that_is_not_served() -> None:
    world = World()
    served = [kind for kind in kinds.SERVED if kind != kinds.ROTATIONPOLICIES]
    with Face(type(world.store)(world.clock.now, served)) as face:
        found = preflight(connect(open_access(face.url)))
    assert found is not None
    assert found.startswith("the cluster does not serve rotationpolicies of noderotation.io")


def test_reads_tell_what_is_gone_from_what_is_there(world: World, verbs: Verbs) -> None:
    stored = world.store.create(kinds.NODECLAIMS, node("c"))
    assert verbs.get_nodeclaim("c") == stored
    assert verbs.get_nodeclaim("d") is None
    assert verbs.get_nodepool("api") is None
    assert verbs.get_node("n") is None
    assert verbs.get_pod("shop", "a") is None


def test_the_pods_of_a_node_are_found(world: World, verbs: Verbs) -> None:
    world.store.create(kinds.PODS, pod("elsewhere"))
    world.store.create(kinds.PODS, bound("here"))
    assert [name_of(found) for found in verbs.list_pods_on("n1")] == ["here"]


def test_long_lists_come_page_by_page(world: World, face: Face, connection: Connection) -> None:
    for number in range(1001):
        world.store.create(kinds.PODS, pod(f"a-{number:04}"))
    found = [name_of(item) for item in connection.items(PODS.every())]
    assert found == [f"a-{number:04}" for number in range(1001)]
    assert [call.verb for call in face.calls] == ["list", "list", "list"]


def test_a_mark_lands_and_an_old_one_is_a_conflict(world: World, verbs: Verbs) -> None:
    stored = world.store.create(kinds.NODECLAIMS, node("c"))
    patched = verbs.patch_nodeclaim("c", amend(stored, annotations={names.STATE: "pending"}))
    assert patched["metadata"]["annotations"] == {names.STATE: "pending"}
    with pytest.raises(Conflict):
        verbs.patch_nodeclaim("c", amend(stored, annotations={names.STATE: "failed"}))
    with pytest.raises(NotFound):
        verbs.patch_nodeclaim("d", amend(stored, annotations={names.STATE: "failed"}))


def test_a_node_is_cordoned_and_opened_again(world: World, verbs: Verbs) -> None:
    stored = world.store.create(kinds.NODES, node("n"))
    cordoned = verbs.patch_node("n", amend(stored, unschedulable=True))
    assert cordoned["spec"] == {"unschedulable": True}
    assert verbs.patch_node("n", amend(cordoned, unschedulable=False))["spec"] == {}


def test_a_patch_that_is_refused_for_its_content_names_the_fields(
    world: World, connection: Connection
) -> None:
    stored = world.store.create(kinds.NODECLAIMS, node("c"))
    with pytest.raises(Refused) as caught:
        connection.patch(NODECLAIMS.one("c"), amend(stored, labels={"a": "not a value"}))
    assert (caught.value.status, caught.value.fields) == (422, ("metadata.labels",))


def test_a_claim_is_deleted_under_its_conditions(world: World, verbs: Verbs) -> None:
    stored = world.store.create(kinds.NODECLAIMS, node("c"))["metadata"]
    version = stored["resourceVersion"]
    with pytest.raises(Conflict):
        verbs.delete_nodeclaim("c", uid="other", resource_version=version)
    with pytest.raises(Conflict):
        verbs.delete_nodeclaim("c", uid=stored["uid"], resource_version="99")
    verbs.delete_nodeclaim("c", uid=stored["uid"], resource_version=version)
    with pytest.raises(NotFound):
        verbs.delete_nodeclaim("c", uid=stored["uid"], resource_version=version)


def test_an_event_is_announced_once(verbs: Verbs, connection: Connection) -> None:
    assert verbs.create_event("default", EVENT)
    assert not verbs.create_event("default", EVENT)
    with pytest.raises(AlreadyExists):
        connection.create("/apis/events.k8s.io/v1/namespaces/default/events", EVENT)


def test_a_kind_that_is_not_served_says_nothing_about_the_object(connection: Connection) -> None:
    with pytest.raises(NotServed):
        connection.get("/apis/karpenter.sh/v1beta1/nodeclaims/c")


def test_the_sweep_leaves_nothing_of_ours(world: World, connection: Connection) -> None:
    marks = {names.SURGE_FOR: "gone", names.CORDONED: "true", "operators/own": "1"}
    world.store.create(
        kinds.NODES, node("n", annotations=marks) | {"spec": {"unschedulable": True}}
    )
    placeholder = pod(f"{names.PLACEHOLDER_PREFIX}gone")
    placeholder["metadata"] |= {
        "namespace": names.NAMESPACE,
        "labels": {names.SURGE_FOR: "gone"},
        "annotations": {names.SURGE_FOR: "gone"},
    }
    world.store.create(kinds.PODS, placeholder)
    swept = sweep_all(connection, names.NAMESPACE)
    assert swept.failures == ()
    left = connection.get(NODES.one("n"))
    assert (left["metadata"]["annotations"], left["spec"]) == ({"operators/own": "1"}, {})
    assert world.store.all(kinds.PODS) == []
    assert sweep_stale(connection, names.NAMESPACE, START + timedelta(days=1)).failures == ()


def test_the_sweep_rolls_no_deployment_out(world: World, connection: Connection) -> None:
    labels = {"app": "web"}
    restarted = {names.POD_TEMPLATE_RESTARTED_AT: "2026-11-01T11:59:00Z"}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels, "annotations": restarted},
            "spec": asking(None),
        },
    }
    own = {names.DRAIN_ROLLOUT_TIMEOUT: "25m", "operators/own": "1"}
    tracking = {
        names.DRAIN_RESTARTED_AT: "2026-11-01T11:59:00Z",
        names.DRAIN_ROLLED_FOR: "2026-11-01T11:59:00Z",
        names.DRAIN_LAST_POD_UID: "u",
    }
    for namespace in ("shop", "lab"):
        written = node("web", namespace=namespace, annotations=own | tracking) | {"spec": spec}
        world.store.create(kinds.DEPLOYMENTS, written)
    before = world.store.all(kinds.DEPLOYMENTS)
    swept = sweep_all(connection, names.NAMESPACE)
    keys = tuple(sorted(tracking))
    assert swept == Swept(
        tuple(Change("Deployment", "web", namespace, keys) for namespace in ("lab", "shop"))
    )
    after = world.store.all(kinds.DEPLOYMENTS)
    assert [one["metadata"]["annotations"] for one in after] == [own, own]
    assert [one["spec"] for one in after] == [one["spec"] for one in before]


def test_the_sweep_waits_for_the_end_of_the_controller(
    world: World, connection: Connection
) -> None:
    world.store.create(kinds.DECORATORCONTROLLERS, node(names.DECORATOR_CONTROLLER))
    with pytest.raises(StillActive):
        sweep_all(connection, names.NAMESPACE)


# --- hooks.sandbox.conductor ---


@pytest.fixture
def api(face: Face) -> ApiServer:
    return ApiServer(face.url)


@pytest.mark.parametrize(
    "version", ["v1", "apps/v1", "karpenter.sh/v1", "noderotation.io/v1alpha1", "events.k8s.io/v1"]
)
def test_discovery_is_the_same_through_both_ports(
    world: World, api: ApiServer, version: str
) -> None:
    assert api.resources(version) == StorePort(world.store).resources(version)


@pytest.mark.parametrize("resource", [kinds.NODES, kinds.NODEPOOLS])
def test_a_list_is_the_same_through_both_ports(
    world: World, api: ApiServer, resource: Resource
) -> None:
    world.store.create(resource, node("a"))
    assert api.list_all(resource) == StorePort(world.store).list_all(resource)


def test_the_conductor_creates_updates_and_deletes(world: World, api: ApiServer) -> None:
    made = api.create(kinds.PODS, pod("a"))
    assert api.get(kinds.PODS, "shop", "a") == made
    told = api.update(kinds.PODS, made | {"status": {"phase": "Running"}}, "status")
    assert told["status"]["phase"] == "Running"
    with pytest.raises(ApiError) as caught:
        api.update(kinds.PODS, made | {"spec": {}})
    assert caught.value.is_conflict
    with pytest.raises(ApiError) as caught:
        api.delete(kinds.PODS, {"metadata": {"name": "a", "namespace": "shop", "uid": "other"}})
    assert caught.value.is_conflict
    api.delete(kinds.PODS, told)
    assert world.store.all(kinds.PODS) == []
    with pytest.raises(ApiError) as caught:
        api.get(kinds.PODS, "shop", "a")
    assert caught.value.is_not_found


def test_the_conductor_watches_until_it_closes(world: World, api: ApiServer) -> None:
    listing = api.list_all(kinds.NODES)
    seen: list[Json] = []
    got = threading.Event()
    watch = api.watch(kinds.NODES, listing.resource_version)

    def read() -> None:
        for event in watch:
            seen.append({event.type: name_of(event.obj)})
            got.set()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    world.store.create(kinds.NODES, node("n"))
    assert got.wait(30)
    watch.close()
    thread.join(30)
    assert (seen, thread.is_alive()) == ([{"ADDED": "n"}], False)


def test_a_watch_from_another_life_is_expired(api: ApiServer) -> None:
    with pytest.raises(ApiError) as caught:
        list(api.watch(kinds.NODES, "99"))
    assert caught.value.is_expired
