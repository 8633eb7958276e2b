"""TLS handshakes, all in the event loop: none takes a thread, and each has its time.

Owns a connection from its accept until it is encrypted, and what is said of one that never is.
Leaves the certificate to :mod:`hooks.server.certificates`.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE, BaseSelector
from typing import Final

from gunicorn.glogging import Logger
from gunicorn.http.errors import ParseException
from gunicorn.workers.gthread import TConn
from typing_extensions import override

from hooks.server.certificates import Certificates
from hooks.server.refusals import refusal

HANDSHAKE_TIME: Final = 5.0
"""Seconds within which a connection must be encrypted, from its accept."""
MOST_HANDSHAKES: Final = 128
"""At the same time. Of more the oldest goes, so that those who never end keep nobody out."""

_PLAIN: Final = "HTTP_REQUEST"
"""OpenSSL's word for a client that speaks HTTP without TLS."""


class PlainRequest(ParseException):
    """Somebody speaks plain HTTP where TLS is spoken."""

    @override
    def __str__(self) -> str:
        return "this port speaks HTTP over TLS only"


@dataclass(frozen=True, slots=True)
class Handshakes:
    """Those under way.

    ``server`` is the address whose connections are to be encrypted. ``done`` gets each one that is,
    no longer watched by ``poller``; ``refused`` each one whose peer can be told that it won't be;
    ``gone`` each one that is over.
    """

    poller: BaseSelector
    server: object
    certificates: Certificates
    log: Logger
    done: Callable[[TConn], None]
    refused: Callable[[TConn], None]
    gone: Callable[[TConn], None]
    due: dict[TConn, float] = field(default_factory=dict)
    """Until when each one must be over, in seconds of the monotonic clock."""

    def concern(self, conn: TConn) -> bool:
        """Whether a connection must be encrypted first."""
        return conn.server == self.server and not isinstance(conn.sock, ssl.SSLSocket)

    def begin(self, conn: TConn) -> None:
        """Start with a connection that has just been accepted."""
        if len(self.due) >= MOST_HANDSHAKES:
            self._cut_off(next(iter(self.due)), "gave way to a newer one")
        context = self.certificates.context(self.log)
        try:
            conn.sock = context.wrap_socket(
                conn.sock, server_side=True, do_handshake_on_connect=False
            )
        except OSError:
            self.gone(conn)
            return
        self.poller.register(conn.sock, EVENT_READ, partial(self._go_on, conn))
        self.due[conn] = time.monotonic() + HANDSHAKE_TIME

    def hurry(self, seconds: float) -> None:
        """Let none last longer than this from now on."""
        end = time.monotonic() + seconds
        self.due.update({conn: min(due, end) for conn, due in self.due.items()})

    def end_overdue(self) -> None:
        """Cut off those that have had their time."""
        now = time.monotonic()
        for conn in [conn for conn, due in self.due.items() if due <= now]:
            self._cut_off(conn, f"took longer than {HANDSHAKE_TIME:g} s")

    def _cut_off(self, conn: TConn, why: str) -> None:
        self.log.debug("cut off a handshake that %s", why)
        del self.due[conn]
        self.gone(conn)

    def _go_on(self, conn: TConn, peer: ssl.SSLSocket) -> None:
        if conn not in self.due:
            # It gave way to another one in the same round of events.
            return
        try:
            peer.do_handshake()
        except ssl.SSLWantReadError:
            self.poller.modify(peer, EVENT_READ, partial(self._go_on, conn))
        except ssl.SSLWantWriteError:
            self.poller.modify(peer, EVENT_WRITE, partial(self._go_on, conn))
        except OSError as error:
            del self.due[conn]
            self._tell(conn, error)
            self.refused(conn)
        else:
            del self.due[conn]
            self.poller.unregister(peer)
            self.done(conn)

    def _tell(self, conn: TConn, error: OSError) -> None:
        if not isinstance(error, ssl.SSLError) or isinstance(error, ssl.SSLEOFError):
            self.log.debug("a peer was gone before its connection was encrypted")
            return
        told = str(error).partition(" (_ssl")[0]
        host = conn.client[0] if isinstance(conn.client, tuple) else conn.client
        self.log.info("refused a connection from %s: %s", host, told)
        if error.reason == _PLAIN:
            try:
                # Past the encryption that there isn't.
                socket.socket.send(conn.sock, refusal(PlainRequest()))
            except OSError:
                self.log.debug("the refusal did not reach its peer")
