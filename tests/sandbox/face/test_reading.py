"""Gets and lists over HTTP."""

from __future__ import annotations

import pytest

from hooks.sandbox.face import Call, Face
from hooks.sandbox.store.kinds import NODECLAIMS, NODES, PODS
from tests.sandbox.face.client import Client
from tests.sandbox.store.worlds import World, bound, node, pod


def test_an_object_comes_as_it_is_stored(world: World, client: Client) -> None:
    stored = world.store.create(NODECLAIMS, node("c"))
    assert client.get("/apis/karpenter.sh/v1/nodeclaims/c") == stored
    assert client.get("/apis/karpenter.sh/v1/nodeclaims/c/status") == stored


def test_an_object_of_a_namespace_has_the_namespace_in_its_path(
    world: World, client: Client
) -> None:
    stored = world.store.create(PODS, pod("a"))
    assert client.get("/api/v1/namespaces/shop/pods/a") == stored
    assert client.ask("GET", "/api/v1/namespaces/other/pods/a")[0] == 404


def test_what_is_not_there_is_named(client: Client) -> None:
    assert client.ask("GET", "/apis/karpenter.sh/v1/nodeclaims/c") == (
        404,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": 'nodeclaims.karpenter.sh "c" not found',
            "reason": "NotFound",
            "details": {"name": "c", "group": "karpenter.sh", "kind": "nodeclaims"},
            "code": 404,
        },
    )


@pytest.mark.parametrize(
    "path",
    [
        "/apis/nobody.example/v1/nodes",
        "/apis/karpenter.sh/v1beta1/nodeclaims/c",
        "/apis/karpenter.sh/v1/gizmos",
        "/openapi/v2",
        "/",
    ],
)
def test_what_is_not_served_is_a_plain_404(client: Client, path: str) -> None:
    answer = client.send("GET", path)
    assert (answer.status_code, answer.text) == (404, "404 page not found\n")
    assert answer.headers["Content-Type"] == "text/plain"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/gizmos",
        "/api/v1/nodes/n1/proxy",
        "/api/v1/namespaces/shop/secrets/x/status",
        "/api/v1/pods/a",
    ],
)
def test_in_a_built_in_group_it_is_a_status_without_a_name(client: Client, path: str) -> None:
    status, body = client.ask("GET", path)
    assert (status, body["reason"], body["message"], body["details"]) == (
        404,
        "NotFound",
        "the server could not find the requested resource",
        {},
    )


def test_a_list_tells_its_version_and_kind(world: World, client: Client) -> None:
    stored = world.store.create(NODES, node("n1"))
    bare = {key: value for key, value in stored.items() if key not in {"apiVersion", "kind"}}
    assert client.get("/api/v1/nodes") == {
        "kind": "NodeList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "1"},
        "items": [bare],
    }


def test_the_items_of_a_custom_kind_say_what_they_are(world: World, client: Client) -> None:
    stored = world.store.create(NODECLAIMS, node("c"))
    assert client.get("/apis/karpenter.sh/v1/nodeclaims")["items"] == [stored]


def test_lists_are_of_all_namespaces_or_of_one(world: World, client: Client) -> None:
    world.store.create(PODS, pod("a"))
    other = pod("b")
    other["metadata"]["namespace"] = "other"
    world.store.create(PODS, other)
    assert client.names("/api/v1/pods") == ["b", "a"]
    assert client.names("/api/v1/namespaces/shop/pods") == ["a"]


def test_selectors_choose(world: World, client: Client) -> None:
    world.store.create(PODS, pod("a"))
    world.store.create(PODS, bound("b"))
    labelled = bound("c")
    labelled["metadata"]["labels"] = {"app": "x"}
    world.store.create(PODS, labelled)
    assert client.names("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1") == ["b", "c"]
    chosen = "labelSelector=app+in+(x,y)&fieldSelector=spec.nodeName%3Dn1"
    assert client.names(f"/api/v1/pods?{chosen}") == ["c"]
    status, body = client.ask("GET", "/api/v1/pods?fieldSelector=spec.colour%3Dred")
    assert (status, body["reason"]) == (400, "BadRequest")


