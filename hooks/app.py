"""The HTTP face of the hooks: routes, and the ONE table from error to HTTP status.

Owns the order of the checks (nothing of a body is read before the caller has been checked: a hook's
by its token, the API server, which sends none, by having come over TLS) and the shape of answers
that are errors. Leaves what a hook does to the handlers that it is given, slow or malformed
connections and certificates to :mod:`hooks.server`. Source: design/product.md, *HTTP*,
design/drain.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias
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
from hooks.telemetry.metrics import CONTENT_TYPE, Metrics

WsgiApp: TypeAlias = Callable[..., Iterable[bytes]]
"""What a WSGI server calls."""
ARRIVAL: Final = "noderotation.arrival"
"""Key of the WSGI environment: when the request arrived, in seconds of the app's clock."""
LATER: Final = "noderotation.later"
"""Key of the WSGI environment: takes a job that must not hold up the connection any longer."""
JSON: Final = "application/json"
INTERNAL: Final = 500
REVIEW_TIME: Final = 3.0
"""Seconds from its arrival in which a review is answered; the API server waits 5."""
NO_REVIEWS: Mapping[str, Reviewer] = MappingProxyType({})

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


class Reviewer(Protocol):
    """An admission webhook: as :class:`Handler`, and what can wait until the answer is out."""

    def __call__(
        self,
        body: bytes,
        *,
        deadline: float,
        request_id: str,
        afterwards: Callable[[Callable[[], None]], None],
    ) -> bytes:
        """Answer one review; each job handed to ``afterwards`` is run once that has been sent."""


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
    metrics: Metrics,
    *,
    reviews: Mapping[str, Reviewer] = NO_REVIEWS,
    clock: Callable[[], float] = time.monotonic,
) -> Flask:
    """Make the application.

    ``handlers`` maps each hook's path to what answers it, ``reviews`` that of each admission
    webhook: there only over TLS, without a token, and whatever the body is said to be. ``ready``
    says why nothing can be answered, None when it can. ``metrics`` takes note of each answer, and
    is what ``/metrics`` shows. ``clock`` (seconds, monotonic) is what deadlines are read on.
    """
    app = Flask("noderotation", static_folder=None)
    # A path with a doubled slash is another path, not a redirect.
    app.url_map.merge_slashes = False
    token = TokenFile(settings.token_file)

    def answer_hook(path: str) -> Response:
        arrival = g.arrival = request.environ.get(ARRIVAL, clock())
        g.hook = path
        _check_token(token)
        _check_type()
        body = _read_body(settings.body_limit)
        g.size = len(body)
        deadline = arrival + settings.write_time.total_seconds()
        if clock() >= deadline:
            raise OutOfTime("the request had waited too long when its turn came")
        answer = handlers[path](body, deadline=deadline, request_id=g.request_id)
        return Response(answer, mimetype=JSON)

    def answer_review(path: str) -> Response:
        if request.environ["wsgi.url_scheme"] != "https":
            raise NotFound
        arrival = g.arrival = request.environ.get(ARRIVAL, clock())
        g.hook = path
        body = _read_body(settings.body_limit)
        g.size = len(body)
        jobs: list[Callable[[], None]] = []
        # One that waited too long gets an answer, too: an eviction goes on then.
        answer = reviews[path](
            body,
            deadline=arrival + REVIEW_TIME,
            request_id=g.request_id,
            afterwards=jobs.append,
        )
        response = Response(answer, mimetype=JSON)
        later = request.environ.get(LATER, _at_once)
        for job in jobs:
            response.call_on_close(partial(later, job))
        return response

    posted = [
        *((path, answer_hook) for path in handlers),
        *((path, answer_review) for path in reviews),
    ]
    for path, answer in posted:
        app.add_url_rule(
            path,
            path,
            answer,
            methods=["POST"],
            defaults={"path": path},
            provide_automatic_options=False,
        )
    _show(app, ready, metrics)
    _take_note(app, metrics, clock)
    app.register_error_handler(Exception, _answer_error)
    return app


def _at_once(job: Callable[[], None]) -> None:
    job()


def _show(app: Flask, ready: Callable[[], str | None], metrics: Metrics) -> None:
    """Serve what anybody may ask."""

    def healthz() -> Response:
        return _json({"status": "ok"})

    def readyz() -> Response:
        reason = ready()
        if reason is not None:
            raise ServiceUnavailable(reason)
        return _json({"status": "ok"})

    def show_metrics() -> Response:
        return Response(metrics.exposition(), content_type=CONTENT_TYPE)

    plain = ((names.HEALTHZ, healthz), (names.READYZ, readyz), (names.METRICS, show_metrics))
    for path, view in plain:
        app.add_url_rule(path, path, view, methods=["GET"], provide_automatic_options=False)


def _take_note(app: Flask, metrics: Metrics, clock: Callable[[], float]) -> None:
    """Number each request, and measure those to hooks."""

    def begin() -> None:
        g.request_id = uuid4().hex

    def end(answer: Response) -> Response:
        if "hook" in g:
            metrics.answered(g.hook, answer.status_code, clock() - g.arrival, g.get("size"))
        return answer

    app.before_request(begin)
    app.after_request(end)


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
