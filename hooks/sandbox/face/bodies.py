"""Bodies as the API server writes them: JSON, Status objects, lists.

Owns the shapes of answers and the reading of request bodies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import yaml

from hooks.sandbox.apiport import Resource
from hooks.sandbox.face.wire import Answer
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, group_of, name_of, uid_of
from hooks.sandbox.store.kinds import is_custom
from hooks.sandbox.store.refusals import RefusedError, bad_request

NOT_SERVED: Final = Answer(HTTPStatus.NOT_FOUND, b"404 page not found\n", "text/plain")


def encoded(value: Mapping[str, object]) -> bytes:
    """Write a JSON object."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def answer(value: Mapping[str, object], status: int = HTTPStatus.OK) -> Answer:
    """Answer with an object."""
    return Answer(status, encoded(value))


def text(words: str) -> Answer:
    """Answer with a word, as the health checks do."""
    return Answer(HTTPStatus.OK, words.encode(), "text/plain")


def failure(error: ApiError) -> Obj:
    """Return the Status of a refusal."""
    details = error.details if isinstance(error, RefusedError) else None
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": str(error),
        "reason": error.reason,
        **({} if details is None else {"details": details}),
        "code": error.status,
    }


def refused(error: ApiError) -> Answer:
    """Answer with a refusal."""
    body = failure(error)
    wait: object = body.get("details", {}).get("retryAfterSeconds")
    headers = {"Retry-After": str(wait)} if wait else {}
    return Answer(error.status, encoded(body), headers=headers)


def success(status: int = HTTPStatus.OK, details: Obj | None = None) -> Answer:
    """Answer that it is done."""
    body: Obj = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        body["details"] = details
    if status != HTTPStatus.OK:
        body["code"] = status
    return answer(body, status)


def deleted(resource: Resource, obj: Obj) -> Answer:
    """Answer that an object is gone."""
    group = group_of(resource.api_version)
    details = {"name": name_of(obj), "group": group, "kind": resource.plural, "uid": uid_of(obj)}
    return success(details={key: value for key, value in details.items() if value})


def listed(resource: Resource, items: list[Obj], metadata: Obj) -> Obj:
    """Return a list; the items of a built-in kind don't repeat what they are."""
    if not is_custom(resource):
        items = [
            {key: value for key, value in item.items() if key not in {"apiVersion", "kind"}}
            for item in items
        ]
    return {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": metadata,
        "items": items,
    }


def decoded_object(body: bytes) -> Obj:
    """Read a JSON object; an empty body is an empty object. Raises ApiError 400."""
    value = decoded(body) if body else {}
    if not isinstance(value, dict):
        raise bad_request("the body of the request is no JSON object")
    return value


def decoded(body: bytes) -> Obj | list[Obj]:
    """Read JSON, or the YAML of a server-side apply; raises ApiError 400."""
    try:
        value: object = json.loads(body)
    except ValueError:
        value = _from_yaml(body)
    if not isinstance(value, dict | list):
        raise bad_request("the body of the request is neither a JSON object nor a list")
    return value


def _from_yaml(body: bytes) -> object:
    try:
        value: object = yaml.safe_load(body)
    except (yaml.YAMLError, UnicodeError) as error:
        raise bad_request(f"the body of the request can't be decoded: {error}") from error
    return value
