"""What holds for every review: an answer to any bytes, in time, and one rollout for two at once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from hooks import names
from hooks.admission import eviction as module
from hooks.admission.eviction import EvictionReview
from hooks.app import ARRIVAL
from hooks.cluster.connection import connect
from hooks.cluster.credentials import find_access
from hooks.drain.consequences import SOFTWARE
from hooks.drain.model import Case
from hooks.settings import Only, read_settings
from hooks.wiring import build_eviction
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import LONG, Reply, Seen, StandIn
from tests.support.live import Json
from tests.support.singleton import cluster, deployment, evicted, put, replica_set, review
from tests.support.singletonlive import SingletonLive

NOW = datetime(2026, 11, 29, 20, 1, tzinfo=UTC)
SETTINGS = read_settings(
    {"NODEROTATION_TLS_CERT_FILE": "tls.crt", "NODEROTATION_TLS_KEY_FILE": "tls.key"},
    Only.EVICTION,
)
PODS = "/api/v1/namespaces/default/pods"
SETS = "/apis/apps/v1/namespaces/default/replicasets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
ALL_READ = [
    ("GET", f"{PODS}/single-6d6cd94fd5-sjv82"),
    ("GET", f"{SETS}/single-6d6cd94fd5"),
    ("GET", f"{DEPLOYMENTS}/single"),
]
TRACKED = [*ALL_READ, ("PATCH", f"{DEPLOYMENTS}/single"), ("POST", EVENTS)]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@dataclass
class Asked:
    """The application of the webhook."""

    app: Flask

    def post(self, raw: bytes, left: float = 3.0) -> tuple[int, Json]:
        """Send a body over TLS that arrived long enough ago to leave that many seconds."""
        environ = {"wsgi.url_scheme": "https", ARRIVAL: time.monotonic() - 3 + left}
        answer = self.app.test_client().post(
            names.ADMISSION_EVICTION, data=raw, environ_overrides=environ, buffered=True
        )
        return answer.status_code, answer.json or {}


class Clock:
    """Seconds of the connection's clock, which a test may hold: what is done then takes no time."""

    def __init__(self) -> None:
        self._held: float | None = None
        self._behind = 0.0

    def __call__(self) -> float:
        return time.monotonic() - self._behind if self._held is None else self._held

    def hold(self) -> None:
        self._held = self()

    def go_on(self) -> None:
        if self._held is not None:
            self._behind, self._held = time.monotonic() - self._held, None


@dataclass
class Served(Asked):
    """The same on a stand-in for the API server."""

    server: StandIn
    clock: Clock

    def ask(self, left: float = 3.0) -> Json:
        status, answer = self.post(json.dumps(review()).encode(), left)
        assert status == 200
        response: Json = answer["response"]
        return response

    def called(self) -> list[tuple[str, str]]:
        return [(seen.method, seen.path) for seen in self.server.seen]


def application(folder: Path, url: str, clock: Callable[[], float] = time.monotonic) -> Flask:
    connection = connect(find_access(kubeconfig(folder, url, {})), clock=clock)
    app = build_eviction(SETTINGS, connection, lambda: NOW)
    assert isinstance(app, Flask)
    return app


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    standin = StandIn()
    kinds = {PODS: "Pod", SETS: "ReplicaSet", DEPLOYMENTS: "Deployment", EVENTS: "Event"}
    standin.collections |= kinds
    standin.put(PODS, evicted())
    standin.put(SETS, replica_set())
    standin.put(DEPLOYMENTS, deployment())
    clock = Clock()
    yield Served(application(tmp_path, standin.url, clock), standin, clock)
    standin.stop()


def reason_of(served: Served) -> list[str]:
    """The reasons of the answers so far, as /metrics has them."""
    shown = served.app.test_client().get("/metrics").text.splitlines()
    series = [line for line in shown if line.startswith("gracefuldrain_evictions_total{")]
    return [line.split('reason="')[1].split('"')[0] for line in series if not line.endswith(" 0.0")]


def test_a_ready_singleton_on_the_wire(served: Served) -> None:
    assert served.ask()["allowed"] is False
    assert served.called() == TRACKED
    marks = served.server.objects[f"{DEPLOYMENTS}/single"]["metadata"]["annotations"]
    assert marks[names.DRAIN_RESTARTED_AT] == "2026-11-29T20:01:00Z"
    del served.server.seen[:]
    assert served.ask()["allowed"] is False
    assert served.called() == ALL_READ


def hang(served: Served, method: str, path: str) -> None:
    """Let no time pass before such a call, and then as much as it has."""

    def rule(seen: Seen) -> Reply | None:
        if (seen.method, seen.path) != (method, path):
            return None
        served.clock.go_on()
        return Reply(500, wait=LONG)

    served.clock.hold()
    served.server.rules.append(rule)


@pytest.mark.parametrize(
    ("call", "allowed", "reason"),
    [
        (0, False, "PodNotRead"),
        (1, True, "OwnerNotRead"),
        (2, True, "OwnerNotRead"),
        (3, True, "TrackingNotWritten"),
        (4, False, "RolloutRequested"),
    ],
)
def test_an_api_server_that_hangs_costs_no_more_than_the_time_that_is_left(
    served: Served, call: int, allowed: bool, reason: str
) -> None:
    hang(served, *TRACKED[call])
    begun = time.monotonic()
    response = served.ask(left=0.7)
    assert time.monotonic() - begun < LONG / 2
    assert (response["allowed"], reason_of(served)) == (allowed, [reason])
    assert served.called() == TRACKED[: call + 1]


