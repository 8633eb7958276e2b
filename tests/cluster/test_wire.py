"""Nothing is sent twice that must not be, no library's error gets out, and nothing piles up."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from dataclasses import replace

import pytest

from hooks.cluster.connection import Connection
from hooks.cluster.errors import NotConfigured, NotFound, Unavailable
from tests.cluster.calls import ADD, CALLS, EVENTS, IDS, NODE, NODES, Call
from tests.cluster.standin import HANG_UP, Reply, Seen, StandIn


@pytest.fixture(autouse=True)
def _node(server: StandIn) -> None:
    server.put(NODES, {"metadata": {"name": "n1"}})


def counting(server: StandIn, reply: Reply, *, times: int) -> None:
    """Answer the first few requests like this."""
    answered: list[Seen] = []

    def rule(seen: Seen) -> Reply | None:
        answered.append(seen)
        return reply if len(answered) <= times else None

    server.rules.append(rule)


@pytest.mark.parametrize(("verb", "call"), CALLS, ids=IDS)
def test_only_a_read_is_sent_again_after_a_hang_up(
    server: StandIn, connection: Connection, verb: str, call: Call
) -> None:
    counting(server, HANG_UP, times=1)
    if verb == "GET":
        call(connection)
        assert [seen.method for seen in server.seen] == ["GET", "GET"]
    else:
        # It may have been carried out before the line broke.
        with pytest.raises(Unavailable):
            call(connection)
        assert [seen.method for seen in server.seen] == [verb]


def test_a_read_is_sent_again_once_only(server: StandIn, connection: Connection) -> None:
    counting(server, HANG_UP, times=9)
    with pytest.raises(Unavailable, match="cannot reach the API server at http://127"):
        connection.get(NODE)
    assert len(server.seen) == 2


@pytest.mark.parametrize("code", [429, 500, 503])
@pytest.mark.parametrize(("verb", "call"), CALLS, ids=IDS)
def test_an_unavailable_server_is_left_alone(
    server: StandIn, connection: Connection, verb: str, call: Call, code: int
) -> None:
    counting(server, Reply(code, b"later", {"Retry-After": "1"}), times=9)
    with pytest.raises(Unavailable) as raised:
        call(connection)
    assert raised.value.retry_after == 1
    assert [seen.method for seen in server.seen] == [verb]


def test_a_redirect_is_not_followed(server: StandIn, connection: Connection) -> None:
    counting(server, Reply(307, b"", {"Location": f"{server.url}{NODE}"}), times=1)
    with pytest.raises(Unavailable, match="307"):
        connection.get(NODE)
    assert len(server.seen) == 1


def test_a_refused_connection_is_tried_once_more_while_there_is_time(
    connection: Connection,
) -> None:
    # A port that just became free may be somebody else's at once.
    alone = replace(connection, host="http://127.0.0.1:1")
    asked: list[float] = []

    def clock() -> float:
        asked.append(time.monotonic())
        return asked[-1]

    with pytest.raises(Unavailable, match="refused"):
        replace(alone, clock=clock).create(EVENTS, {"metadata": {"name": "e"}})
    # One look at the clock for whether there is time, one for when it ends, for each attempt.
    assert len(asked) == 4
    late = iter([0.0, 0.0, 10.0])
    # It was tried, and failed: that says more than that there is no time for another attempt.
    with pytest.raises(Unavailable, match="refused"):
        replace(alone, clock=lambda: next(late), deadline=5.0).patch(NODE, ADD)


@pytest.mark.parametrize("host", ["http://[::bad", "https://127.0.0.1:1", "http://no host"])
def test_no_error_of_a_library_gets_out(connection: Connection, host: str) -> None:
    with pytest.raises(Unavailable):
        replace(connection, host=host).get(NODE)


def test_a_header_that_cannot_be_sent_is_an_error_of_ours(connection: Connection) -> None:
    with pytest.raises(Unavailable):
        replace(connection, authorization=lambda: "Bearer a\r\nX-Evil: 1").get(NODE)


def test_missing_credentials_are_no_network_trouble(connection: Connection) -> None:
    def none() -> str:
        raise NotConfigured("there is no bearer token in /t")

    with pytest.raises(NotConfigured):
        replace(connection, authorization=none).get(NODE)


def test_memory_threads_and_sockets_stay_flat(server: StandIn, connection: Connection) -> None:
    # kubernetes-client 545
    def calls(count: int) -> None:
        for _ in range(count):
            connection.get(NODE)
            connection.patch(NODE, ADD)
            with pytest.raises(NotFound):
                connection.get(f"{NODES}/gone")
            server.seen.clear()

    calls(30)
    gc.collect()
    threads, sockets = threading.active_count(), server.connections
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    calls(300)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert threading.active_count() <= threads
    assert server.connections == sockets
    assert after - before < 100_000


def test_threads_share_it(server: StandIn, connection: Connection) -> None:
    answers: list[str] = []

    def ask() -> None:
        for _ in range(20):
            answer = connection.get(NODE)
            answers.append(answer["metadata"]["name"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["n1"] * 160
    assert server.connections <= 8
