"""What a hook may answer (hook API v2 is decoded strictly)."""

from __future__ import annotations

import pytest

from hooks.sandbox.conductor.answers import (
    RelatedRule,
    SyncAnswer,
    decode_composite,
    decode_customize,
    decode_sync,
)
from hooks.sandbox.failures import HookCallError
from hooks.sandbox.selectors import Requirement, Selector

EMPTY = SyncAnswer(labels={}, annotations={}, status=None, attachments=(), resync_after=0.0)
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


@pytest.mark.parametrize("body", [b"{}", b"null", b" {} \n"])
def test_an_empty_answer_changes_nothing_and_lists_nothing(body: bytes) -> None:
    assert decode_sync(body, strict=True) == EMPTY


def test_nulls_count_as_absent() -> None:
    body = (
        b'{"labels": null, "annotations": null, "status": null, "attachments": null,'
        b' "resyncAfterSeconds": null, "finalized": null}'
    )
    assert decode_sync(body, strict=True) == EMPTY


def test_a_whole_answer() -> None:
    body = (
        b'{"labels": {"l": "1"}, "annotations": {"a": "1", "b": null}, "status": {"s": [1]},'
        b' "attachments": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}],'
        b' "resyncAfterSeconds": 2.5, "finalized": false}'
    )
    assert decode_sync(body, strict=True) == SyncAnswer(
        labels={"l": "1"},
        annotations={"a": "1", "b": None},
        status={"s": [1]},
        attachments=(POD,),
        resync_after=2.5,
    )


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        pytest.param(b'{"x": 1}', 'unknown field "x"', id="unknown field"),
        pytest.param(b'{"Annotations": {}}', 'unknown field "Annotations"', id="case matters"),
        pytest.param(
            b'{"children": []}', 'unknown field "children"', id="of a CompositeController"
        ),
        pytest.param(
            b'{"labels": {}, "labels": {}}', 'duplicate field "labels"', id="repeated field"
        ),
        pytest.param(
            b'{"annotations": {"a": "1", "a": "2"}}', 'duplicate field "a"', id="repeated key"
        ),
    ],
)
def test_strict_refuses_what_loose_lets_pass(body: bytes, complaint: str) -> None:
    with pytest.raises(HookCallError, match=complaint):
        decode_sync(body, strict=True)
    decode_sync(body, strict=False)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{} x",
        b"[]",
        b'"text"',
        b"7",
        b'{"resyncAfterSeconds": NaN}',
        b'{"resyncAfterSeconds": "5"}',
        b'{"resyncAfterSeconds": true}',
        b'{"labels": []}',
        b'{"labels": {"a": 1}}',
        b'{"annotations": {"a": {}}}',
        b'{"annotations": {"a": true}}',
        b'{"status": []}',
        b'{"finalized": 1}',
        b'{"attachments": {}}',
        b'{"attachments": [null]}',
        b'{"attachments": [{"apiVersion": "v1"}]}',
        b'{"attachments": [{"kind": ""}]}',
        b'{"attachments": [{"kind": 1}]}',
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_wrong_types_and_broken_json_are_refused_in_both_modes(body: bytes, strict: object) -> None:
    with pytest.raises(HookCallError):
        decode_sync(body, strict=bool(strict))


def test_fields_of_attachments_are_the_api_servers_business() -> None:
    body = b'{"attachments": [{"kind": "Pod", "what": 1, "what": 2}]}'
    assert decode_sync(body, strict=True).attachments == ({"kind": "Pod", "what": 2},)


@pytest.mark.parametrize("body", [b"{}", b"null", b'{"relatedResources": null}'])
def test_no_related_rules(body: bytes) -> None:
    assert decode_customize(body, strict=True) == ()


def test_a_whole_related_rule() -> None:
    body = (
        b'{"relatedResources": [{"apiVersion": "v1", "resource": "nodes", "namespace": "ns",'
        b' "labelSelector": {"matchLabels": {"a": "1"},'
        b' "matchExpressions": [{"key": "b", "operator": "Exists"}]}, "names": []}]}'
    )
    selector = Selector(
        (
            Requirement("a", "In", frozenset({"1"})),
            Requirement("b", "Exists", frozenset()),
        )
    )
    assert decode_customize(body, strict=True) == (RelatedRule("v1", "nodes", selector, "ns", ()),)


@pytest.mark.parametrize(
    "rule",
    [
        b'{"x": 1}',
        b'{"labelSelector": {"x": 1}}',
        b'{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "x": 1}]}}',
        b'{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "exists"}]}}',
        b'{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}',
        b'{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}',
        b'{"labelSelector": {"matchExpressions": [{"operator": "Exists"}]}}',
        b'{"labelSelector": {"matchExpressions": [1]}}',
        b'{"labelSelector": {"matchExpressions": {}}}',
        b'{"labelSelector": {"matchLabels": {"a": 1}}}',
        b'{"labelSelector": []}',
        b'{"names": [1]}',
        b'{"names": "n"}',
        b'{"namespace": 1}',
        b'{"namespaceSelector": {}}',
        b"null",
        b"[]",
    ],
)
def test_a_broken_related_rule_is_refused(rule: bytes) -> None:
    with pytest.raises(HookCallError):
        decode_customize(b'{"relatedResources": [' + rule + b"]}", strict=True)


@pytest.mark.parametrize(
    "body",
    [b"{}", b"null", b'{"status": null, "children": null}', b'{"status": {}, "children": []}'],
)
def test_an_empty_answer_of_a_composite_is_an_empty_status(body: bytes) -> None:
    assert decode_composite(body, strict=True) == SyncAnswer({}, {}, {}, (), 0.0)


def test_a_whole_answer_of_a_composite() -> None:
    body = b'{"status": {"s": [1]}, "children": [], "resyncAfterSeconds": 2.5, "finalized": false}'
    assert decode_composite(body, strict=True) == SyncAnswer({}, {}, {"s": [1]}, (), 2.5)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b'{"attachments": []}', 'unknown field "attachments"'),
        (b'{"annotations": {}}', 'unknown field "annotations"'),
        (b'{"status": {"a": 1, "a": 2}}', 'duplicate field "a"'),
    ],
)
def test_strict_refuses_what_a_composite_does_not_know(body: bytes, complaint: str) -> None:
    with pytest.raises(HookCallError, match=complaint):
        decode_composite(body, strict=True)
    decode_composite(body, strict=False)


@pytest.mark.parametrize(
    "body",
    [
        b'{"children": [{"apiVersion": "v1", "kind": "Pod"}]}',
        b'{"children": {}}',
        b'{"status": []}',
        b'{"finalized": 1}',
        b'{"resyncAfterSeconds": "5"}',
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_broken_answer_of_a_composite_is_refused(body: bytes, strict: object) -> None:
    with pytest.raises(HookCallError):
        decode_composite(body, strict=bool(strict))