def test_one_that_arrived_too_long_ago_is_allowed_without_any_call(served: Served) -> None:
    response = served.ask(left=-1.0)
    assert response["allowed"] is True
    assert response["warnings"] == [
        "noderotation graceful-drain: there was no time left to look at it; not protected"
    ]
    assert (served.called(), reason_of(served)) == ([], ["OutOfTime"])


def test_two_evictions_at_the_same_moment_ask_for_one_rollout(served: Served) -> None:
    path = f"{DEPLOYMENTS}/single"
    both = threading.Event()

    def together(seen: Seen) -> Reply | None:
        if (seen.method, seen.path) != ("GET", path):
            return None
        if served.called().count(("GET", path)) > 1:
            both.set()
        return Reply(200, dict(served.server.objects[path]), after=both)

    served.server.rules.append(together)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: served.ask(LONG / 2), range(2)))
    assert [answer["allowed"] for answer in answers] == [False, False]
    calls = sorted(method for method, called in served.called() if called in {path, EVENTS})
    assert calls == ["GET", "GET", "GET", "PATCH", "PATCH", "POST"]
    assert sorted(reason_of(served)) == ["RolloutInProgress", "RolloutRequested"]


def test_a_defect_allows_and_is_logged(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Case) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr(module, "judge", broken)
    with capture_logs() as lines:
        response = served.ask()
    failed, told = lines
    request_id = failed["request_id"]
    assert (failed["event"], failed["log_level"]) == ("review failed", "error")
    assert response == {
        "uid": review()["request"]["uid"],
        "allowed": True,
        "warnings": [f"{SOFTWARE}: a defect; its log says more of {request_id}; not protected"],
    }
    assert (told["reason"], told["request_id"]) == ("InternalError", request_id)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """The application where no API server answers."""
    return Asked(application(tmp_path_factory.mktemp("alone"), "http://127.0.0.1:1"))


ANYTHING = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


def is_answered(asked: Asked, raw: bytes) -> bool:
    status, answer = asked.post(raw)
    if status == 400:
        assert answer["error"]["code"] == "WrongShape"
        return False
    assert (status, answer["kind"]) == (200, "AdmissionReview")
    assert answer["response"]["uid"]
    return True


@ANYTHING
@given(raw=st.binary(max_size=200))
def test_any_bytes_get_an_answer(alone: Asked, raw: bytes) -> None:
    assert not is_answered(alone, raw)


@ANYTHING
@given(value=JSON)
def test_any_json_gets_an_answer(alone: Asked, value: Any) -> None:
    is_answered(alone, json.dumps(value).encode())
    is_answered(alone, json.dumps({"request": value}).encode())


PLACES = ("", ".object", ".object.metadata", ".object.metadata.name", ".object.deleteOptions",
          ".object.deleteOptions.preconditions", ".object.deleteOptions.dryRun", ".name",
          ".namespace", ".resource", ".resource.resource", ".subResource", ".operation", ".dryRun",
          ".options", ".userInfo", ".oldObject")  # fmt: skip


@ANYTHING
@given(place=st.sampled_from(PLACES[1:]), value=JSON)
def test_whatever_stands_in_a_review_its_uid_is_answered(
    alone: Asked, place: str, value: Any
) -> None:
    assert is_answered(alone, json.dumps(put(review(), f"request{place}", value)).encode())


@ANYTHING
@given(data=st.data())
def test_a_review_that_was_damaged_gets_an_answer(alone: Asked, data: st.DataObject) -> None:
    raw = bytearray(json.dumps(review()).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    is_answered(alone, bytes(raw))
    is_answered(alone, bytes(raw[:cut]))


FIELDS = ("metadata", "metadata.uid", "metadata.annotations", "metadata.ownerReferences",
          "metadata.deletionTimestamp", "metadata.generation", "metadata.resourceVersion", "spec",
          "spec.replicas", "spec.paused", "spec.strategy", "spec.strategy.type",
          "spec.strategy.rollingUpdate", "spec.strategy.rollingUpdate.maxSurge", "spec.template",
          "spec.template.metadata", "status", "status.conditions", "status.phase",
          "status.readyReplicas", "status.observedGeneration")  # fmt: skip


@ANYTHING
@given(which=st.integers(0, 2), field=st.sampled_from(FIELDS), value=JSON)
def test_whatever_stands_in_an_object_the_review_is_answered(
    which: int, field: str, value: Any
) -> None:
    things = [evicted(), replica_set(), deployment()]
    named = cluster(*things)
    kind = ("pods", "replicasets", "deployments")[which]
    (key,) = named[kind]
    named[kind][key] = put(things[which], field, value)
    live = SingletonLive(named)
    hook = EvictionReview(SETTINGS, live.within, lambda: NOW)
    with capture_logs() as lines:
        answer = json.loads(hook(json.dumps(review()).encode(), deadline=0.0))
    assert answer["response"]["uid"] == review()["request"]["uid"]
    assert [line["event"] for line in lines if line["log_level"] == "error"] == []
