"""What goes over the wire: the token, the time-outs, and nothing twice that must not be."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from hooks.cluster.connection import Connection, connect
from hooks.cluster.credentials import find_access
from hooks.cluster.errors import (
    Conflict,
    NotFound,
    OutOfTime,
    Refused,
    Unavailable,
)
from tests.cluster.calls import ADD, CALLS, IDS, NODE, NODES, Call
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import LONG, Reply, StandIn, status_of

STALE = [{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}]


@pytest.fixture(autouse=True)
def _node(server: StandIn) -> None:
    server.put(NODES, {"metadata": {"name": "n1"}})


@pytest.mark.parametrize(("verb", "call"), CALLS, ids=IDS)
def test_every_request_carries_the_token(
    server: StandIn, connection: Connection, verb: str, call: Call
) -> None:
    # kubernetes-client 2584: version 36.0.0 sent none.
    call(connection)
    (seen,) = server.seen
    assert seen.method == verb
    assert seen.headers["Authorization"] == "Bearer s3cret"
    assert seen.headers["Accept"] == "application/json"
    assert seen.headers["User-Agent"] == "noderotation"


def test_the_next_call_uses_a_rotated_token(server: StandIn, tmp_path: Path) -> None:
    # kubernetes-client 1768
    token = tmp_path / "token"
    token.write_text("first\n")
    made = connect(find_access(kubeconfig(tmp_path, server.url, {"tokenFile": str(token)})))
    made.get(NODE)
    token.write_text("second\n")
    made.get(NODE)
    made.close()
    assert [seen.headers["Authorization"] for seen in server.seen] == [
        "Bearer first",
        "Bearer second",
    ]


def test_without_credentials_no_header_is_sent(server: StandIn, tmp_path: Path) -> None:
    made = connect(find_access(kubeconfig(tmp_path, server.url, {})))
    made.get(NODE)
    made.close()
    assert "Authorization" not in server.seen[0].headers


def test_a_list_is_read_page_by_page(server: StandIn, connection: Connection) -> None:
    server.put(NODES, *({"metadata": {"name": f"n{i}"}} for i in range(2, 6)))
    server.page = 2
    names = [n["metadata"]["name"] for n in connection.items(NODES, {"labelSelector": "a/b"})]
    assert names == ["n1", "n2", "n3", "n4", "n5"]
    assert [dict(seen.query) for seen in server.seen] == [
        {"labelSelector": "a/b", "limit": "500"},
        {"labelSelector": "a/b", "limit": "500", "continue": "2"},
        {"labelSelector": "a/b", "limit": "500", "continue": "4"},
    ]


def test_an_empty_list_may_hold_null(server: StandIn, connection: Connection) -> None:
    server.rules.append(lambda _: Reply(200, {"items": None, "metadata": {}}))
    assert list(connection.items(NODES)) == []


def test_a_list_that_expires_on_the_way_is_an_error_and_never_half_a_list(
    server: StandIn, connection: Connection
) -> None:
    server.put(NODES, {"metadata": {"name": "n2"}})
    server.page = 1
    server.rules.append(lambda s: status_of(410, "Expired") if "continue" in s.query else None)
    with pytest.raises(Unavailable):
        list(connection.items(NODES))


def test_a_patch_goes_out_as_json_patch(server: StandIn, connection: Connection) -> None:
    assert connection.patch(NODE, ADD)["metadata"]["annotations"] == {"a": "b"}
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("PATCH", NODE)
    assert seen.headers["Content-Type"] == "application/json-patch+json"
    assert seen.body == ADD


def test_a_patch_whose_test_fails_is_a_conflict(server: StandIn, connection: Connection) -> None:
    with pytest.raises(Conflict, match="/metadata/resourceVersion is not '1'"):
        connection.patch(NODE, STALE + ADD)
    assert server.objects[NODE]["metadata"].get("annotations") is None


def test_a_patch_that_leads_nowhere_is_refused(server: StandIn, connection: Connection) -> None:
    version = server.objects[NODE]["metadata"]["resourceVersion"]
    holds = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    with pytest.raises(Refused) as raised:
        connection.patch(NODE, [holds, {"op": "remove", "path": "/metadata/annotations/a"}])
    assert raised.value.status == 422


def test_a_patch_to_something_invalid_is_refused_without_another_read(
    server: StandIn, connection: Connection
) -> None:
    invalid = status_of(422, "Invalid")
    assert isinstance(invalid.body, dict)
    invalid.body["details"] = {"name": "n1", "causes": [{"field": "metadata.labels"}]}
    server.rules.append(lambda _: invalid)
    with pytest.raises(Refused) as raised:
        connection.patch(NODE, STALE + ADD)
    assert raised.value.fields == ("metadata.labels",)
    assert [seen.method for seen in server.seen] == ["PATCH"]


def test_a_patch_of_what_went_meanwhile_is_not_found(
    server: StandIn, connection: Connection
) -> None:
    server.rules.append(lambda s: status_of(422, "Invalid") if s.method == "PATCH" else None)
    with pytest.raises(NotFound):
        connection.patch(f"{NODES}/gone", STALE)


def test_a_delete_carries_its_preconditions(server: StandIn, connection: Connection) -> None:
    connection.delete(NODE, uid="uid-n1", resource_version="101")
    (seen,) = server.seen
    assert (seen.method, seen.headers["Content-Type"]) == ("DELETE", "application/json")
    assert seen.body == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "uid-n1", "resourceVersion": "101"},
    }
    assert NODE not in server.objects


@pytest.mark.parametrize(
    ("uid", "version"), [("another", "101"), ("another", None), ("uid-n1", "100")]
)
def test_a_delete_of_something_else_is_a_conflict(
    server: StandIn, connection: Connection, uid: str, version: str | None
) -> None:
    with pytest.raises(Conflict):
        connection.delete(NODE, uid=uid, resource_version=version)
    assert NODE in server.objects


# --- time ---


@pytest.mark.parametrize(("verb", "call"), CALLS, ids=IDS)
def test_nothing_is_sent_from_the_deadline_on(
    server: StandIn, connection: Connection, verb: str, call: Call
) -> None:
    at = replace(connection, clock=lambda: 50.0)
    with pytest.raises(OutOfTime):
        call(at.within(50.0))
    with pytest.raises(OutOfTime):
        call(at.within(49.0))
    assert server.seen == []
    call(at.within(60.0))
    assert [seen.method for seen in server.seen] == [verb]


class Stopwatch:
    """Runs from the first look at it."""

    def __init__(self) -> None:
        self.begun = 0.0

    def __call__(self) -> float:
        self.begun = self.begun or time.monotonic()
        return time.monotonic() - self.begun


@pytest.mark.parametrize(
    "slow",
    [
        Reply(200, b"{}", wait=LONG),
        Reply(200, b'{"a": "%s"}' % (b"1" * int(LONG / 0.12)), drip=0.12),
    ],
    ids=["late", "dripping"],
)
def test_a_call_ends_when_its_time_is_over(
    server: StandIn, connection: Connection, slow: Reply
) -> None:
    server.rules.append(lambda _: slow)
    clock = Stopwatch()
    with pytest.raises(Unavailable, match="no answer in time"):
        replace(connection, clock=clock).within(0.3).get(NODE)
    assert 0.25 < clock() < LONG / 2
    server.rules.clear()
    # What was left of the slow answer must not be read as the next one.
    assert connection.get(NODE)["metadata"]["name"] == "n1"


def test_a_call_that_failed_and_has_no_time_for_a_repeat_was_sent_all_the_same(
    server: StandIn, connection: Connection
) -> None:
    """Out of time is what nothing was sent of: it lets an eviction through, a failed read doesn't."""
    server.rules.append(lambda _: Reply(0))
    moment = iter([0.0, 9.0])
    now = [0.0]

    def authorization() -> None:
        """It is asked for before each request, and takes its time at the second one."""
        now[0] = next(moment)

    late = replace(connection, authorization=authorization, clock=lambda: now[0]).within(5.0)
    with pytest.raises(Unavailable, match="cannot reach the API server"):
        late.get(NODE)
    assert len(server.seen) == 1
