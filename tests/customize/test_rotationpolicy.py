"""What comes along with each sync of a RotationPolicy: all policies, and the NodePools it selects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hooks.customize.rotationpolicy import customize
from hooks.protocol.errors import ShapeError
from hooks.sandbox.conductor.answers import decode_customize
from hooks.sandbox.selectors import EVERYTHING

POLICIES = {"apiVersion": "noderotation.io/v1alpha1", "resource": "rotationpolicies"}
POOLS = {"apiVersion": "karpenter.sh/v1", "resource": "nodepools"}
WINDOW = {"timezone": "UTC", "days": ["Mon"], "start": "00:00", "end": "24:00"}


def request(selector: object, **spec: object) -> dict[str, Any]:
    policy = {
        "metadata": {"name": "api", "generation": 1},
        "spec": {"nodePoolSelector": selector, "maintenanceWindows": [WINDOW]} | spec,
    }
    return {"controller": {}, "parent": policy}


def answer(body: object) -> dict[str, Any]:
    return dict(json.loads(customize(json.dumps(body).encode())))


def test_all_policies_and_the_selected_pools_come_along() -> None:
    selector = {
        "matchLabels": {"workload": "api", "example.com/team": ""},
        "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["a", "b"]},
            {"key": "spot", "operator": "DoesNotExist"},
        ],
    }
    assert answer(request(selector)) == {
        "relatedResources": [POLICIES, POOLS | {"labelSelector": selector}]
    }


@pytest.mark.parametrize("selector", [{}, {"matchLabels": {}}, {"matchExpressions": []}])
def test_a_catch_all_has_all_pools(selector: object) -> None:
    assert answer(request(selector)) == {"relatedResources": [POLICIES, POOLS]}


def test_a_policy_that_is_broken_elsewhere_keeps_its_selector() -> None:
    selector = {"matchLabels": {"workload": "api"}}
    assert answer(request(selector, suspend="yes")) == {
        "relatedResources": [POLICIES, POOLS | {"labelSelector": selector}]
    }


@pytest.mark.parametrize(
    "selector",
    [
        pytest.param({"matchLabels": ["a"]}, id="not an object"),
        pytest.param(None, id="missing"),
        pytest.param({"matchLabels": {"a..b/c": "d"}}, id="two dots, which the schema lets pass"),
        pytest.param({"matchLabels": {"a.-b/c": "d"}}, id="a dash after a dot"),
        pytest.param({"matchLabels": {f"{'a' * 254}/c": "d"}}, id="too long a prefix"),
        pytest.param(
            {"matchExpressions": [{"key": "a-.b/c", "operator": "Exists"}]}, id="in an expression"
        ),
    ],
)
def test_with_a_selector_that_can_not_be_handed_on_all_pools_come_along(selector: object) -> None:
    assert answer(request(selector)) == {"relatedResources": [POLICIES, POOLS]}


def test_a_policy_without_spec_gets_its_status_too() -> None:
    assert answer({"parent": {"metadata": {"name": "api"}}}) == {
        "relatedResources": [POLICIES, POOLS]
    }


def test_metacontroller_understands_the_answer() -> None:
    body = customize(json.dumps(request({"matchLabels": {"a": "b"}})).encode())
    policies, pools = decode_customize(body, strict=True)
    assert policies.labels is None
    assert pools.labels is not None
    assert pools.labels != EVERYTHING
    assert (pools.labels.matches({"a": "b"}), pools.labels.matches({})) == (True, False)


def test_the_answer_depends_on_the_spec_alone() -> None:
    one = request({"matchLabels": {"b": "1", "a": "2"}})
    other = request({"matchLabels": {"a": "2", "b": "1"}})
    other["parent"]["metadata"] |= {"labels": {"x": "y"}, "annotations": {}}
    other["parent"]["status"] = {"matchedNodePools": 7}
    assert customize(json.dumps(one).encode()) == customize(json.dumps(other).encode())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"[]", "body"),
        (b"{}", "parent"),
        (b'{"parent": null}', "parent"),
        (b'{"parent": {}}', "parent.metadata"),
        (b'{"parent": {"metadata": {}}}', "parent.metadata.name"),
    ],
)
def test_a_malformed_request_names_its_field(body: bytes, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        customize(body)
    assert caught.value.field == field
