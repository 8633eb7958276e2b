"""gunicorn's threaded worker, with every request read before it takes a thread.

Owns the way of a connection: read in the event loop until the request is whole or its time is over,
then a thread, then the loop again. So a peer that trickles costs no thread, however many there are
of it, and a request's arrival is stamped before it queues. Knows nothing of TLS. Source:
design/product.md, *HTTP*; design/rotation.md section 1 (no write after the hook's timeout - 2 s).
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from selectors import EVENT_READ
from typing import Any, Final, cast

from gunicorn.http import Request
from gunicorn.http.errors import LimitRequestHeaders, ParseException
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn, ThreadWorker
from typing_extensions import override

from hooks.app import ARRIVAL
from hooks.server.incoming import Incoming, Progress
from hooks.server.refusals import Body, refusal
from hooks.server.source import WRITE_TIME, Source
from hooks.settings import TokenFile

READ_TIME: Final = 5.0
"""Seconds within which a request must have arrived, from its first byte."""
LINGER: Final = 2.0
"""Seconds that a closed connection still takes what its peer is sending, so that it sees the answer."""
PIECE: Final = 1024 * 1024
"""Bytes taken from one connection before the others get their turn."""
HELD: Final = 256 * 1024 * 1024
"""Bytes of unfinished requests that are kept in all."""


class WholeRequestWorker(ThreadWorker):
    """A worker whose threads see whole requests only.

    A subclass for each server sets ``body_limit`` (bytes) and ``token``, whose bearers alone have
    their bodies waited for.
    """

    body_limit: int
    token: TokenFile

    _reading: dict[TConn, Incoming]
    _sources: dict[TConn, Source]
    _leaving: dict[TConn, float]
    _current: threading.local

    @override
    def init_process(self) -> None:
        """Begin with no connections, and run until the end of the process."""
        self._reading = {}
        self._sources = {}
        self._leaving = {}
        self._current = threading.local()
        super().init_process()

    # --- In the event loop. ---

    @override
    def enqueue_req(self, conn: TConn) -> None:
        """Begin to read a request: on a new connection, on a kept one, or behind the last one."""
        conn.sock.settimeout(0)
        due = time.monotonic() + READ_TIME
        incoming = self._reading[conn] = Incoming(due, self.body_limit, self._admits)
        self.poller.register(conn.sock, EVENT_READ, partial(self._on_readable, conn))
        early = b"" if conn.parser is None else _parser_of(conn).unreader.take_buffered()
        if early:
            self._add(conn, incoming, early)

    def _on_readable(self, conn: TConn, peer: socket.socket) -> None:
        incoming = self._reading[conn]
        try:
            data = peer.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._give_up(conn)
            return
        if not incoming.data:
            incoming.due = time.monotonic() + READ_TIME
        self._add(conn, incoming, data)

    def _add(self, conn: TConn, incoming: Incoming, data: bytes) -> None:
        progress = incoming.add(data)
        if progress is Progress.OVERLONG:
            self._reply(conn, refusal(LimitRequestHeaders("the head has no end")))
            self._see_off(conn)
        elif progress is Progress.READY or self._holds_too_much():
            self._hand_over(conn)
        elif incoming.asks_first:
            incoming.asks_first = False
            self._reply(conn, b"HTTP/1.1 100 Continue\r\n\r\n")

    def _reply(self, conn: TConn, data: bytes) -> None:
        try:
            conn.sock.send(data)
        except OSError:
            self.log.debug("a peer was gone before it could be told")

    def _admits(self, token: bytes) -> bool:
        try:
            return self.token.admits(token)
        except (OSError, ValueError):
            # The application says so, in its answer.
            return False

    def _holds_too_much(self) -> bool:
        return sum(len(incoming.data) for incoming in self._reading.values()) > HELD

    def _hand_over(self, conn: TConn) -> None:
        incoming = self._reading.pop(conn)
        self.poller.unregister(conn.sock)
        self._sources[conn] = Source(
            conn.sock,
            incoming.data,
            arrival=incoming.due - READ_TIME,
            due=incoming.due,
        )
        super().enqueue_req(conn)

    def _give_up(self, conn: TConn) -> None:
        self._reading.pop(conn, None)
        self._leaving.pop(conn, None)
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    @override
    def finish_request(self, conn: TConn, fs: Future[bool]) -> None:
        """Keep the connection for its next request, or close it without waiting for its peer.

        gunicorn lingers on a closing connection in the event loop; a peer that doesn't close its
        side would hold up all the others by that.
        """
        if not fs.cancelled() and fs.exception() is None and fs.result():
            super().finish_request(conn, fs)
            return
        try:
            conn.sock.settimeout(0)
            self.poller.register(conn.sock, EVENT_READ, partial(self._on_readable, conn))
        except (OSError, ValueError):
            self.nr_conns -= 1
            conn.close()
        else:
            self._see_off(conn)

    def _see_off(self, conn: TConn) -> None:
        """Close our side, and the connection when its peer has seen that, or after a while."""
        self._reading.pop(conn, None)
        self._leaving[conn] = time.monotonic() + LINGER
        self.poller.modify(conn.sock, EVENT_READ, partial(self._on_leaving, conn))
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._give_up(conn)

    def _on_leaving(self, conn: TConn, peer: socket.socket) -> None:
        try:
            data = peer.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._give_up(conn)

    @override
    def murder_pending(self) -> None:
        """Cut off whatever has had its time. gunicorn calls this after each round of events."""
        super().murder_pending()
        now = time.monotonic()
        for conn, incoming in list(self._reading.items()):
            if incoming.due <= now:
                if incoming.data:
                    self.log.info("cut off a request that did not arrive within %g s", READ_TIME)
                self._give_up(conn)
        for conn in [conn for conn, due in self._leaving.items() if due <= now]:
            self._give_up(conn)

    @override
    def wait_for_and_dispatch_events(self, timeout: float | None) -> None:
        """Wait for events, but not beyond the next moment at which something is over."""
        edges = [incoming.due for incoming in self._reading.values()]
        edges += self._leaving.values()
        if edges and timeout is not None:
            timeout = min(timeout, max(0.0, min(edges) - time.monotonic()))
        super().wait_for_and_dispatch_events(timeout)

    @override
    def set_accept_enabled(self, enabled: bool | None) -> None:
        """Begin or end to accept connections; when stopping, take those that wait and then close.

        A listener that stayed open would go on gathering connections, to reset them at the end.
        """
        super().set_accept_enabled(enabled)
        if enabled or self.alive:
            return
        for listener in self.sockets:
            before = -1
            while before != self.nr_conns:
                before = self.nr_conns
                self.accept(listener)
            listener.close()
        for incoming in self._reading.values():
            if not incoming.data:
                incoming.due = min(incoming.due, time.monotonic() + LINGER)

    # --- In the threads. ---

    @override
    def load_wsgi(self) -> None:
        """Load the application, and tell it of each request when it came."""
        super().load_wsgi()
        self.wsgi = partial(self._call, self.wsgi)

    def _call(
        self,
        app: Callable[..., Iterable[bytes]],
        environ: dict[str, Any],
        start_response: Callable[..., Any],
    ) -> Iterable[bytes]:
        environ[ARRIVAL] = self._current.source.arrival
        environ["wsgi.input"] = Body(environ["wsgi.input"])
        return app(environ, start_response)

    @override
    def handle(self, conn: TConn) -> bool:
        """Answer one request; whether the connection may be used for another one."""
        source = self._current.source = self._sources.pop(conn)
        conn.data_ready = True
        conn.init()
        unreader = SocketUnreader(cast("socket.socket", source))
        _parser_of(conn).unreader = unreader
        kept = super().handle(conn)
        if kept:
            unreader.unread(unreader.take_buffered() + source.rest())
        return kept

    @override
    def handle_request(self, req: Request, conn: TConn) -> bool:
        """Run the application. Its answer may take long, but a peer that doesn't read it may not."""
        conn.sock.settimeout(WRITE_TIME)
        try:
            return super().handle_request(req, conn)
        finally:
            self._current.source.stop()

    @override
    def handle_error(
        self, req: Request | None, client: socket.socket, addr: Any, exc: BaseException
    ) -> None:
        """Refuse what isn't HTTP in the shape of all other errors."""
        if isinstance(exc, ParseException):
            self.log.info("refused a malformed request: %s", exc)
        else:
            self.log.error("failed to answer a request", exc_info=exc)
        try:
            client.sendall(refusal(exc))
        except OSError:
            self.log.debug("the refusal did not reach its peer")


def _parser_of(conn: TConn) -> RequestParser:
    if not isinstance(conn.parser, RequestParser):
        raise TypeError(f"HTTP/1.1 is all that is spoken here, not {type(conn.parser).__name__}")
    return conn.parser
