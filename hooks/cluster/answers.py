"""What the API server's answer means: a JSON object, or one of our errors.

Owns the one translation from HTTP status and ``Status`` object to :mod:`hooks.cluster.errors`.
Source: design/rotation.md section 4 (API errors); the shapes were seen on kube-apiserver v1.36.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from hooks.cluster.errors import (
    AlreadyExists,
    ClusterError,
    Conflict,
    NotFound,
    NotServed,
    Refused,
    Unavailable,
)

Json: TypeAlias = dict[str, Any]
"""A JSON object, as parsed."""

LONGEST_MESSAGE: Final = 500
BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
CONFLICT: Final = 409
GONE: Final = 410
TOO_MANY: Final = 429
SERVER_TROUBLE: Final = 500


def json_object(body: bytes) -> Json:
    """Parse an answer of status 2xx; raises Unavailable when it isn't a JSON object."""
    parsed = _parsed(body)
    if parsed is None:
        raise Unavailable("the API server answered with something that is not a JSON object")
    return parsed


def error_of(path: str, status: int, headers: Mapping[str, str], body: bytes) -> ClusterError:
    """Say which error the answer for ``path`` is, when its status isn't 2xx."""
    parsed = _parsed(body) or {}
    message = _one_line(str(parsed.get("message") or body.decode(errors="replace")))
    details = parsed.get("details")
    details = details if isinstance(details, dict) else {}
    if status == NOT_FOUND:
        return _missing(path, parsed, details, message)
    if status == CONFLICT:
        exists = parsed.get("reason") == "AlreadyExists"
        return AlreadyExists(message) if exists else Conflict(message)
    if status in {GONE, TOO_MANY} or status >= SERVER_TROUBLE or status < BAD_REQUEST:
        text = f"the API server is not available ({status}): {message}"
        return Unavailable(text, _seconds(headers.get("Retry-After")))
    return Refused(status, message, _fields(details))


def _missing(path: str, parsed: Json, details: Json, message: str) -> ClusterError:
    # Only a Status that names the object says that the object is gone. "404 page not found", or a
    # Status without a name, says that the kind isn't served: then nothing may be concluded.
    if parsed.get("reason") == "NotFound" and details.get("name"):
        return NotFound(message)
    return NotServed(f"the API server does not serve {path}: {message}")


def _fields(details: Json) -> tuple[str, ...]:
    causes = details.get("causes")
    if not isinstance(causes, list):
        return ()
    return tuple(str(cause.get("field", "")) for cause in causes if isinstance(cause, dict))


def _parsed(body: bytes) -> Json | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_MESSAGE]


def _seconds(header: str | None) -> int | None:
    # The header may also be a date, which the API server never sends: no number is known then.
    if header is None or not header.strip().isdecimal():
        return None
    return int(header) or None
