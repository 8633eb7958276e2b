"""Routes, checks and the table from error to HTTP status (design/product.md, *HTTP*)."""

from __future__ import annotations

import io
from collections.abc import Mapping
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
from hooks.app import ARRIVAL, create_app, problem_of
from hooks.cluster.errors import Conflict, OutOfTime, Refused, Unavailable
from hooks.protocol.errors import ShapeError
from hooks.settings import read_settings

NOW = 1000.0
LIMIT = 64
NOTHING: Mapping[str, object] = MappingProxyType({})
HEADERS = {"Authorization": "Bearer s3cret", "Content-Type": "application/json"}


@dataclass
class Hook:
    """A handler that remembers what it was called with, and does what it is told."""

    error: Exception | None = None
    calls: list[tuple[bytes, float]] = field(default_factory=list)

    def __call__(self, body: bytes, *, deadline: float, request_id: str) -> bytes:
        assert len(request_id) == 32
        self.calls.append((body, deadline))
        if self.error is not None:
            raise self.error
        return b'{"attachments":[]}'


@dataclass
class World:
    hook: Hook
    client: FlaskClient
    token: Path
    reason: str | None = None

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
    hook = Hook()
    handlers = {names.SYNC_NODEPOOL: hook, names.CUSTOMIZE_NODEPOOL: hook}
    app = create_app(settings, handlers, lambda: made.reason, clock=lambda: NOW)
    made = World(hook, app.test_client(), token)
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


def test_readiness_says_why_not(world: World) -> None:
    world.reason = "the API server gives no answer"
    answer = world.client.get("/readyz")
    assert (answer.status_code, answer.json) == (503, error("NotReady", "", world.reason))
    assert world.client.get("/healthz").status_code == 200


def test_any_other_http_error_is_a_bad_request() -> None:
    problem = problem_of(Gone())
    assert (problem.status, problem.code) == (400, "BadRequest")


def test_every_answer_is_json(world: World) -> None:
    answers = [world.client.get(path) for path in ("/healthz", "/nowhere", "/sync/nodepool")]
    answers.append(world.client.post("/sync/nodepool", data=b"{}", headers=HEADERS))
    assert [answer.mimetype for answer in answers] == ["application/json"] * 4
