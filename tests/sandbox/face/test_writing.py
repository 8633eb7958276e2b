"""Writes over HTTP."""

from __future__ import annotations

import pytest
import requests

from hooks.sandbox.face import Face, SubresourceCall, evictions
from hooks.sandbox.face.bodies import success
from hooks.sandbox.face.wire import Answer
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import CONFIGMAPS, EVENTS, NODECLAIMS, NODES, PODS
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.face.client import JSON_PATCH, MERGE_PATCH, Client
from tests.sandbox.store.worlds import World, bound, node, pod

PODS_PATH = "/api/v1/namespaces/shop/pods"
NODE = "/api/v1/nodes/n1"
CLAIM = "/apis/karpenter.sh/v1/nodeclaims/c"


def test_a_create_answers_with_what_is_stored(world: World, client: Client) -> None:
    bare = pod("a")
    del bare["metadata"]["namespace"]
    status, body = client.ask("POST", PODS_PATH, bare)
    assert (status, body) == (201, world.store.get(PODS, "shop", "a"))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/namespaces/other/pods", pod("a")),
        ("POST", PODS_PATH, pod("a") | {"apiVersion": "v1", "kind": "Node"}),
        ("PUT", NODE, node("n2")),
        ("POST", PODS_PATH, ["a list"]),
        ("POST", PODS_PATH, "a text"),
    ],
)
def test_a_request_that_contradicts_itself_is_bad(
    world: World, client: Client, method: str, path: str, body: Obj
) -> None:
    status, answer = client.ask(method, path, body)
    assert (status, answer["reason"], world.store.revision) == (400, "BadRequest", 0)


def test_another_word_than_all_is_no_dry_run(world: World, client: Client) -> None:
    status, answer = client.ask("POST", f"{PODS_PATH}?dryRun=Some", pod("a"))
    assert (status, answer["reason"], world.store.revision) == (422, "Invalid", 0)


def test_an_update_of_a_custom_kind_must_name_a_version(world: World, client: Client) -> None:
    world.store.create(NODECLAIMS, node("c"))
    status, answer = client.ask("PUT", CLAIM, node("c", labels={"a": "b"}))
    assert (status, answer["details"]["causes"][0]["field"]) == (422, "metadata.resourceVersion")


def test_a_pod_is_bound_through_its_own_door(world: World, client: Client) -> None:
    world.store.create(PODS, pod("a"))
    to_n1 = {"target": {"kind": "Node", "name": "n1"}}
    path = f"{PODS_PATH}/a/binding"
    assert client.ask("POST", f"{path}?dryRun=All", to_n1)[0] == 201
    assert client.ask("POST", path, to_n1) == (
        201,
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201},
    )
    assert client.ask("POST", path, to_n1)[0] == 409
    stored = world.store.get(PODS, "shop", "a")
    assert (stored["spec"]["nodeName"], stored["metadata"]["generation"]) == ("n1", 1)
    assert stored["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2026-11-01T12:00:00Z",
        }
    ]
    assert world.store.revision == 2


def test_a_body_that_is_no_json_is_bad(client: Client) -> None:
    answer = client.session.post(client.url + PODS_PATH, data=b"{:", timeout=30)
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


def test_an_update_replaces_and_a_stale_one_is_a_conflict(world: World, client: Client) -> None:
    stored = world.store.create(NODES, node("n1"))
    status, body = client.ask("PUT", NODE, stored | {"spec": {"unschedulable": True}})
    assert (status, body["spec"]) == (200, {"unschedulable": True})
    status, body = client.ask("PUT", NODE, stored)
    assert (status, body["reason"], body["details"]) == (
        409,
        "Conflict",
        {"name": "n1", "kind": "nodes"},
    )


def test_a_status_is_written_through_its_own_door(world: World, client: Client) -> None:
    world.store.create(NODECLAIMS, node("c"))
    patch = {"status": {"nodeName": "n1"}, "metadata": {"labels": {"a": "b"}}}
    status, body = client.ask("PATCH", f"{CLAIM}/status", patch, MERGE_PATCH)
    assert (status, body["status"], body["metadata"].get("labels")) == (
        200,
        {"nodeName": "n1"},
        None,
    )


def test_a_json_patch_that_can_not_be_applied_is_a_bare_422(world: World, client: Client) -> None:
    world.store.create(NODES, node("n1"))
    test = [{"op": "test", "path": "/metadata/resourceVersion", "value": "0"}]
    assert client.ask("PATCH", NODE, test, JSON_PATCH) == (
        422,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "the server rejected our request due to an error in our request",
            "reason": "Invalid",
            "details": {},
            "code": 422,
        },
    )


