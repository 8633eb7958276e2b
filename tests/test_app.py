"""Routes, checks and the table from error to HTTP status (design/product.md, *HTTP*)."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs
from typing_extensions import override
from werkzeug.exceptions import Gone

from hooks import names
from hooks.app import ARRIVAL, LATER, create_app, problem_of
from hooks.cluster.errors import Conflict, OutOfTime, Refused, Unavailable
from hooks.protocol.errors import ShapeError
from hooks.settings import read_settings
from hooks.telemetry.metrics import Metrics

NOW = 1000.0
LIMIT = 64
NOTHING: Mapping[str, object] = MappingProxyType({})
HEADERS = {"Authorization": "Bearer s3cret", "Content-Type": "application/json"}


@dataclass
class Hook:
    """A handler that remembers what it was called with, and does what it is told."""

    error: Exception | None = None
    calls: list[tuple[bytes, float]] = field(default_factory=list)
    jobs: list[Callable[[], None]] = field(default_factory=list)

    def __call__(
        self,
        body: bytes,
        *,
        deadline: float,
        request_id: str,
        afterwards: Callable[[Callable[[], None]], None] | None = None,
    ) -> bytes:
        assert len(request_id) == 32
        for job in self.jobs:
            assert afterwards is not None
            afterwards(job)
        self.calls.append((body, deadline))
        if self.error is not None:
            raise self.error
        return b'{"attachments":[]}'


REVIEW = names.ADMISSION_EVICTION
TLS: Mapping[str, object] = MappingProxyType({"wsgi.url_scheme": "https"})


@dataclass
class World:
    hook: Hook
    client: FlaskClient
    token: Path
    metrics: Metrics
    reason: str | None = None
    now: float = NOW

    def post(
        self,
        body: bytes = b"{}",
        headers: Mapping[str, str] = HEADERS,
        path: str = names.SYNC_NODEPOOL,
        environ: Mapping[str, object] = NOTHING,
    ) -> tuple[int, Any]:
        answer = self.client.post(path, data=body, headers=headers, environ_overrides=environ)
        return answer.status_code, answer.json


@pytest.fixture
def world(tmp_path: Path) -> World:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    settings = read_settings(
        {"NODEROTATION_TOKEN_FILE": str(token), "NODEROTATION_BODY_LIMIT": str(LIMIT)}
    )
    hook, metrics = Hook(), Metrics()
    handlers = {names.SYNC_NODEPOOL: hook, names.CUSTOMIZE_NODEPOOL: hook}
    app = create_app(
        settings,
        handlers,
        lambda: made.reason,
        metrics,
        reviews={REVIEW: hook},
        clock=lambda: made.now,
    )
    made = World(hook, app.test_client(), token, metrics)
    return made


def error(code: str, name: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "field": name, "message": message}}


def headers(**changes: str | None) -> dict[str, str]:
    changed = HEADERS | {name.replace("_", "-"): text for name, text in changes.items()}
    return {name: text for name, text in changed.items() if text is not None}


@pytest.mark.parametrize("path", ["/sync/nodepool", "/customize/nodepool"])
def test_a_hook_gets_the_body_and_the_time_that_is_left(world: World, path: str) -> None:
    assert world.post(b'{"a":1}', path=path) == (200, {"attachments": []})
    assert world.hook.calls == [(b'{"a":1}', NOW + 8)]


def test_the_time_counts_from_the_arrival(world: World) -> None:
    assert world.post(environ={ARRIVAL: NOW - 7.5}) == (200, {"attachments": []})
    assert world.hook.calls == [(b"{}", NOW + 0.5)]


def test_a_request_that_waited_too_long_is_not_worked_on(world: World) -> None:
    message = "the request had waited too long when its turn came"
    expected = (503, error("ClusterUnavailable", "", message))
    assert world.post(environ={ARRIVAL: NOW - 8}) == expected
    assert world.hook.calls == []


@pytest.mark.parametrize(
    "presented",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer s3cre",
        "Basic s3cret",
        "s3cret",
        "Bearer é",
    ],
)
def test_without_the_token_nothing_of_the_body_is_read(world: World, presented: str | None) -> None:
    class Unread(io.BytesIO):
        @override
        def read(self, size: int | None = -1, /) -> bytes:
            raise AssertionError(size)

    answer = world.client.post(
        names.SYNC_NODEPOOL,
        input_stream=Unread(),
        headers=headers(Authorization=presented) | {"Content-Length": "2"},
    )
    message = "a bearer token is needed, and this is not it"
    assert (answer.status_code, answer.json, answer.headers["WWW-Authenticate"]) == (
        401,
        error("Unauthorized", "Authorization", message),
        "Bearer",
    )


@pytest.mark.parametrize("presented", ["bearer s3cret", "BEARER  s3cret "])
def test_scheme_and_white_space_do_not_matter(world: World, presented: str) -> None:
    assert world.post(headers=headers(Authorization=presented))[0] == 200


def test_a_new_token_counts_at_once(world: World) -> None:
    world.token.write_text("other")
    assert world.post()[0] == 401
    assert world.post(headers=headers(Authorization="Bearer other"))[0] == 200


@pytest.mark.parametrize("content", [None, ""])
def test_without_a_token_to_compare_with_nobody_is_let_in(
    world: World, content: str | None
) -> None:
    world.token.unlink()
    if content is not None:
        world.token.write_text(content)
    status, body = world.post(headers=headers(Authorization="Bearer "))
    assert (status, body["error"]["code"]) == (503, "NotReady")
    assert world.hook.calls == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Content_Type": None}, "must be application/json"),
        ({"Content_Type": "text/plain"}, "must be application/json"),
        ({"Content_Type": "application/yaml"}, "must be application/json"),
        ({"Content_Encoding": "gzip"}, "must be application/json, without a Content-Encoding"),
    ],
)
def test_only_json_is_taken(world: World, changes: dict[str, str | None], message: str) -> None:
    expected = (415, error("NotJSON", "Content-Type", message))
    assert world.post(headers=headers(**changes)) == expected


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_parameters_of_the_type_do_not_matter(world: World, kind: str) -> None:
    assert world.post(headers=headers(Content_Type=kind))[0] == 200


def test_a_body_of_exactly_the_limit_is_taken(world: World) -> None:
    body = b" " * LIMIT
    assert world.post(body)[0] == 200
    assert world.hook.calls == [(body, NOW + 8)]


def test_a_larger_body_is_refused(world: World) -> None:
    expected = (413, error("BodyTooLarge", "body", f"is larger than {LIMIT} bytes"))
    assert world.post(b" " * (LIMIT + 1)) == expected


def test_a_larger_body_of_unknown_length_is_refused(world: World) -> None:
    stream = io.BytesIO(b" " * (LIMIT + 1))
    unknown = {
        "wsgi.input": stream,
        "wsgi.input_terminated": True,
        "HTTP_TRANSFER_ENCODING": "chunked",
    }
    expected = (413, error("BodyTooLarge", "body", f"is larger than {LIMIT} bytes"))
    assert world.post(b"", environ=unknown) == expected


def test_no_body_at_all_is_for_the_hook_to_judge(world: World) -> None:
    assert world.post(b"", environ={"CONTENT_LENGTH": ""})[0] == 200
    assert world.hook.calls == [(b"", NOW + 8)]


class Broken(io.BytesIO):
    """A body whose reading fails."""

    def __init__(self, trouble: Exception) -> None:
        super().__init__()
        self.trouble = trouble

    @override
    def read(self, size: int | None = -1, /) -> bytes:
        assert size == 2
        raise self.trouble


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (
            Broken(TimeoutError()),
            (408, error("BodyIncomplete", "body", "did not arrive whole, or not in time")),
        ),
        (io.BytesIO(b"{"), (408, error("BodyIncomplete", "body", "did not arrive whole"))),
        (
            Broken(ValueError()),
            (400, error("BadRequest", "", "the framing of the body is malformed")),
        ),
    ],
)
def test_a_body_that_does_not_come_is_refused(
    world: World, stream: io.BytesIO, expected: tuple[int, Any]
) -> None:
    assert world.post(b"{}", environ={"wsgi.input": stream}) == expected
    assert world.hook.calls == []


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (
            ShapeError("object.metadata.name", "is missing"),
            (400, error("WrongShape", "object.metadata.name", "is missing")),
        ),
        (Unavailable("no answer", 7), (503, error("ClusterUnavailable", "", "no answer"))),
        (Conflict("it changed"), (503, error("ClusterUnavailable", "", "it changed"))),
        (OutOfTime("too late"), (503, error("ClusterUnavailable", "", "too late"))),
        (
            Refused(403, "no"),
            (503, error("ClusterUnavailable", "", "the API server refused it (403): no")),
        ),
    ],
)
def test_an_error_of_a_hook_becomes_its_status(
    world: World, trouble: Exception, expected: tuple[int, Any]
) -> None:
    world.hook.error = trouble
    assert world.post() == expected


def test_a_defect_is_logged_and_not_shown(world: World) -> None:
    world.hook.error = KeyError("secret detail")
    with capture_logs() as lines:
        status, body = world.post()
    (line,) = lines
    request_id = line["request_id"]
    message = "a defect; the log tells more under the request_id"
    shown = error("Internal", "", message)
    shown["error"]["request_id"] = request_id
    assert (status, body) == (500, shown)
    assert line == {
        "event": "request failed",
        "log_level": "error",
        "path": "/sync/nodepool",
        "request_id": request_id,
        "exc_info": world.hook.error,
    }


def test_a_refusal_is_logged(world: World) -> None:
    world.hook.error = ShapeError("object", "is missing")
    with capture_logs() as lines:
        world.post()
    assert [{**line, "request_id": ""} for line in lines] == [
        {
            "event": "request refused",
            "log_level": "warning",
            "path": "/sync/nodepool",
            "request_id": "",
            "status": 400,
            "code": "WrongShape",
            "field": "object",
            "message": "is missing",
        }
    ]


@pytest.mark.parametrize(
    "path", ["/", "/sync", "/sync/nodepool/", "//sync/nodepool", "/static/x", "/metrics/x", "/é"]
)
def test_another_path_is_not_found(world: World, path: str) -> None:
    status, body = world.post(path=path)
    assert (status, body["error"]["code"]) == (404, "NotFound")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_a_hook_is_only_posted_to(world: World, method: str) -> None:
    answer = world.client.open("/sync/nodepool", method=method)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    if method != "HEAD":
        assert answer.get_json()["error"]["code"] == "MethodNotAllowed"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_token(world: World, path: str) -> None:
    answer = world.client.get(path)
    assert (answer.status_code, answer.json) == (200, {"status": "ok"})
    assert world.client.head(path).status_code == 200
    refused = world.client.post(path)
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")


def test_metrics_need_no_token_and_are_text(world: World) -> None:
    world.metrics.called("get", "nodes", "ok")
    answer = world.client.get("/metrics")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    calls = 'noderotation_api_calls_total{resource="nodes",result="ok",verb="get"} 1.0'
    assert calls in answer.text.splitlines()
    assert world.client.post("/metrics").headers["Allow"] == "GET, HEAD"


def test_a_hook_is_measured_from_its_arrival_to_its_answer(world: World) -> None:
    world.post(b'{"a":1}', environ={ARRIVAL: NOW - 0.5})
    world.hook.error = Unavailable("down")
    world.post(b"[]")
    world.post(headers={})
    world.post(b"x" * (LIMIT + 1))
    shown = world.client.get("/metrics").text.splitlines()
    series = [line for line in shown if "_hook_" in line and "_bucket" not in line]
    name, size = "noderotation_hook_duration_seconds", "noderotation_hook_request_bytes"
    assert [line for line in series if not line.startswith("#")] == [
        f'{name}_count{{hook="/sync/nodepool",status="200"}} 1.0',
        f'{name}_sum{{hook="/sync/nodepool",status="200"}} 0.5',
        f'{name}_count{{hook="/sync/nodepool",status="401"}} 1.0',
        f'{name}_sum{{hook="/sync/nodepool",status="401"}} 0.0',
        f'{name}_count{{hook="/sync/nodepool",status="413"}} 1.0',
        f'{name}_sum{{hook="/sync/nodepool",status="413"}} 0.0',
        f'{name}_count{{hook="/sync/nodepool",status="503"}} 1.0',
        f'{name}_sum{{hook="/sync/nodepool",status="503"}} 0.0',
        f'{size}_count{{hook="/sync/nodepool"}} 2.0',
        f'{size}_sum{{hook="/sync/nodepool"}} 9.0',
    ]


def test_what_is_no_hook_is_not_measured(world: World) -> None:
    world.post(path="/sync/elsewhere")
    world.client.get("/sync/nodepool")
    world.client.get("/healthz")
    assert "hook=" not in world.client.get("/metrics").text


def test_readiness_says_why_not(world: World) -> None:
    world.reason = "the API server gives no answer"
    answer = world.client.get("/readyz")
    assert (answer.status_code, answer.json) == (503, error("NotReady", "", world.reason))
    assert world.client.get("/healthz").status_code == 200


def test_a_review_needs_no_token_but_tls(world: World) -> None:
    assert world.post(b'{"a":1}', {}, REVIEW, TLS) == (200, {"attachments": []})
    assert world.hook.calls == [(b'{"a":1}', NOW + 3)]
    status, body = world.post(b'{"a":1}', HEADERS, REVIEW)
    assert (status, body["error"]["code"], len(world.hook.calls)) == (404, "NotFound", 1)
    # A hook that needs a token needs it over TLS, too.
    assert world.post(headers={}, environ=TLS)[0] == 401


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "", None])
def test_a_review_is_answered_whatever_it_is_said_to_be(world: World, kind: str | None) -> None:
    given = {} if kind is None else {"Content-Type": kind}
    assert world.post(b"\xff", given, f"{REVIEW}?timeout=5s", TLS)[0] == 200
    assert world.hook.calls == [(b"\xff", NOW + 3)]


def test_a_review_that_waited_too_long_is_answered_all_the_same(world: World) -> None:
    late = {**TLS, ARRIVAL: NOW - 60}
    assert world.post(path=REVIEW, environ=late) == (200, {"attachments": []})
    assert world.hook.calls == [(b"{}", NOW - 57)]


def test_a_review_that_nobody_can_be_answered_is_refused(world: World) -> None:
    world.hook.error = ShapeError("request.uid", "is missing")
    refused = (400, error("WrongShape", "request.uid", "is missing"))
    assert world.post(path=REVIEW, environ=TLS) == refused
    too_large = (413, error("BodyTooLarge", "body", f"is larger than {LIMIT} bytes"))
    assert world.post(b" " * (LIMIT + 1), path=REVIEW, environ=TLS) == too_large


def test_what_can_wait_is_done_once_the_answer_has_been_sent(world: World) -> None:
    done: list[str] = []
    world.hook.jobs = [lambda: done.append("first"), lambda: done.append("second")]
    answer = world.client.post(REVIEW, data=b"{}", environ_overrides=dict(TLS))
    assert (answer.data, done) == (b'{"attachments":[]}', [])
    answer.close()
    assert done == ["first", "second"]


def test_what_can_wait_is_handed_to_the_server_if_that_takes_it(world: World) -> None:
    handed: list[Callable[[], None]] = []
    world.hook.jobs = [lambda: None, lambda: None]
    with world.client.post(REVIEW, data=b"{}", environ_overrides={**TLS, LATER: handed.append}):
        assert handed == []
    assert handed == world.hook.jobs


def test_reviews_are_measured_like_hooks(world: World) -> None:
    world.post(b'{"a":1}', path=REVIEW, environ={**TLS, ARRIVAL: NOW - 0.5})
    shown = world.client.get("/metrics").text.splitlines()
    labels = '{hook="/admission/eviction",status="200"}'
    assert f"noderotation_hook_duration_seconds_sum{labels} 0.5" in shown
    # Over the plain port the route isn't there, so nothing is measured.
    world.post(b'{"a":1}', path=REVIEW)
    assert 'status="404"' not in world.client.get("/metrics").text


def test_any_other_http_error_is_a_bad_request() -> None:
    problem = problem_of(Gone())
    assert (problem.status, problem.code) == (400, "BadRequest")


def test_every_answer_is_json(world: World) -> None:
    answers = [world.client.get(path) for path in ("/healthz", "/nowhere", "/sync/nodepool")]
    answers.append(world.client.post("/sync/nodepool", data=b"{}", headers=HEADERS))
    assert [answer.mimetype for answer in answers] == ["application/json"] * 4
