"""Selectors in queries."""

from __future__ import annotations

import pytest

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import EVENTS, NODECLAIMS, NODES, PODS
from hooks.sandbox.store.matching import matcher_from, parse_labels
from hooks.sandbox.store.refusals import RefusedError


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        ("", ["1", "2", "3"]),
        ("a=x", ["1"]),
        ("a==x", ["1"]),
        ("a!=x", ["2", "3"]),
        ("a in (x, y)", ["1", "2"]),
        ("a notin (x,y)", ["3"]),
        ("a", ["1", "2"]),
        ("!a", ["3"]),
        ("a,b=", ["2"]),
        ("a in (x,y),!b", ["1"]),
        (" example.com/c = d ", ["3"]),
        ("a=", []),
    ],
)
def test_labels_are_matched(selector: str, chosen: list[str]) -> None:
    things = {"1": {"a": "x"}, "2": {"a": "y", "b": ""}, "3": {"example.com/c": "d"}}
    parsed = parse_labels(selector)
    assert [name for name, labels in things.items() if parsed.matches(labels)] == chosen


@pytest.mark.parametrize("selector", ["a in", "a in (", "a in (x", "a b", "(", "a=x b=y", "!"])
def test_a_label_selector_that_makes_no_sense_is_a_bad_request(selector: str) -> None:
    with pytest.raises(RefusedError) as caught:
        parse_labels(selector)
    assert (caught.value.status, caught.value.reason) == (400, "BadRequest")


POD: Obj = {
    "metadata": {"name": "a", "namespace": "shop"},
    "spec": {"nodeName": "n,1"},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("resource", "obj", "selector", "matches"),
    [
        (PODS, POD, "spec.nodeName=n\\,1", True),
        (PODS, POD, "spec.nodeName=", False),
        (PODS, POD, "spec.nodeName!=n2,status.phase==Running", True),
        (PODS, POD, "status.phase!=Running", False),
        (PODS, POD, "metadata.name=a,metadata.namespace=shop", True),
        (PODS, POD, "spec.hostNetwork=false", True),
        (NODES, {"metadata": {"name": "n"}, "spec": {}}, "spec.unschedulable=false", True),
        (
            NODES,
            {"metadata": {"name": "n"}, "spec": {"unschedulable": True}},
            "spec.unschedulable=true",
            True,
        ),
        (EVENTS, {"involvedObject": {"uid": "u"}, "type": "Normal"}, "involvedObject.uid=u", True),
        (EVENTS, {"source": {"component": "k"}}, "source=k", True),
        (NODECLAIMS, {"metadata": {"name": "c"}}, "metadata.name=c", True),
    ],
)
def test_fields_are_matched(resource: Resource, obj: Obj, selector: str, matches: bool) -> None:
    assert matcher_from(resource, "", selector).matches(obj) is matches


@pytest.mark.parametrize(
    ("resource", "selector"), [(NODECLAIMS, "spec.nodeName=x"), (PODS, "nonsense"), (PODS, "a.b=c")]
)
def test_fields_that_are_not_indexed_are_a_bad_request(resource: Resource, selector: str) -> None:
    with pytest.raises(RefusedError) as caught:
        matcher_from(resource, "", selector)
    assert (caught.value.status, caught.value.reason) == (400, "BadRequest")