def test_the_pages_of_a_list_are_all_of_one_moment(world: World, client: Client) -> None:
    for name in "abcde":
        world.store.create(NODES, node(name))
    first = client.get("/api/v1/nodes?limit=2")
    world.store.delete(NODES, "", "c")
    world.store.create(NODES, node("f"))
    token = first["metadata"]["continue"]
    second = client.get(f"/api/v1/nodes?limit=2&continue={token}")
    third = client.get(f"/api/v1/nodes?limit=2&continue={second['metadata']['continue']}")
    pages = [
        [item["metadata"]["name"] for item in page["items"]] for page in (first, second, third)
    ]
    assert pages == [["a", "b"], ["c", "d"], ["e"]]
    assert [page["metadata"].get("remainingItemCount") for page in (first, second, third)] == [
        3,
        1,
        None,
    ]
    assert {page["metadata"]["resourceVersion"] for page in (first, second, third)} == {"5"}
    assert "continue" not in third["metadata"]
    # A page that got lost on its way is asked for again.
    assert client.get(f"/api/v1/nodes?limit=2&continue={token}")["items"] == second["items"]


def test_the_oldest_pages_are_forgotten(world: World, client: Client) -> None:
    for name in "ab":
        world.store.create(NODES, node(name))
    tokens = [client.get("/api/v1/nodes?limit=1")["metadata"]["continue"] for _ in range(257)]
    assert client.ask("GET", f"/api/v1/nodes?continue={tokens[0]}")[0] == 410
    assert client.ask("GET", f"/api/v1/nodes?continue={tokens[1]}")[0] == 200


def test_how_many_are_left_is_not_told_of_what_was_chosen(world: World, client: Client) -> None:
    for name in "ab":
        world.store.create(NODES, node(name, labels={"a": "b"}))
    page = client.get("/api/v1/nodes?limit=1&labelSelector=a")
    assert "remainingItemCount" not in page["metadata"]


def test_a_limit_that_is_no_number_is_a_bad_request(client: Client) -> None:
    assert client.ask("GET", "/api/v1/nodes?limit=many")[0] == 400


def test_a_token_that_is_none_is_a_bad_request(client: Client) -> None:
    status, body = client.ask("GET", "/api/v1/nodes?limit=2&continue=zzz")
    assert (status, body["reason"]) == (400, "BadRequest")


def test_a_page_of_another_life_is_expired(client: Client) -> None:
    status, body = client.ask("GET", "/api/v1/nodes?limit=2&continue=5.1")
    assert (status, body["reason"]) == (410, "Expired")


def test_calls_are_recorded_as_the_audit_log_has_them(
    world: World, face: Face, client: Client
) -> None:
    world.store.create(NODES, node("n1"))
    client.get("/api/v1/nodes")
    client.get("/api/v1/nodes/n1")
    client.ask("GET", "/api/v1/nodes/n2")
    client.ask("POST", "/api/v1/nodes", {"metadata": {"generateName": "n-"}})
    client.ask("POST", "/api/v1/nodes", node("n1"))
    client.ask("PUT", "/api/v1/nodes/n1/status", node("n1"))
    client.ask("DELETE", "/api/v1/nodes/n1")
    client.ask("DELETE", "/api/v1/nodes")
    client.send("GET", "/version")
    assert [call._replace(name=call.name[:2]) for call in face.calls] == [
        Call("list", "nodes", "", 200),
        Call("get", "nodes", "n1", 200),
        Call("get", "nodes", "n2", 404),
        Call("create", "nodes", "n-", 201),
        Call("create", "nodes", "", 409),
        Call("update", "nodes/status", "n1", 200),
        Call("delete", "nodes", "n1", 200),
        Call("deletecollection", "nodes", "", 200),
        Call("get", "/version", "", 200),
    ]
