"""What the HTTP parser reads from: first the bytes that are there, then the socket, in bounded time.

Owns the read deadline while a thread works on a request. Leaves to :mod:`hooks.server.incoming` what
comes before.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Final

WRITE_TIME: Final = 10.0
"""Seconds that a peer may let one piece of an answer wait; then its connection is given up."""


class Source:
    """Stands in for a socket in gunicorn's parser, which only calls ``recv``.

    ``arrival`` is when the request came, ``due`` when it must have been read (seconds of ``clock``).
    """

    arrival: float

    def __init__(
        self,
        peer: socket.socket,
        data: bytearray,
        *,
        arrival: float,
        due: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.arrival = arrival
        self._peer = peer
        self._data = memoryview(data)
        self._due = due
        self._clock = clock

    def recv(self, size: int) -> bytes:
        """Give up to ``size`` bytes; raises TimeoutError once the request's time is over.

        The time is one for the whole request, however many calls it takes: a peer that sends a byte
        now and then gains nothing by it.
        """
        if self._data:
            data = bytes(self._data[:size])
            self._data = self._data[size:]
            return data
        left = self._due - self._clock()
        if left <= 0:
            raise TimeoutError("the request did not arrive in time")
        self._peer.settimeout(left)
        try:
            return self._peer.recv(size)
        finally:
            self._peer.settimeout(WRITE_TIME)

    def stop(self) -> None:
        """Wait for nothing more: what the answer didn't need isn't worth a thread's time."""
        self._due = 0.0

    def rest(self) -> bytes:
        """What is there and wasn't read: the beginning of the next request."""
        return bytes(self._data)
