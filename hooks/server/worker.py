"""gunicorn's threaded worker, with every request read before it takes a thread.

Owns the way of a connection: read in the event loop until the request is whole or its time is over,
then a thread, then the loop again. So a peer that trickles costs no thread, however many there are
of it, and a request's arrival is stamped before it queues. Leaves what comes before a request to
:mod:`hooks.server.handshakes`, what comes after the last one to :mod:`hooks.server.farewells`, and
the choice of who has to go to :mod:`hooks.server.room`.
Source: design/product.md, *HTTP*; design/rotation.md section 1 (no write after the timeout - 2 s).
"""

from __future__ import annotations

import gc
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from errno import EPIPE
from functools import partial
from selectors import EVENT_READ
from typing import Any, Final, cast

from gunicorn.http import Request
from gunicorn.http.errors import LimitRequestHeaders, ParseException
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn, ThreadWorker
from typing_extensions import override

from hooks.app import ARRIVAL, LATER
from hooks.server.certificates import Certificates
from hooks.server.errands import Errands
from hooks.server.farewells import LINGER, Farewells
from hooks.server.handshakes import Handshakes
from hooks.server.incoming import Incoming, Progress
from hooks.server.refusals import Body, Busy, LargeBody, refusal
from hooks.server.room import LITTLE, Waiting, heaviest, superfluous
from hooks.server.source import Source, take
from hooks.settings import TokenFile

READ_TIME: Final = 5.0
"""Seconds within which a request must have arrived, from its first byte."""
WRITE_TIME: Final = 10.0
"""Seconds that a peer may let one piece of an answer wait; then its connection is given up."""


