"""The servers of the demo, against an embedded cluster."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import requests

from hooks import names
from hooks.planning.hookserver import EvictionServer, HookServer
from hooks.planning.loopback import Loopback
from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.face import Face
from hooks.sandbox.store import kinds
from hooks.sandbox.store.store import ObjectStore
from tests.e2e.processes import free_ports
from tests.scenarios.interposer import Interposer, Rule
from tests.support.scene import idle

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)
"""In the window of the scenes' policy."""
TOKEN = secrets.token_urlsafe()


@pytest.fixture
def store() -> ObjectStore:
    """A store with one pool, one claim that is due, and its Node."""
    store = ObjectStore(VirtualClock(NOW).now)
    store.create(kinds.NAMESPACES, {"metadata": {"name": "default"}})
    return store


@pytest.fixture
def face(store: ObjectStore) -> Iterator[Face]:
    face = Face(store)
    face.start()
    yield face
    face.stop()


def ask(server: HookServer, token: str) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        return session.post(
            server.url + names.SYNC_NODEPOOL,
            json=idle().request(),
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )


def test_it_judges_by_the_clock_that_it_is_given(store: ObjectStore) -> None:
    asked = []
    for now in (NOW, NOW.replace(hour=3)):
        door = Face(store)
        door.start()
        with HookServer(door, VirtualClock(now).now) as server:
            door.calls.clear()
            assert ask(server, server.token).status_code == 200
            asked.append([call.resource for call in door.calls])
    assert asked == [["nodes"], []], "a candidate's Node is read only inside of the window"


def test_it_wants_its_token(face: Face) -> None:
    with HookServer(face, VirtualClock(NOW).now, token=TOKEN) as server:
        assert ask(server, "another").status_code == 401


def test_killed_in_the_middle_of_a_pass_it_answers_nobody_and_asks_nothing_more(
    store: ObjectStore,
) -> None:
    face = Face(store)
    face.start()
    with Interposer(face.url) as between:
        (port,) = free_ports(1)
        now = VirtualClock(NOW).now
        server = HookServer(face, now, token=TOKEN, url=between.url, port=port)
        deadly = Rule("GET", ".*", before=lambda _: server.kill(), times=9)
        with server, between.rules(deadly):
            with pytest.raises(requests.ConnectionError):
                ask(server, TOKEN)
            assert not server.running
            with pytest.raises(requests.ConnectionError):
                ask(server, TOKEN)
            # The thread of the killed call still runs, and would repeat a read that was cut off.
            time.sleep(0.3)
    assert len(deadly.hits) == 1


def test_another_one_takes_its_place_at_the_same_port(store: ObjectStore) -> None:
    (port,) = free_ports(1)
    for _ in range(2):
        with Face(store) as face, HookServer(face, VirtualClock(NOW).now, port=port) as server:
            assert ask(server, server.token).status_code == 200


def review(server: EvictionServer) -> requests.Response:
    asked = {"uid": "u", "kind": {"group": "policy", "version": "v1", "kind": "Eviction"}}
    where = {"name": "a", "namespace": "default", "operation": "CREATE", "dryRun": False}
    pods = {"resource": {"group": "", "version": "v1", "resource": "pods"}}
    about = {"subResource": "eviction", "object": {}, **pods}
    body = {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": asked | where | about,
    }
    with requests.Session() as session:
        session.trust_env = False
        return session.post(server.url + names.ADMISSION_EVICTION, json=body, timeout=30)


def test_the_webhook_answers_as_over_tls_and_reads_what_is_there(
    store: ObjectStore, face: Face
) -> None:
    del store
    with EvictionServer(face, VirtualClock(NOW).now) as server:
        answer = review(server)
    assert (answer.status_code, answer.json()["response"]["allowed"]) == (200, True)
    assert [(call.verb, call.resource, call.name) for call in face.calls] == [("get", "pods", "a")]


def test_a_webhook_that_was_killed_answers_nobody(face: Face) -> None:
    (port,) = free_ports(1)
    with EvictionServer(face, VirtualClock(NOW).now, port=port) as server:
        server.kill()
        with pytest.raises(requests.ConnectionError):
            review(server)


def test_an_answer_leaves_when_all_is_done_that_belongs_to_it() -> None:
    done: list[str] = []

    class Body(list[bytes]):
        def close(self) -> None:
            time.sleep(0.2)
            done.append("after")

    def app(environ: WSGIEnvironment, start: StartResponse) -> list[bytes]:
        done.append(environ["wsgi.url_scheme"])
        start("200 OK", [("Content-Length", "4")])
        return Body([b"so", b"on"])

    server = Loopback(app)
    server.start()
    with requests.Session() as session:
        session.trust_env = False
        assert session.get(server.url, timeout=30).content == b"soon"
    assert done == ["http", "after"]
    server.die()