def test_a_server_side_apply_may_come_as_yaml(world: World, client: Client) -> None:
    answer = client.session.patch(
        client.url + "/api/v1/namespaces/shop/configmaps/cm?fieldManager=me",
        data=b"metadata: {name: cm, namespace: shop}\ndata: {a: b}\n",
        headers={"Content-Type": "application/apply-patch+yaml"},
        timeout=30,
    )
    assert answer.status_code == 201
    assert world.store.get(CONFIGMAPS, "shop", "cm")["data"] == {"a": "b"}


def test_a_patch_of_an_unknown_sort_is_not_understood(world: World, client: Client) -> None:
    world.store.create(NODES, node("n1"))
    status, body = client.ask("PATCH", NODE, {}, "application/json")
    assert (status, body["reason"]) == (415, "UnsupportedMediaType")


def test_protobuf_is_not_understood(client: Client) -> None:
    kind = "application/vnd.kubernetes.protobuf"
    status, body = client.ask("POST", PODS_PATH, pod("a"), kind)
    assert (status, body["reason"]) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", NODE), ("PUT", "/api/v1/nodes"), ("PATCH", "/api/v1/nodes")]
)
def test_a_verb_that_has_no_meaning_there_is_not_allowed(
    client: Client, method: str, path: str
) -> None:
    status, body = client.ask(method, path, {})
    assert (status, body["reason"]) == (405, "MethodNotAllowed")


def test_a_dry_run_answers_as_if_and_stores_nothing(world: World, client: Client) -> None:
    world.store.create(NODES, node("n1"))
    merge = {"spec": {"unschedulable": True}}
    answers = [
        client.ask("POST", "/api/v1/nodes?dryRun=All", node("n2")),
        client.ask("PUT", f"{NODE}?dryRun=All", node("n1") | merge),
        client.ask("PATCH", f"{NODE}?dryRun=All", merge, MERGE_PATCH),
        client.ask("DELETE", f"{NODE}?dryRun=All"),
        client.ask("DELETE", NODE, {"dryRun": ["All"]}),
    ]
    assert [status for status, _ in answers] == [201, 200, 200, 200, 200]
    assert world.store.revision == 1


def test_a_delete_of_what_goes_at_once_is_a_success(world: World, client: Client) -> None:
    uid = world.store.create(NODECLAIMS, node("c"))["metadata"]["uid"]
    assert client.ask("DELETE", CLAIM) == (
        200,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {
                "name": "c",
                "group": "karpenter.sh",
                "kind": "nodeclaims",
                "uid": uid,
            },
        },
    )
    assert client.ask("DELETE", CLAIM)[0] == 404


def test_a_delete_of_what_stays_answers_with_it(world: World, client: Client) -> None:
    world.store.create(NODECLAIMS, node("c", finalizers=["karpenter.sh/termination"]))
    status, body = client.ask("DELETE", CLAIM, {"propagationPolicy": "Background"})
    assert (status, body) == (200, world.store.get(NODECLAIMS, "", "c"))


def test_a_delete_of_a_pod_answers_with_it_and_keeps_its_grace(
    world: World, client: Client
) -> None:
    world.store.create(PODS, bound("a"))
    status, body = client.ask("DELETE", f"{PODS_PATH}/a", {"gracePeriodSeconds": 7})
    assert (status, body["metadata"]["deletionGracePeriodSeconds"]) == (200, 7)
    status, body = client.ask("DELETE", f"{PODS_PATH}/a?gracePeriodSeconds=0")
    assert (status, body["kind"], world.store.all(PODS)) == (200, "Pod", [])


@pytest.mark.parametrize("stale", [{"uid": "other"}, {"resourceVersion": "9"}])
def test_a_delete_under_a_condition_that_does_not_hold_is_a_conflict(
    world: World, client: Client, stale: dict[str, str]
) -> None:
    world.store.create(NODECLAIMS, node("c"))
    status, body = client.ask("DELETE", CLAIM, {"preconditions": stale})
    assert (status, body["reason"], body["details"]["name"]) == (409, "Conflict", "c")


@pytest.mark.parametrize(
    ("body", "query", "finalizers"),
    [
        ({"propagationPolicy": "Foreground"}, "", ["foregroundDeletion"]),
        ({}, "?propagationPolicy=Foreground", ["foregroundDeletion"]),
        ({"propagationPolicy": "Orphan"}, "", ["orphan"]),
        ({"orphanDependents": True}, "", ["orphan"]),
    ],
)
def test_a_delete_may_wait_for_what_is_owned(
    world: World, client: Client, body: Obj, query: str, finalizers: list[str]
) -> None:
    world.store.create(NODES, node("n1"))
    status, left = client.ask("DELETE", NODE + query, body)
    assert (status, left["metadata"]["finalizers"]) == (200, finalizers)
    assert client.ask("DELETE", NODE, {"propagationPolicy": "Background"})[0] == 200
    assert world.store.find(NODES, "", "n1") is None


