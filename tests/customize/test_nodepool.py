"""What the customize hook asks Metacontroller to send along (design/rotation.md section 2)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hooks.customize.nodepool import customize
from hooks.protocol.errors import ShapeError

RECORDED = Path(__file__).parents[1] / "fixtures/recorded/rotation-with-pdb-blocked-drain.jsonl.gz"


def request(name: object = "api") -> dict[str, Any]:
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}}
    return {"controller": {}, "parent": pool}


def answer(body: object) -> dict[str, Any]:
    return dict(json.loads(customize(json.dumps(body).encode())))


def test_policies_claims_of_the_pool_and_its_nodes_in_a_rotation_come_along() -> None:
    assert answer(request()) == {
        "relatedResources": [
            {"apiVersion": "noderotation.io/v1alpha1", "resource": "rotationpolicies"},
            {
                "apiVersion": "karpenter.sh/v1",
                "resource": "nodeclaims",
                "labelSelector": {"matchLabels": {"karpenter.sh/nodepool": "api"}},
            },
            {
                "apiVersion": "v1",
                "resource": "nodes",
                "labelSelector": {
                    "matchLabels": {"karpenter.sh/nodepool": "api"},
                    "matchExpressions": [
                        {"key": "noderotation.io/surge-for", "operator": "Exists"}
                    ],
                },
            },
        ]
    }


def test_the_recorded_requests_are_understood() -> None:
    recorded = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    asked = [entry["request"] for entry in recorded if entry["step"].endswith("-customize")]
    assert asked != []
    assert [answer(body) for body in asked] == [answer(request("api"))] * len(asked)


def test_the_answer_depends_on_the_name_alone() -> None:
    changed = request()
    changed["parent"]["metadata"] |= {"generation": 7, "labels": {"a": "b"}, "annotations": {}}
    assert customize(json.dumps(changed).encode()) == customize(json.dumps(request()).encode())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"[]", "body"),
        (b"{", "body"),
        (b"{}", "parent"),
        (b'{"parent": null}', "parent"),
        (b'{"parent": {}}', "parent.metadata"),
        (b'{"parent": {"metadata": {}}}', "parent.metadata.name"),
        (b'{"parent": {"metadata": {"name": 7}}}', "parent.metadata.name"),
        (b'{"parent": {"metadata": {"name": ""}}}', "parent.metadata.name"),
    ],
)
def test_a_malformed_request_names_its_field(body: bytes, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        customize(body)
    assert caught.value.field == field
