"""Every answer of the API server is a JSON object or one of our errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hooks.cluster.answers import error_of, json_object
from hooks.cluster.errors import (
    AlreadyExists,
    ClusterError,
    Conflict,
    NotFound,
    NotServed,
    Refused,
    Unavailable,
)


def body(reason: str, details: dict[str, Any], message: str = "words\n of the server") -> bytes:
    return json.dumps({"reason": reason, "details": details, "message": message}).encode()


@pytest.mark.parametrize(
    ("code", "answer", "expected"),
    [
        (404, body("NotFound", {"name": "c1", "kind": "nodeclaims"}), NotFound),
        # kube-apiserver for a kind of a served group that doesn't exist, and for no such group.
        (404, body("NotFound", {}), NotServed),
        (404, b"404 page not found\n", NotServed),
        (404, b"<html>some proxy's page</html>", NotServed),
        (409, body("Conflict", {"name": "c1"}), Conflict),
        (409, body("AlreadyExists", {"name": "e1"}), AlreadyExists),
        (400, body("BadRequest", {}), Refused),
        (401, body("Unauthorized", {}), Refused),
        (403, body("Forbidden", {"name": "c1"}), Refused),
        (405, body("MethodNotAllowed", {}), Refused),
        (415, body("UnsupportedMediaType", {}), Refused),
        (422, body("Invalid", {}), Refused),
        (410, body("Expired", {}), Unavailable),
        (429, body("TooManyRequests", {}), Unavailable),
        (500, body("InternalError", {}), Unavailable),
        (503, b"", Unavailable),
        (504, body("Timeout", {}), Unavailable),
        (301, b"", Unavailable),
    ],
)
def test_each_status_is_one_error(code: int, answer: bytes, expected: type[ClusterError]) -> None:
    assert type(error_of("/api/v1/nodes/n", code, {}, answer)) is expected


def test_a_refusal_keeps_status_message_and_the_fields_that_were_named() -> None:
    details = {"name": "c1", "causes": [{"field": "metadata.labels"}, {"field": "spec"}, "odd"]}
    error = error_of("/x", 422, {}, body("Invalid", details))
    assert isinstance(error, Refused)
    assert (error.status, error.message, error.fields) == (
        422,
        "words of the server",
        ("metadata.labels", "spec"),
    )
    assert str(error) == "the API server refused it (422): words of the server"


def test_details_of_another_shape_are_no_trouble() -> None:
    error = error_of("/x", 422, {}, json.dumps({"details": ["odd"], "message": 7}).encode())
    assert isinstance(error, Refused)
    assert (error.message, error.fields) == ("7", ())


def test_a_missing_kind_is_named_by_its_path() -> None:
    error = error_of("/apis/karpenter.sh/v1/nodepools/p", 404, {}, b"404 page not found\n")
    assert str(error) == (
        "the API server does not serve /apis/karpenter.sh/v1/nodepools/p: 404 page not found"
    )


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3), (" 10 ", 10), ("0", None), ("-1", None), ("Wed, 21 Oct 2026", None), (None, None)],
)
def test_only_a_positive_number_of_seconds_is_a_wait(
    header: str | None, seconds: int | None
) -> None:
    headers = {} if header is None else {"Retry-After": header}
    error = error_of("/x", 429, headers, b"slow down")
    assert isinstance(error, Unavailable)
    assert error.retry_after == seconds
    assert str(error) == "the API server is not available (429): slow down"


def test_a_long_message_is_one_line_of_bounded_length() -> None:
    error = error_of("/x", 500, {}, b"a\n" * 10_000)
    assert "\n" not in str(error)
    assert len(str(error)) < 600


@pytest.mark.parametrize("answer", [b"", b"[]", b"null", b"<html>", b'"text"', b"[" * 100_000])
def test_a_success_that_is_no_json_object_is_no_answer(answer: bytes) -> None:
    with pytest.raises(Unavailable, match="not a JSON object"):
        json_object(answer)


def test_a_success_is_parsed() -> None:
    assert json_object(b'{"kind": "Node"}') == {"kind": "Node"}
