"""Beginning and end of a face."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

import pytest
import requests

from hooks.sandbox.face import Face
from hooks.sandbox.store.kinds import NODES
from tests.sandbox.face.client import Client
from tests.sandbox.store.worlds import World, node


def port_of(face: Face) -> int:
    return int(face.url.rpartition(":")[2])


def test_an_idle_connection_is_closed_by_the_stop(world: World) -> None:
    face = Face(world.store)
    face.start()
    with socket.create_connection(("127.0.0.1", port_of(face)), timeout=30) as idle:
        idle.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"ok"):
            answer += idle.recv(1000)
        face.stop()
        assert idle.recv(1000) == b""


def test_an_open_watch_is_cut_by_the_stop(world: World) -> None:
    face = Face(world.store)
    face.start()
    world.store.create(NODES, node("n1"))
    begun, ended = threading.Event(), threading.Event()

    def read() -> None:
        with Client(face.url) as client:
            events = client.watch("/api/v1/nodes?watch=1")
            next(events)
            begun.set()
            # The end reaches the reader as the last chunk or as a broken connection, by chance.
            with contextlib.suppress(requests.RequestException):
                assert next(events, None) is None
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    assert begun.wait(30)
    face.stop()
    assert ended.wait(30)


def test_a_face_that_was_never_started_can_be_stopped(world: World) -> None:
    Face(world.store).stop()


def test_a_peer_that_hangs_up_in_the_middle_disturbs_nobody(
    face: Face, client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", port_of(face)), timeout=30) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.sendall(b"GET /version HTT")
    client.get("/version")
    assert capfd.readouterr().err == ""


def test_nobody_is_served_after_the_stop(world: World) -> None:
    with Face(world.store) as face, Client(face.url) as client:
        client.get("/version")
    with Client(face.url) as late, pytest.raises(requests.ConnectionError):
        late.get("/version")


def test_several_faces_show_one_store_and_count_for_themselves(world: World) -> None:
    with Face(world.store) as one, Face(world.store) as other:
        with Client(one.url) as client:
            client.ask("POST", "/api/v1/nodes", node("n1"))
        with Client(other.url) as client:
            assert client.names("/api/v1/nodes") == ["n1"]
    assert [[call.verb for call in face.calls] for face in (one, other)] == [["create"], ["list"]]


def test_an_answer_leaves_in_one_piece(face: Face) -> None:
    with socket.create_connection(("127.0.0.1", port_of(face)), timeout=30) as connection:
        connection.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = connection.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