def test_a_delete_in_an_unknown_way_is_invalid(world: World, client: Client) -> None:
    world.store.create(NODES, node("n1"))
    status, body = client.ask("DELETE", NODE, {"propagationPolicy": "Sideways"})
    assert (status, body["message"]) == (
        422,
        (
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: '
            '"Sideways": supported values: "Foreground", "Background", "Orphan", "nil"'
        ),
    )


def test_a_collection_is_deleted_by_its_selector(world: World, client: Client) -> None:
    for name, app in (("a", "x"), ("b", "y")):
        labelled = pod(name)
        labelled["metadata"]["labels"] = {"app": app}
        world.store.create(PODS, labelled)
    status, body = client.ask("DELETE", f"{PODS_PATH}?labelSelector=app%3Dx")
    assert (status, body["status"], client.names(PODS_PATH)) == (200, "Success", ["b"])


def test_an_event_is_created_through_one_door_and_read_through_the_other(
    world: World, client: Client
) -> None:
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": "api."},
        "eventTime": "2026-11-01T12:00:00.000000Z",
        "reportingController": "noderotation.io/hooks",
        "reportingInstance": "hooks-1",
        "action": "Rotate",
        "reason": "RotationStarted",
        "type": "Normal",
        "note": "it starts",
        "regarding": {"kind": "NodePool", "name": "api"},
    }
    new = "/apis/events.k8s.io/v1/namespaces/default/events"
    status, made = client.ask("POST", new, event)
    assert (status, made["note"]) == (201, "it starts")
    old = "/api/v1/namespaces/default/events"
    (seen,) = client.get(f"{old}?fieldSelector=involvedObject.name%3Dapi")["items"]
    assert (seen["message"], seen["involvedObject"]["name"]) == ("it starts", "api")
    name = made["metadata"]["name"]
    status, counted = client.ask("PATCH", f"{new}/{name}", {"series": {"count": 2}}, MERGE_PATCH)
    assert (status, counted["note"], counted["series"]) == (200, "it starts", {"count": 2})
    assert client.names(f"{new}?fieldSelector=regarding.name%3Dapi") == [name]
    assert client.ask("DELETE", f"{new}/{name}")[0] == 200
    assert world.store.all(EVENTS) == []


# --- Subresources of others ---


class Evictions:
    """Remembers what is to be evicted, and refuses when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.refusal: RefusedError | None = None

    def __call__(
        self, namespace: str, name: str, *, uid: str, grace_seconds: int | None, dry_run: bool
    ) -> None:
        self.asked.append((namespace, name, uid, grace_seconds, dry_run))
        if self.refusal is not None:
            raise self.refusal


def eviction(**options: object) -> Obj:
    return {"metadata": {"name": "a", "namespace": "shop"}, "deleteOptions": options}


def test_evictions_go_to_whoever_evicts(world: World) -> None:
    evict = Evictions()
    with (
        Face(world.store, subresources={("pods", "eviction"): evictions(evict)}) as face,
        Client(face.url) as client,
    ):
        path = f"{PODS_PATH}/a/eviction"
        done = client.ask("POST", path, eviction(preconditions={"uid": "u"}, gracePeriodSeconds=3))
        client.ask("POST", path, eviction(dryRun=["All"]))
        client.ask("POST", f"{path}?dryRun=All", eviction())
        evict.refusal = RefusedError(
            429, "TooManyRequests", "Cannot evict pod", {"retryAfterSeconds": 10}
        )
        refused = client.send("POST", path, eviction())
        assert client.ask("POST", f"{PODS_PATH}/b/eviction", eviction())[0] == 400
        assert [call.resource for call in face.calls] == ["pods/eviction"] * 5
    assert (done[0], done[1]["status"]) == (201, "Success")
    assert evict.asked == [
        ("shop", "a", "u", 3, False),
        ("shop", "a", "", None, True),
        ("shop", "a", "", None, True),
        ("shop", "a", "", None, False),
    ]
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "10")


def test_any_subresource_can_be_answered_for(world: World) -> None:
    seen: list[SubresourceCall] = []

    def answer(call: SubresourceCall) -> Answer:
        seen.append(call)
        return success()

    doors = {("deployments", "scale"): answer}
    with Face(world.store, subresources=doors) as face, Client(face.url) as client:
        path = "/apis/apps/v1/namespaces/shop/deployments/web/scale"
        client.ask("PUT", path, {"spec": {"replicas": 2}})
    assert seen == [
        SubresourceCall(
            "update",
            "shop",
            "web",
            {"spec": {"replicas": 2}},
            dry_run=False,
            user_agent=f"python-requests/{requests.__version__}",
        )
    ]
