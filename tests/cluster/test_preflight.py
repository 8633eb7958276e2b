"""The preflight says in one line what is missing, and asks with no more rights than passes need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hooks.cluster.connection import Connection
from hooks.cluster.preflight import is_ready, preflight
from tests.cluster.standin import Reply, Seen, StandIn, status_of

KARPENTER = "/apis/karpenter.sh/v1"
POLICIES = "/apis/noderotation.io/v1alpha1"


def test_all_is_well(server: StandIn, connection: Connection) -> None:
    assert preflight(connection) is None
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("GET", KARPENTER),
        ("GET", POLICIES),
        ("GET", f"{KARPENTER}/nodepools/noderotation-preflight"),
        ("GET", f"{KARPENTER}/nodeclaims/noderotation-preflight"),
    ]


def test_an_object_that_happens_to_have_that_name_is_as_good(
    server: StandIn, connection: Connection
) -> None:
    server.put(f"{KARPENTER}/nodepools", {"metadata": {"name": "noderotation-preflight"}})
    assert preflight(connection) is None


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        (
            [f"{KARPENTER}/nodepools", f"{KARPENTER}/nodeclaims"],
            "nodeclaims of karpenter.sh/v1: install Karpenter v1 or later",
        ),
        (
            [f"{KARPENTER}/nodepools"],
            "nodepools of karpenter.sh/v1: install Karpenter v1 or later",
        ),
        (
            [f"{POLICIES}/rotationpolicies"],
            "rotationpolicies of noderotation.io/v1alpha1: apply the CRD in crds/",
        ),
    ],
)
def test_a_missing_kind(
    server: StandIn, connection: Connection, missing: list[str], line: str
) -> None:
    for collection in missing:
        del server.collections[collection]
    assert preflight(connection) == f"the cluster does not serve {line}"


@pytest.mark.parametrize("plural", ["nodepools", "nodeclaims"])
def test_a_missing_right(server: StandIn, connection: Connection, plural: str) -> None:
    def forbid(seen: Seen) -> Reply | None:
        if not seen.path.startswith(f"{KARPENTER}/{plural}/"):
            return None
        return status_of(403, "Forbidden", message=f"{plural} is forbidden: User x cannot get")

    server.rules.append(forbid)
    assert preflight(connection) == (
        f"may not read {plural}: {plural} is forbidden: User x cannot get; "
        "grant it by the ClusterRole in manifests/"
    )


def test_a_wrong_token_is_said_as_such(server: StandIn, connection: Connection) -> None:
    server.rules.append(lambda _: status_of(401, "Unauthorized", message="Unauthorized"))
    assert preflight(connection) == "the API server refused it (401): Unauthorized"


def test_an_unreachable_cluster(connection: Connection) -> None:
    line = preflight(replace(connection, host="http://127.0.0.1:1"))
    assert line is not None
    assert line.startswith("cannot reach the API server at http://127.0.0.1:1: ")
    assert "\n" not in line


def test_ready_is_one_cheap_read(server: StandIn, connection: Connection) -> None:
    assert is_ready(connection)
    assert [(seen.method, seen.path) for seen in server.seen] == [("GET", "/version")]


@pytest.mark.parametrize("code", [401, 403, 429, 500])
def test_not_ready(server: StandIn, connection: Connection, code: int) -> None:
    server.rules.append(lambda _: Reply(code, b""))
    assert not is_ready(connection)


def test_not_ready_without_an_api_server(connection: Connection) -> None:
    assert not is_ready(replace(connection, host="http://127.0.0.1:1"))
