"""The API port over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from hooks.sandbox.apiport import Resource, WatchEvent
from hooks.sandbox.conductor.apiserver import ApiServer
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.loopback import Received, Sent, serving
from tests.sandbox.conductor.world import PODS

CLAIMS = Resource("karpenter.sh/v1", "nodeclaims", "NodeClaim", namespaced=False, has_status=True)
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns", "uid": "u"}}
CLAIM = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodeClaim",
    "metadata": {"name": "c", "uid": "u"},
}


BEARER = "t"


class Server:
    """Answers everything alike and remembers what came."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent
        self.received: list[Received] = []

    def __call__(self, request: Received) -> Sent:
        self.received.append(request)
        return self.sent


def line(event: str, obj: Obj) -> bytes:
    return json.dumps({"type": event, "object": obj}).encode() + b"\n"


@pytest.mark.parametrize(
    ("api_version", "path"),
    [("v1", "/api/v1"), ("karpenter.sh/v1", "/apis/karpenter.sh/v1")],
)
def test_discovery_folds_subresources_into_their_kind(api_version: str, path: str) -> None:
    body = {
        "resources": [
            {"name": "things", "kind": "Thing", "namespaced": True},
            {"name": "things/status", "kind": "Thing", "namespaced": True},
            {"name": "others", "kind": "Other", "namespaced": False},
        ]
    }
    server = Server(Sent(body=body))
    with serving(server) as url:
        found = ApiServer(url, token=BEARER).resources(api_version)
    assert found == [
        Resource(api_version, "things", "Thing", namespaced=True, has_status=True),
        Resource(api_version, "others", "Other", namespaced=False, has_status=False),
    ]
    assert server.received[0].path == path
    assert server.received[0].headers["Authorization"] == f"Bearer {BEARER}"
    assert server.received[0].headers["User-Agent"].startswith("metacontroller/")


