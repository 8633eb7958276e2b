"""HTTP/1.1 on loopback: requests in, answers and streams out.

Owns sockets and framing; knows nothing of Kubernetes. Every answer leaves in one send, so that no
peer waits for an acknowledgement, and all connections can be cut at once.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from typing_extensions import override

JSON: Final = "application/json"
_HOST: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.02
_NEWEST_LAST: Final = 128


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``path`` and ``query`` are decoded."""

    method: str
    path: str
    query: Mapping[str, str]
    content_type: str
    body: bytes
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that goes on: each piece is sent as a chunk of its own."""

    pieces: Iterator[bytes]


Respond: TypeAlias = Callable[[Request], Answer | Stream]


class Wire:
    """A server on a free port of loopback; each connection has a thread of its own."""

    def __init__(self, respond: Respond) -> None:
        """Bind the port; nobody is served before :meth:`start`."""
        self._server = _Server(respond)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{_HOST}:{self._server.server_port}"

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """Stop to listen and cut every connection, also those that wait for a next request."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        self._server.cut_all()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    @override
    def setup(self) -> None:
        super().setup()
        self.server.add(self.connection)

    @override
    def finish(self) -> None:
        self.server.forget(self.connection)
        super().finish()

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def serve(self) -> None:
        """Answer one request."""
        answer = self.server.respond(self._request())
        try:
            if isinstance(answer, Answer):
                self._send(answer)
            else:
                self._stream(answer)
        except OSError:
            # The peer has gone.
            self.close_connection = True

    def _request(self) -> Request:
        length = int(self.headers.get("Content-Length") or 0)
        url = urlsplit(self.path)
        return Request(
            self.command,
            unquote(url.path),
            dict(parse_qsl(url.query, keep_blank_values=True)),
            self.headers.get("Content-Type") or "",
            self.rfile.read(length) if length else b"",
            self.headers.get("User-Agent") or "",
        )

    def _send(self, answer: Answer) -> None:
        headers = {
            "Content-Type": answer.content_type,
            "Content-Length": str(len(answer.body)),
            **answer.headers,
        }
        self.wfile.write(_head(answer.status, headers) + answer.body)

    def _stream(self, answer: Stream) -> None:
        headers = {"Content-Type": JSON, "Transfer-Encoding": "chunked"}
        self.wfile.write(_head(HTTPStatus.OK, headers))
        for piece in answer.pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


for _method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
    setattr(_Handler, f"do_{_method}", _Handler.serve)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = _NEWEST_LAST

    def __init__(self, respond: Respond) -> None:
        super().__init__((_HOST, 0), _Handler)
        self.respond = respond
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = False

    def add(self, connection: socket.socket) -> None:
        """Remember a connection; one that comes too late is cut at once."""
        with self._lock:
            self._open.add(connection)
            if self._closed:
                _cut(connection)

    def forget(self, connection: socket.socket) -> None:
        """Forget a connection that has ended."""
        with self._lock:
            self._open.discard(connection)

    def cut_all(self) -> None:
        """Cut every connection that is still open."""
        with self._lock:
            self._closed = True
            for connection in self._open:
                _cut(connection)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a peer that hangs up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
