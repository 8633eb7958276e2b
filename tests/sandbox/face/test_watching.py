"""Watches over HTTP."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from hooks.sandbox.store.kinds import NODES, PODS
from tests.sandbox.face.client import Client
from tests.sandbox.store.worlds import World, bound, node, pod

PODS_PATH = "/api/v1/namespaces/shop/pods"


def short(event: dict[str, Any]) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"].get("name", "")


def told(client: Client, path: str) -> list[tuple[str, str]]:
    """What a watch of no time tells."""
    return [short(event) for event in client.watch(f"{path}&timeoutSeconds=0")]


@pytest.fixture
def history(world: World) -> World:
    """Two Nodes and a Pod: n1 is changed at revision 4, n2 goes at 5."""
    world.store.create(NODES, node("n1"))
    world.store.create(NODES, node("n2"))
    world.store.create(PODS, pod("a"))
    world.store.modify(NODES, "", "n1", lambda obj: obj["metadata"].update(labels={"a": "b"}))
    world.store.delete(NODES, "", "n2")
    return world


@pytest.mark.parametrize(
    ("query", "events"),
    [
        ("watch=true&resourceVersion=1", [("ADDED", "n2"), ("MODIFIED", "n1"), ("DELETED", "n2")]),
        ("watch=1&resourceVersion=5", []),
        ("watch=1", [("ADDED", "n1")]),
        ("watch=1&resourceVersion=0", [("ADDED", "n1")]),
        ("watch=1&resourceVersion=1&fieldSelector=metadata.name%3Dn1", [("MODIFIED", "n1")]),
        ("watch=1&resourceVersion=1&labelSelector=a%3Db", [("ADDED", "n1")]),
        (
            "watch=1&resourceVersion=1&labelSelector=!a",
            [("ADDED", "n2"), ("DELETED", "n1"), ("DELETED", "n2")],
        ),
        ("watch=1&labelSelector=!a", []),
        ("watch=1&resourceVersion=5&allowWatchBookmarks=true", [("BOOKMARK", "")]),
    ],
)
def test_a_watch_tells_what_its_query_means(
    history: World, client: Client, query: str, events: list[tuple[str, str]]
) -> None:
    assert history.store.revision == 5
    assert told(client, f"/api/v1/nodes?{query}") == events


def test_what_no_longer_matches_goes_as_it_was_under_the_new_version(
    history: World, client: Client
) -> None:
    path = "/api/v1/nodes?watch=1&resourceVersion=2&labelSelector=!a&timeoutSeconds=0"
    gone = next(client.watch(path))
    assert gone["type"] == "DELETED"
    assert gone["object"]["metadata"]["resourceVersion"] == "4"
    assert "labels" not in gone["object"]["metadata"]
    assert history.store.get(NODES, "", "n1")["metadata"]["labels"] == {"a": "b"}


def test_a_watch_of_a_namespace_tells_of_no_other(world: World, client: Client) -> None:
    other = pod("b")
    other["metadata"]["namespace"] = "other"
    world.store.create(PODS, other)
    world.store.create(PODS, pod("a"))
    assert told(client, f"{PODS_PATH}?watch=1") == [("ADDED", "a")]


def test_a_bookmark_tells_how_far_everything_is_told(history: World, client: Client) -> None:
    path = "/api/v1/nodes?watch=1&resourceVersion=1&allowWatchBookmarks=1&timeoutSeconds=0"
    *_, last = client.watch(path)
    assert last == {
        "type": "BOOKMARK",
        "object": {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": str(history.store.revision)},
        },
    }


def test_a_streaming_list_ends_with_a_bookmark_that_says_so(history: World, client: Client) -> None:
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1"
    first, mark, *_ = client.watch(f"/api/v1/nodes?{query}&timeoutSeconds=0")
    assert (first["type"], mark["type"]) == ("ADDED", "BOOKMARK")
    assert mark["object"]["metadata"] == {
        "resourceVersion": str(history.store.revision),
        "annotations": {"k8s.io/initial-events-end": "true"},
    }


def test_a_version_of_another_life_is_an_error_event(client: Client) -> None:
    (event,) = client.watch("/api/v1/nodes?watch=1&resourceVersion=7")
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == (
        "ERROR",
        410,
        "Expired",
    )


@pytest.mark.parametrize(
    "query",
    ["watch=1&resourceVersion=x", "watch=1&labelSelector=a+b", "watch=1&fieldSelector=a%3Db"],
)
def test_a_watch_that_makes_no_sense_is_a_bad_request(client: Client, query: str) -> None:
    status, body = client.ask("GET", f"/api/v1/nodes?{query}")
    assert (status, body["reason"]) == (400, "BadRequest")


def test_what_happens_is_told_at_once(world: World, client: Client) -> None:
    seen: list[tuple[str, str]] = []
    first, second = threading.Event(), threading.Event()

    def read() -> None:
        for event in client.watch(f"{PODS_PATH}?watch=1&allowWatchBookmarks=true"):
            seen.append(short(event))
            (second if first.is_set() else first).set()
            if second.is_set():
                return

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    world.store.create(PODS, bound("a"))
    assert first.wait(30)
    world.store.delete(PODS, "shop", "a")
    assert second.wait(30)
    thread.join(30)
    assert seen == [("ADDED", "a"), ("MODIFIED", "a")]
