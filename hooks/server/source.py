"""What the HTTP parser reads from: the bytes that are there, and nothing else.

Owns what a thread sees of a request; it never waits for a peer. Leaves to
:mod:`hooks.server.incoming` when there is enough of one.
"""

from __future__ import annotations

import socket
import ssl
from errno import ECONNRESET
from typing import Final

PIECE: Final = 1024 * 1024
"""Bytes taken from one connection before the others get their turn."""


def take(peer: socket.socket) -> bytes | None:
    """Take what a connection of the event loop has; None if there is nothing yet, empty at its end."""
    try:
        return peer.recv(PIECE)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return None
    except OSError:
        return b""


class Source:
    """Stands in for a socket in gunicorn's parser, which only calls ``recv``.

    ``arrival`` is when the request came, ``scheme`` that of the URL that was asked for, ``size`` how
    many bytes there are in all.
    """

    arrival: float
    scheme: str
    size: int

    def __init__(self, data: bytearray, arrival: float, scheme: str) -> None:
        self.arrival = arrival
        self.scheme = scheme
        self.size = len(data)
        self._data = memoryview(data)

    def recv(self, size: int) -> bytes:
        """Give up to ``size`` bytes; raises ConnectionResetError when there are no more.

        What the event loop took for enough may look unfinished to the parser. A thread that waited
        for the rest could be held by anybody. An empty answer would be the regular end of a body.
        """
        if not self._data:
            raise ConnectionResetError(ECONNRESET, "the rest of the request isn't waited for")
        data = bytes(self._data[:size])
        self._data = self._data[size:]
        return data

    def rest(self) -> bytes:
        """What is there and wasn't read: the beginning of the next request."""
        return bytes(self._data)
