"""A name from an annotation or a request can't lead a path anywhere else."""

from __future__ import annotations

import pytest

from hooks.cluster.errors import NotFound
from hooks.cluster.resources import NODECLAIMS, PODS, events, field_value


def test_paths() -> None:
    assert NODECLAIMS.every() == "/apis/karpenter.sh/v1/nodeclaims"
    assert NODECLAIMS.one("api-x7k2p") == "/apis/karpenter.sh/v1/nodeclaims/api-x7k2p"
    assert PODS.every() == "/api/v1/pods"
    assert PODS.every("ns") == "/api/v1/namespaces/ns/pods"
    assert PODS.one("p", "ns") == "/api/v1/namespaces/ns/pods/p"
    assert events("v1").every("default") == "/api/v1/namespaces/default/events"
    assert events("events.k8s.io/v1").every("default") == (
        "/apis/events.k8s.io/v1/namespaces/default/events"
    )


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/", "../nodes/n", "a%2Fb"])
def test_a_name_that_no_object_can_have_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        NODECLAIMS.one(name)
    with pytest.raises(NotFound):
        PODS.one("p", name)


@pytest.mark.parametrize(
    ("name", "segment"),
    [("a b", "a%20b"), ("a?x=1", "a%3Fx%3D1"), ("a#b", "a%23b"), ("é", "%C3%A9")],
)
def test_whatever_else_stands_in_a_name_is_quoted(name: str, segment: str) -> None:
    assert NODECLAIMS.one(name) == f"/apis/karpenter.sh/v1/nodeclaims/{segment}"


def test_a_field_selector_cannot_be_extended() -> None:
    assert field_value("ip-10-0-0-1.ec2.internal") == "ip-10-0-0-1.ec2.internal"
    assert field_value(r"a,metadata.name=b\c") == r"a\,metadata.name\=b\\c"
