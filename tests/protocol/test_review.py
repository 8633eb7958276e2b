"""What the API server asks, and what is saved of a question that can't be understood."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.drain.model import Review
from hooks.protocol.errors import ShapeError
from hooks.protocol.review import V1, Question, parse_review
from tests.protocol.recorded import body
from tests.protocol.recorded_drain import review_lines, reviews, rollout_lines
from tests.support.singleton import put, review

POD = "single-6d6cd94fd5-sjv82"
UID = "ec66e88c-4156-4514-b790-e3437ec1ca63"
SINGLE = Review("default", POD)
READ = {
    "drain-dry-run-server": Review("default", POD, dry_run=True),
    "drain": SINGLE,
    "raw-dry-run-query": Review("default", POD, dry_run=True),
    "raw-v1beta1": SINGLE,
    "karpenter": Review("default", POD, uid_wanted=UID),
    "karpenter-allow": Review("default", POD, uid_wanted=UID),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_the_recordings_are_byte_for_byte_what_was_on_the_wire() -> None:
    assert [sha256(raw).hexdigest() for raw in (review_lines(), rollout_lines())] == [
        "2aefe0f3b9520bc33729f80ccd59282e869d0e7f974ddd27ba525e959e8ad9e9",
        "b7ba35ba696fc9bc44c1efbaaf44e7d587134fcfc3953a3eda2ae291ee00f5de",
    ]


@pytest.mark.parametrize("number", range(7))
def test_a_recorded_review_is_read(number: int) -> None:
    one = reviews()[number]
    if one["request"]["request"]["name"] != POD:
        expected = Review("default", "web-5f844f584-wjbl9",
                          uid_wanted="0df9d642-723f-492b-985c-474c74eaf121")  # fmt: skip
    else:
        expected = READ[one["step"]]
    uid = one["request"]["request"]["uid"]
    assert parse_review(body(one["request"])) == Question(uid, V1, expected)


def asked(text: str) -> Question:
    return parse_review(text.encode())


def test_of_a_key_that_stands_there_twice_the_last_one_counts() -> None:
    assert asked('{"request":{"uid":"a"},"request":{"uid":"b"}}').uid == "b"
    assert asked('{"request":{"uid":"a","uid":"b","name":5}}').uid == "b"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "body"),
        ("null", "body"),
        ('{"request":[]}', "request"),
        ('{"request":{}}', "request.uid"),
        ('{"request":{"uid":null}}', "request.uid"),
        ('{"request":{"uid":"","name":5}}', "request.uid"),
        ('{"request":{"uid":{}}}', "request.uid"),
    ],
)
def test_without_a_uid_nobody_can_be_answered(text: str, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        asked(text)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("request.name", 5, "request.name"),
        ("request.operation", [], "request.operation"),
        ("request.resource", "pods", "request.resource"),
        ("request.object", "x", "request.object"),
        ("request.object.metadata", 1, "request.object.metadata"),
        ("request.object.metadata.name", {}, "request.object.metadata.name"),
        ("request.object.deleteOptions.preconditions", "x",
         "request.object.deleteOptions.preconditions"),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_named_and_the_uid_saved(path: str, value: object, field: str) -> None:
    question = parse_review(body(put(review(), path, value)))
    assert isinstance(question.review, ShapeError)
    assert (question.uid, question.review.field) == (review()["request"]["uid"], field)


@given(st.binary(max_size=64))
def test_any_bytes_are_a_question_or_a_wrong_shape(raw: bytes) -> None:
    with pytest.raises(ShapeError):
        parse_review(raw)


@given(st.sampled_from(["object", "object.deleteOptions", "object.metadata", "options", "dryRun",
                        "resource", "subResource", "operation", "namespace", "name", "userInfo",
                        "object.deleteOptions.preconditions", "object.deleteOptions.dryRun"]),
       JSON)  # fmt: skip
def test_whatever_stands_in_a_field_the_uid_is_answered(field: str, value: object) -> None:
    request = put(review(), f"request.{field}", value)
    question = parse_review(json.dumps(request).encode())
    assert question.uid == request["request"]["uid"]
    assert isinstance(question.review, Review | ShapeError)


LONGEST = {"uid": 128, "namespace": 63, "name": 253}


@pytest.mark.parametrize("field", ["namespace", "name"])
@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_a_name_that_is_too_long_for_kubernetes_names_no_pod(field: str, operation: str) -> None:
    """It would be kept in the memory of the log, and anybody may send one."""
    fits, more = ("a" * LONGEST[field], "a" * (LONGEST[field] + 1))
    bare = put(review(operation=operation), "request.object", None)
    whole = parse_review(body(put(bare, f"request.{field}", fits))).review
    assert isinstance(whole, Review)
    assert fits in {whole.namespace, whole.pod}
    refused = parse_review(body(put(bare, f"request.{field}", more))).review
    assert isinstance(refused, ShapeError)
    assert (refused.field, refused.message) == (
        f"request.{field}",
        f"is longer than {LONGEST[field]} characters",
    )


@pytest.mark.parametrize("field", ["namespace", "name"])
def test_nor_does_one_in_the_eviction(field: str) -> None:
    sent = put(
        put(review(), f"request.{field}", None), f"request.object.metadata.{field}", "a" * 254
    )
    refused = parse_review(body(sent)).review
    assert isinstance(refused, ShapeError)
    assert refused.field == f"request.object.metadata.{field}"


@pytest.mark.parametrize("rest", [{}, {"object": 7}])
def test_a_uid_that_is_too_long_is_nobody_to_answer_to(rest: dict[str, object]) -> None:
    asked = {"uid": "u" * LONGEST["uid"], **rest}
    assert parse_review(body({"request": asked})).uid == asked["uid"]
    with pytest.raises(ShapeError):
        parse_review(body({"request": {**asked, "uid": "u" * (LONGEST["uid"] + 1)}}))