def test_a_list_fills_in_the_kind_of_its_items() -> None:
    body = {"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}]}
    server = Server(Sent(body=body))
    with serving(server) as url:
        listing = ApiServer(url).list_all(PODS)
    assert listing.items == [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]
    assert listing.resource_version == "7"
    assert server.received[0].path == "/api/v1/pods"


@pytest.mark.parametrize(
    ("call", "method", "path"),
    [
        (lambda api: api.get(PODS, "ns", "a"), "GET", "/api/v1/namespaces/ns/pods/a"),
        (lambda api: api.get(CLAIMS, "", "c"), "GET", "/apis/karpenter.sh/v1/nodeclaims/c"),
        (lambda api: api.create(PODS, POD), "POST", "/api/v1/namespaces/ns/pods"),
        (lambda api: api.create(CLAIMS, CLAIM), "POST", "/apis/karpenter.sh/v1/nodeclaims"),
        (lambda api: api.update(PODS, POD), "PUT", "/api/v1/namespaces/ns/pods/a"),
        (
            lambda api: api.update(CLAIMS, CLAIM, "status"),
            "PUT",
            "/apis/karpenter.sh/v1/nodeclaims/c/status",
        ),
        (lambda api: api.delete(PODS, POD), "DELETE", "/api/v1/namespaces/ns/pods/a"),
    ],
)
def test_paths(call: object, method: str, path: str) -> None:
    server = Server(Sent(body={"kind": "X"}))
    assert callable(call)
    with serving(server) as url:
        call(ApiServer(url + "/"))
    assert (server.received[0].method, server.received[0].path) == (method, path)


def test_a_delete_names_the_uid_and_background_propagation() -> None:
    server = Server(Sent())
    with serving(server) as url:
        ApiServer(url).delete(PODS, POD)
    assert json.loads(server.received[0].body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u"},
        "propagationPolicy": "Background",
    }


@pytest.mark.parametrize(
    ("sent", "status", "reason", "message"),
    [
        pytest.param(
            Sent(status=409, body={"reason": "Conflict", "message": "changed", "code": 409}),
            *(409, "Conflict", "changed"),
            id="Status",
        ),
        pytest.param(
            Sent(status=502, body=b"<html>"),
            *(502, "", "GET /api/v1/namespaces/ns/pods/a: 502 Bad Gateway"),
            id="no Status",
        ),
        pytest.param(
            Sent(status=500, body=[]),
            *(500, "", "GET /api/v1/namespaces/ns/pods/a: 500 Internal Server Error"),
            id="other JSON",
        ),
        pytest.param(
            Sent(status=403, body={}),
            *(403, "", "GET /api/v1/namespaces/ns/pods/a: 403"),
            id="empty Status",
        ),
    ],
)
def test_a_refusal_is_an_api_error(sent: Sent, status: int, reason: str, message: str) -> None:
    with serving(Server(sent)) as url, pytest.raises(ApiError) as caught:
        ApiServer(url).get(PODS, "ns", "a")
    error = caught.value
    assert (error.status, error.reason, str(error)) == (status, reason, message)


def test_an_unreachable_server_and_an_answer_without_json_are_api_errors() -> None:
    with serving(Server(Sent(body=b"hello"))) as url, pytest.raises(ApiError):
        ApiServer(url).get(PODS, "ns", "a")
    with pytest.raises(ApiError) as caught:
        # A port that just became free may be somebody else's at once.
        ApiServer("http://127.0.0.1:1").get(PODS, "ns", "a")
    assert caught.value.status == 0


@pytest.mark.parametrize(
    ("code", "reason", "kinds"),
    [
        (404, "NotFound", ["is_not_found"]),
        (409, "Conflict", ["is_conflict"]),
        (409, "AlreadyExists", ["is_already_exists"]),
        (410, "Expired", ["is_expired"]),
        (403, "Forbidden", []),
    ],
)
def test_what_an_api_error_is(code: int, reason: str, kinds: list[str]) -> None:
    error = ApiError(code, reason, "")
    names = ["is_not_found", "is_conflict", "is_already_exists", "is_expired"]
    assert [name for name in names if getattr(error, name)] == kinds


def test_a_watch_yields_events_at_once_also_when_they_share_or_split_chunks() -> None:
    second = line("MODIFIED", {"n": 2})
    release = threading.Event()

    def chunks() -> Iterator[bytes]:
        yield line("ADDED", {"n": 1}) + second[:9]
        release.wait(30)
        yield second[9:] + line("BOOKMARK", {"n": 3})

    server = Server(Sent(chunks=chunks()))
    with serving(server) as url:
        events = iter(ApiServer(url).watch(PODS, "41"))
        assert next(events) == WatchEvent("ADDED", {"n": 1}), "not kept until the next chunk"
        release.set()
        assert list(events) == [WatchEvent("MODIFIED", {"n": 2}), WatchEvent("BOOKMARK", {"n": 3})]
    assert server.received[0].path == (
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=41&timeoutSeconds=480"
    )


def test_an_error_event_of_a_watch_is_an_api_error() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    server = Server(Sent(chunks=iter([line("ERROR", status)])))
    with serving(server) as url, pytest.raises(ApiError, match="too old") as caught:
        list(ApiServer(url).watch(PODS, "1"))
    assert caught.value.is_expired


def test_a_watch_that_is_refused_is_an_api_error() -> None:
    sent = Sent(status=410, body={"code": 410, "reason": "Expired", "message": "too old"})
    with serving(Server(sent)) as url, pytest.raises(ApiError) as caught:
        ApiServer(url).watch(PODS, "1")
    assert caught.value.is_expired


def test_a_watch_that_breaks_off_is_an_api_error() -> None:
    with serving(Server(Sent(chunks=iter([b"{nonsense}\n"])))) as url, pytest.raises(ApiError):
        list(ApiServer(url).watch(PODS, "1"))


def test_close_ends_a_watch_in_which_another_thread_waits() -> None:
    release, begun = threading.Event(), threading.Event()
    got: list[WatchEvent] = []

    def chunks() -> Iterator[bytes]:
        yield line("ADDED", {"n": 1})
        release.wait(60)

    with serving(Server(Sent(chunks=chunks()))) as url:
        watch = ApiServer(url).watch(PODS, "1")

        def read() -> None:
            for event in watch:
                got.append(event)
                begun.set()

        reader = threading.Thread(target=read)
        reader.start()
        assert begun.wait(30)
        watch.close()
        # Long before the server would end it.
        reader.join(20)
        ended = not reader.is_alive()
        release.set()
    assert ended
    assert got == [WatchEvent("ADDED", {"n": 1})]
