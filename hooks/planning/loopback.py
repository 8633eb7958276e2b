"""A small server on loopback for an application in this process, which can die in an instant.

Owns its sockets. An answer leaves only when all is done that belongs to it, so that a cluster whose
clock stands still while it waits never goes on beside a thread that still writes.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from typing_extensions import override

from hooks.app import WsgiApp

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

HOST: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.02


class Loopback:
    """Serves an application from :meth:`start` to :meth:`die`.

    ``https`` tells the application that it is called over TLS, as if somebody in front of it had
    ended that. Port 0 takes any that is free.
    """

    def __init__(self, app: WsgiApp, *, port: int = 0, https: bool = False) -> None:
        """Bind the port; nobody is served yet."""
        self._server = make_server(
            HOST, port, _Whole(app), server_class=_Server, handler_class=_Silent
        )
        if https:
            self._server.base_environ["HTTPS"] = "on"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )

    @property
    def port(self) -> int:
        """The port on loopback."""
        return self._server.server_port

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def die(self) -> None:
        """Cut all connections at once, and listen no more."""
        self._server.die()


class _Whole:
    """Ends what an application does before its answer leaves."""

    def __init__(self, app: WsgiApp) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        answer = self._app(environ, start)
        try:
            return [b"".join(answer)]
        finally:
            close = getattr(answer, "close", None)
            if close is not None:
                close()


class _Server(ThreadingMixIn, WSGIServer):
    """Answers each connection in a thread of its own, and can drop all of them at once."""

    daemon_threads = True
    block_on_close = False

    @override
    def server_bind(self) -> None:
        self._open: set[socket.socket] = set()
        self._dead = False
        super().server_bind()

    @override
    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        if self._dead:
            _cut(connection)
        return connection, address

    @override
    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent about connections that were cut."""

    def die(self) -> None:
        self._dead = True
        for connection in list(self._open):
            _cut(connection)
        self.shutdown()
        self.server_close()


class _Silent(WSGIRequestHandler):
    # Head and body go out in two writes, and the second must not wait for an acknowledgement.
    disable_nagle_algorithm = True

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the hooks have a log of their own."""

    @override
    def address_string(self) -> str:
        return HOST


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