class WholeRequestWorker(ThreadWorker):
    """A worker whose threads see whole requests only.

    A subclass for each server sets ``body_limit`` (bytes), ``held`` (bytes of unfinished bodies that
    are kept in all, and as many of requests that wait for a thread), ``token``, whose bearers alone
    have their bodies waited for, and ``certificates`` if its first listener speaks TLS. There
    everyone's bodies are: whoever may call has shown it by a certificate, or nobody is asked for
    anything.
    """

    body_limit: int
    held: int
    token: TokenFile
    certificates: Certificates | None

    _handshakes: Handshakes | None
    _reading: dict[TConn, Incoming]
    _sources: dict[TConn, Source]
    _farewells: Farewells
    _current: threading.local
    _errands: Errands

    @override
    def run(self) -> None:
        """Begin with no connections, and run until the end of the process."""
        self._handshakes = None
        if self.certificates is not None:
            self.log.info("the first address of those speaks TLS only, the others never do")
            self._handshakes = Handshakes(
                self.poller,
                self.sockets[0].getsockname(),
                self.certificates,
                self.log,
                done=self.enqueue_req,
                refused=self._see_off,
                gone=self._close,
            )
        self._reading = {}
        self._sources = {}
        self._farewells = Farewells(self.poller, self._close)
        self._current = threading.local()
        self._errands = Errands(self.log)
        super().run()

    # --- In the event loop. ---

    @override
    def notify(self) -> None:
        """Touch no file in each round: nobody looks at it, and a disk holds up everything by that.

        It is how gunicorn sees that a worker hangs, which its ``timeout`` of 0 leaves to the probes.
        """

    @override
    def enqueue_req(self, conn: TConn) -> None:
        """Begin to read a request: on a new connection, on a kept one, or behind the last one."""
        if self._handshakes is not None and self._handshakes.concern(conn):
            self._handshakes.begin(conn)
            return
        conn.sock.settimeout(0)
        due = time.monotonic() + READ_TIME
        admits = _admit_all if isinstance(conn.sock, ssl.SSLSocket) else self._admits
        incoming = self._reading[conn] = Incoming(due, self.body_limit, admits)
        self.poller.register(conn.sock, EVENT_READ, partial(self._on_readable, conn))
        early = b"" if conn.parser is None else _parser_of(conn).unreader.take_buffered()
        if early:
            self._add(conn, incoming, early)
        elif not self.alive:
            incoming.due += LINGER - READ_TIME

    def _on_readable(self, conn: TConn, peer: socket.socket) -> None:
        incoming = self._reading[conn]
        data = take(peer)
        if data is None:
            return
        if not data:
            self._give_up(conn)
            return
        if not incoming.data:
            incoming.due = time.monotonic() + READ_TIME
        self._add(conn, incoming, data)

    def _add(self, conn: TConn, incoming: Incoming, data: bytes) -> None:
        progress = incoming.add(data)
        if progress is Progress.OVERLONG:
            self._refuse(conn, LimitRequestHeaders("the head has no end"))
        elif progress is Progress.TOO_LARGE:
            self._refuse(conn, LargeBody())
        elif progress is Progress.READY and len(incoming.data) > LITTLE and self._queues_too_much():
            self._refuse(conn, Busy())
        elif progress is Progress.READY:
            self._hand_over(conn)
        elif incoming.asks_first:
            incoming.asks_first = False
            self._reply(conn, b"HTTP/1.1 100 Continue\r\n\r\n")

    def _refuse(self, conn: TConn, error: ParseException) -> None:
        self._reply(conn, refusal(error))
        self._see_off(conn)

    def _reply(self, conn: TConn, data: bytes) -> None:
        try:
            conn.sock.send(data)
        except OSError:
            self.log.debug("a peer was gone before it could be told")

    def _admits(self, token: bytes | None) -> bool:
        try:
            return token is not None and self.token.admits(token)
        except (OSError, ValueError):
            # The application says so, in its answer.
            return False

    def _queues_too_much(self) -> bool:
        # Threads take them out meanwhile; the list is made at once.
        return sum(source.size for source in list(self._sources.values())) > self.held

    def _hand_over(self, conn: TConn) -> None:
        incoming = self._reading.pop(conn)
        self.poller.unregister(conn.sock)
        arrival = incoming.due - READ_TIME
        self._sources[conn] = Source(incoming.data, arrival, _scheme_of(conn))
        super().enqueue_req(conn)

    def _give_up(self, conn: TConn) -> None:
        del self._reading[conn]
        self._close(conn)

    def _close(self, conn: TConn) -> None:
        # It isn't watched when it was gone before its handshake could begin.
        with suppress(KeyError, ValueError):
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
            self._close(conn)
        else:
            self._see_off(conn)

    def _see_off(self, conn: TConn) -> None:
        self._reading.pop(conn, None)
        self._farewells.begin(conn)

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
        self._farewells.end_overdue()
        if self._handshakes is not None:
            self._handshakes.end_overdue()
            self._handshakes.certificates.watch(self.log)
        self._make_room()

    def _make_room(self) -> None:
        """Let go of those who are too many. After a round: none of its events is about one of them."""
        first = None if self._handshakes is None else self._handshakes.server
        for conn in superfluous(self._waiting(), first):
            self.log.debug("cut off the peer that was waited for longest, to make room")
            self._let_go(conn)
        for one in heaviest(self._waiting(), self.held):
            self.log.info(
                "cut off the largest unfinished request (%d bytes): all of them held more than %d",
                one.held,
                self.held,
            )
            self._let_go(one.conn)

    def _waiting(self) -> list[Waiting]:
        kept = self.cfg.keepalive
        return [
            *(Waiting(conn, conn.timeout - kept) for conn in self.keepalived_conns),
            *(Waiting(conn, one.due - READ_TIME, one.held) for conn, one in self._reading.items()),
            *(Waiting(conn, due - LINGER) for conn, due in self._farewells.due.items()),
        ]

    def _let_go(self, conn: TConn) -> None:
        if conn in self._reading:
            self._give_up(conn)
        elif conn in self._farewells.due:
            self._farewells.end(conn)
        else:
            self.keepalived_conns.remove(conn)
            self._close(conn)

    @override
    def wait_for_and_dispatch_events(self, timeout: float | None) -> None:
        """Wait for events, but not beyond the next moment at which something is over."""
        edges = [incoming.due for incoming in self._reading.values()]
        edges += self._farewells.due.values()
        edges += () if self._handshakes is None else self._handshakes.due.values()
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
        self._errands.hurry()
        for listener in self.sockets:
            before = -1
            while before != self.nr_conns:
                before = self.nr_conns
                self.accept(listener)
            listener.close()
        for incoming in self._reading.values():
            if not incoming.data:
                incoming.due = min(incoming.due, time.monotonic() + LINGER)
        if self._handshakes is not None:
            self._handshakes.hurry(LINGER)

    # --- In the threads. ---

    @override
    def load_wsgi(self) -> None:
        """Load the application, and tell it of each request when it came."""
        super().load_wsgi()
        # What is loaded stays: a full collection that walks through it stops all threads for 0.1 s.
        gc.collect()
        gc.freeze()
        self.wsgi = partial(self._call, self.wsgi)

    def _call(
        self,
        app: Callable[..., Iterable[bytes]],
        environ: dict[str, Any],
        start_response: Callable[..., Any],
    ) -> Iterable[bytes]:
        environ[ARRIVAL] = self._current.source.arrival
        environ[LATER] = self._errands
        # gunicorn knows one scheme for all listeners, and would let a local peer name another.
        environ["wsgi.url_scheme"] = self._current.source.scheme
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
        except TimeoutError:
            self.log.info("a peer did not take its answer within %g s", WRITE_TIME)
            raise BrokenPipeError(EPIPE, "a peer did not take its answer") from None

    @override
    def handle_error(
        self, req: Request | None, client: socket.socket, addr: Any, exc: BaseException
    ) -> None:
        """Refuse what isn't HTTP in the shape of all other errors."""
        if isinstance(exc, ssl.SSLError):
            self.log.debug("a peer broke its connection: %s", exc)
            return
        if isinstance(exc, ParseException):
            self.log.info("refused a malformed request: %s", exc)
        else:
            self.log.error("failed to answer a request", exc_info=exc)
        try:
            client.settimeout(WRITE_TIME)
            client.sendall(refusal(exc))
        except OSError:
            self.log.debug("the refusal did not reach its peer")


def _admit_all(_: bytes | None) -> bool:
    return True


def _scheme_of(conn: TConn) -> str:
    return "https" if isinstance(conn.sock, ssl.SSLSocket) else "http"


def _parser_of(conn: TConn) -> RequestParser:
    if not isinstance(conn.parser, RequestParser):
        raise TypeError(f"HTTP/1.1 is all that is spoken here, not {type(conn.parser).__name__}")
    return conn.parser
