"""Peers of a server: one that reads its answer byte by byte, and one that trickles."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final

from tests.server_times import SOON

LONGEST_TRICKLE: Final = 400
"""Tenths of a second after which a peer ends it, however long the server would take it."""


def answer_of(peer: socket.socket) -> tuple[int, Any]:
    """Read one answer, and nothing of the next one, which may be there already."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += received(peer, 1)
    if head.startswith(b"HTTP/1.1 100"):
        return 100, None
    length = re.search(rb"(?i)\r\ncontent-length: ([0-9]+)", head)
    assert length is not None, head
    body = b""
    while len(body) < int(length[1]):
        body += received(peer, int(length[1]) - len(body))
    return int(head.split()[1]), json.loads(body)


def received(peer: socket.socket, size: int = 65536) -> bytes:
    """What has arrived, which must be something."""
    data = peer.recv(size)
    assert data, "the connection ended before the answer did"
    return data


def trickle(
    connect: Callable[[], socket.socket],
    at_once: bytes,
    slowly: bytes,
    begin: threading.Barrier,
    end: threading.Event,
) -> float:
    """Send byte by byte until the server, or a test, ends it; give the seconds that it took."""
    before = time.monotonic()
    with closing(connect()) as peer:
        peer.sendall(at_once)
        peer.settimeout(0.1)
        begin.wait(SOON)
        for position in range(LONGEST_TRICKLE):
            if end.is_set():
                break
            try:
                peer.sendall(slowly[position : position + 1])
                if peer.recv(65536) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
    return time.monotonic() - before
