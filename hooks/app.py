"""The HTTP face of the hooks: routes, and the ONE table from error to HTTP status.

Owns the order of the checks (nothing of a body is read before the token has been checked) and the
shape of answers that are errors. Leaves what a hook does to the handlers that it is given, and slow
or malformed connections to :mod:`hooks.server`. Source: design/product.md, *HTTP*.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import uuid4

import structlog
from flask import Flask, Response, g, request
from werkzeug.exceptions import (
    BadRequest,
    HTTPException,
    MethodNotAllowed,
    NotFound,
    RequestEntityTooLarge,
    RequestTimeout,
    ServiceUnavailable,
    Unauthorized,
    UnsupportedMediaType,
)

from hooks import names
from hooks.cluster.errors import ClusterError, OutOfTime
from hooks.protocol.errors import ShapeError
from hooks.settings import Settings, TokenFile

ARRIVAL: Final = "noderotation.arrival"
"""Key of the WSGI environment: when the request arrived, in seconds of the app's clock."""
JSON: Final = "application/json"
INTERNAL: Final = 500

ERRORS: Final[tuple[tuple[type[Exception], int, str, str], ...]] = (
    (ShapeError, 400, "WrongShape", "body"),
    (Unauthorized, 401, "Unauthorized", "Authorization"),
    (NotFound, 404, "NotFound", ""),
    (MethodNotAllowed, 405, "MethodNotAllowed", ""),
    (RequestTimeout, 408, "BodyIncomplete", "body"),
    (RequestEntityTooLarge, 413, "BodyTooLarge", "body"),
    (UnsupportedMediaType, 415, "NotJSON", "Content-Type"),
    # Never 429: without a positive Retry-After, Metacontroller would ask again at once, for ever.
    (ClusterError, 503, "ClusterUnavailable", ""),
    (ServiceUnavailable, 503, "NotReady", ""),
    (HTTPException, 400, "BadRequest", ""),
    (Exception, INTERNAL, "Internal", ""),
)
"""Error class, HTTP status, code, and field unless the error names one; the first that fits."""


class Handler(Protocol):
    """A hook: bytes in, bytes out.

    It sends no write once the app's clock shows ``deadline``. Raises ShapeError for a body that
    can't be used, ClusterError for trouble with the API; any other error is a defect.
    """

    def __call__(self, body: bytes, *, deadline: float, request_id: str) -> bytes:
        """Answer one call."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What an error becomes: the HTTP status, and the members of ``error`` in the body."""

    status: int
    code: str
    field: str
    message: str


def problem_of(error: Exception) -> Problem:
    """Translate an error by the table; of an unexpected one nothing is told but that it is one."""
    status, code, field = next(
        (status, code, field) for kind, status, code, field in ERRORS if isinstance(error, kind)
    )
    match error:
        case ShapeError():
            return Problem(status, code, error.field, error.message)
        case ClusterError():
            return Problem(status, code, field, str(error))
        case HTTPException():
            return Problem(status, code, field, error.description or error.name)
        case _:
            return Problem(status, code, field, "a defect; the log tells more under the request_id")


def create_app(
    settings: Settings,
    handlers: Mapping[str, Handler],
    ready: Callable[[], str | None],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Flask:
    """Make the application.

    ``handlers`` maps each hook's path to what answers it. ``ready`` says why no hook can be
    answered, None when they can. ``clock`` (seconds, monotonic) is what deadlines are read on.
    """
    app = Flask("noderotation", static_folder=None)
    # A path with a doubled slash is another path, not a redirect.
    app.url_map.merge_slashes = False
    token = TokenFile(settings.token_file)

    def answer_hook(path: str) -> Response:
        arrival: float = request.environ.get(ARRIVAL, clock())
        _check_token(token)
        _check_type()
        body = _read_body(settings.body_limit)
        deadline = arrival + settings.write_time.total_seconds()
        if clock() >= deadline:
            raise OutOfTime("the request had waited too long when its turn came")
        answer = handlers[path](body, deadline=deadline, request_id=g.request_id)
        return Response(answer, mimetype=JSON)

    def healthz() -> Response:
        return _json({"status": "ok"})

    def readyz() -> Response:
        reason = ready()
        if reason is not None:
            raise ServiceUnavailable(reason)
        return _json({"status": "ok"})

    def take_number() -> None:
        g.request_id = uuid4().hex

    for path in handlers:
        app.add_url_rule(
            path,
            path,
            answer_hook,
            methods=["POST"],
            defaults={"path": path},
            provide_automatic_options=False,
        )
    for path, view in ((names.HEALTHZ, healthz), (names.READYZ, readyz)):
        app.add_url_rule(path, path, view, methods=["GET"], provide_automatic_options=False)
    app.before_request(take_number)
    app.register_error_handler(Exception, _answer_error)
    return app


def _check_token(token: TokenFile) -> None:
    scheme, _, presented = request.headers.get("Authorization", "").partition(" ")
    try:
        admitted = token.admits(presented.strip().encode("latin-1", "replace"))
    except (OSError, ValueError) as error:
        raise ServiceUnavailable(f"there is no token to compare with: {error}") from error
    if scheme.lower() != "bearer" or not admitted:
        raise Unauthorized("a bearer token is needed, and this is not it")


def _check_type() -> None:
    if request.mimetype != JSON:
        raise UnsupportedMediaType(f"must be {JSON}")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType(f"must be {JSON}, without a Content-Encoding")


def _read_body(limit: int) -> bytes:
    length = request.content_length
    if length is None and not request.environ.get("wsgi.input_terminated"):
        return b""
    if length is not None and length > limit:
        raise RequestEntityTooLarge(f"is larger than {limit} bytes")
    try:
        body: bytes = request.environ["wsgi.input"].read(limit + 1 if length is None else length)
    except OSError:
        raise RequestTimeout("did not arrive whole, or not in time") from None
    except ValueError:
        raise BadRequest("the framing of the body is malformed") from None
    if len(body) > limit:
        raise RequestEntityTooLarge(f"is larger than {limit} bytes")
    if length is not None and len(body) < length:
        raise RequestTimeout("did not arrive whole")
    return body


def _answer_error(error: Exception) -> Response:
    problem = problem_of(error)
    log = structlog.get_logger()
    known = {"request_id": g.request_id, "path": request.path}
    if problem.status == INTERNAL:
        log.error("request failed", **known, exc_info=error)
    else:
        log.warning(
            "request refused",
            **known,
            status=problem.status,
            code=problem.code,
            field=problem.field,
            message=problem.message,
        )
    answer = _json(
        {
            "error": {
                "code": problem.code,
                "field": problem.field,
                "message": problem.message,
                **({"request_id": g.request_id} if problem.status == INTERNAL else {}),
            }
        },
        problem.status,
    )
    if isinstance(error, Unauthorized):
        answer.headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowed):
        answer.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    return answer


def _json(value: Mapping[str, object], status: int = 200) -> Response:
    return Response(json.dumps(value), status, mimetype=JSON)
