"""Handshakes one by one: what the event loop waits for, and what it does with those that end."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import pytest
import trustme
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import TConn

from hooks.server.certificates import CertificateFiles, Certificates
from hooks.server.handshakes import MOST_HANDSHAKES, Handshakes
from tests.tls_files import HOST, client, issued

AUTHORITY = trustme.CA()
PAIR = issued(AUTHORITY)
FILLING = trustme.CA().cert_pem.bytes() * 100
ADDRESS = (HOST, 8443)


class Loop:
    """An event loop of handshakes, and what became of each connection."""

    def __init__(self, folder: Path) -> None:
        (folder / "tls.crt").write_bytes(PAIR.cert + FILLING)
        (folder / "tls.key").write_bytes(PAIR.key)
        certificates = Certificates(CertificateFiles(folder / "tls.crt", folder / "tls.key", None))
        self.poller = DefaultSelector()
        self.done: list[TConn] = []
        self.refused: list[TConn] = []
        self.gone: list[TConn] = []
        self.handshakes = Handshakes(
            self.poller,
            ADDRESS,
            certificates,
            Logger(Config()),
            done=self.done.append,
            refused=self.refused.append,
            gone=self.gone.append,
        )

    def begin(self, ours: socket.socket) -> TConn:
        conn = TConn(Config(), ours, (HOST, 1), ADDRESS)
        assert self.handshakes.concern(conn)
        self.handshakes.begin(conn)
        return conn

    def turn(self) -> None:
        for key, _ in self.poller.select(1):
            key.data(key.fileobj)

    def watched(self, conn: TConn) -> int:
        return self.poller.get_key(conn.sock).events


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    made = Loop(tmp_path)
    with closing(made.poller):
        yield made


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    # So little that what a server says first doesn't fit in.
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    theirs.settimeout(0)
    with closing(ours), closing(theirs):
        yield ours, theirs


def test_a_handshake_waits_for_its_peer_to_speak_and_to_listen(
    loop: Loop, ends: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = ends
    conn = loop.begin(ours)
    with closing(
        client(AUTHORITY).wrap_socket(theirs, server_hostname=HOST, do_handshake_on_connect=False)
    ) as peer:
        seen = [loop.watched(conn)]
        for _ in range(200):
            try:
                peer.do_handshake()
            except ssl.SSLWantReadError:
                loop.turn()
                seen.append(loop.watched(conn))
            else:
                break
        loop.turn()
        assert (loop.done, loop.refused, loop.gone) == ([conn], [], [])
        assert {*seen} == {EVENT_READ, EVENT_WRITE}
        assert (seen[0], seen[1]) == (EVENT_READ, EVENT_WRITE)
        with closing(conn.sock), pytest.raises(KeyError):
            loop.watched(conn)
        assert not loop.handshakes.concern(conn)


def test_a_peer_that_does_not_shake_hands_is_refused_and_still_watched(
    loop: Loop, ends: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = ends
    conn = loop.begin(ours)
    theirs.sendall(b"hello" * 10)
    loop.turn()
    assert (loop.done, loop.refused, loop.gone) == ([], [conn], [])
    assert (loop.watched(conn), loop.handshakes.due) == (EVENT_READ, {})
    conn.close()


def test_of_too_many_the_oldest_goes_and_all_go_in_time(loop: Loop) -> None:
    pairs = [socket.socketpair() for _ in range(MOST_HANDSHAKES + 2)]
    begun = [loop.begin(ours) for ours, _ in pairs]
    assert loop.gone == begun[:2]
    loop.handshakes.end_overdue()
    assert loop.gone == begun[:2]
    loop.handshakes.hurry(0.01)
    loop.handshakes.hurry(60)
    time.sleep(0.02)
    loop.handshakes.end_overdue()
    assert (loop.gone, loop.done, loop.refused) == (begun, [], [])
    for conn, (_, theirs) in zip(begun, pairs, strict=True):
        conn.close()
        theirs.close()


def test_one_that_gave_way_in_the_same_round_is_left_alone(loop: Loop) -> None:
    pairs = [socket.socketpair() for _ in range(MOST_HANDSHAKES + 1)]
    begun = [loop.begin(ours) for ours, _ in pairs[:-1]]
    pairs[0][1].sendall(b"hello")
    ((key, _),) = loop.poller.select(1)
    begun.append(loop.begin(pairs[-1][0]))
    begun[0].close()
    key.data(key.fileobj)
    assert (loop.gone, loop.done, loop.refused) == (begun[:1], [], [])
    for conn, (_, theirs) in zip(begun, pairs, strict=True):
        conn.close()
        theirs.close()


def test_only_connections_of_its_address_concern_it(loop: Loop) -> None:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        assert not loop.handshakes.concern(TConn(Config(), ours, (HOST, 1), (HOST, 8080)))
