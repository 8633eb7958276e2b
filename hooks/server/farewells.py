"""Connections that are closed on our side, and still take what their peer is sending.

Owns the time between the last byte of an answer and the end of its connection: closed at once, a
connection that has unread bytes would be reset, and its peer might never see the answer. All of it
is in the event loop, so a peer that doesn't close its side holds up nobody.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ, BaseSelector
from typing import Final

from gunicorn.workers.gthread import TConn

from hooks.server.source import take

LINGER: Final = 2.0
"""Seconds that a closed connection still takes what its peer is sending."""


@dataclass(frozen=True, slots=True)
class Farewells:
    """Those under way; ``over`` gets each connection that is to be closed for good."""

    poller: BaseSelector
    over: Callable[[TConn], None]
    due: dict[TConn, float] = field(default_factory=dict)
    """Until when each one lasts at most, in seconds of the monotonic clock."""

    def begin(self, conn: TConn) -> None:
        """Close our side of a connection that the poller watches."""
        self.due[conn] = time.monotonic() + LINGER
        self.poller.modify(conn.sock, EVENT_READ, partial(self._on_readable, conn))
        try:
            _close_our_side(conn.sock)
        except OSError:
            self.end(conn)

    def end_overdue(self) -> None:
        """Wait no longer for peers that have had their time."""
        now = time.monotonic()
        for conn in [conn for conn, due in self.due.items() if due <= now]:
            self.end(conn)

    def end(self, conn: TConn) -> None:
        """Wait no longer for one."""
        del self.due[conn]
        self.over(conn)

    def _on_readable(self, conn: TConn, peer: socket.socket) -> None:
        if take(peer) == b"":
            self.end(conn)


def _close_our_side(sock: socket.socket) -> None:
    """Say that nothing follows, in the words of TLS where it is spoken; raises OSError if gone.

    After that the socket is a plain one: what still comes is thrown away as it is.
    """
    if isinstance(sock, ssl.SSLSocket):
        # An error is what it ends with: the peer's own last word isn't waited for.
        with suppress(OSError, ValueError):
            sock.unwrap()
    sock.shutdown(socket.SHUT_WR)
