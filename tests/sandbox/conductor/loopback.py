"""An HTTP server on a free loopback port, for tests that need real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from typing_extensions import override


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    client: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Sent:
    """What to answer: ``chunks`` go out one by one, as a watch does, instead of ``body``."""

    status: int = 200
    body: object = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Iterator[bytes] | None = None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answer: Callable[[Received], Sent]

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        client: tuple[str, int] = self.client_address
        received = Received(
            self.command, self.path, dict(self.headers), self.rfile.read(length), client
        )
        try:
            self._send(self.answer(received))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _send(self, sent: Sent) -> None:
        self.send_response(sent.status)
        for name, value in sent.headers.items():
            self.send_header(name, value)
        if sent.chunks is None:
            data = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in sent.chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")


_METHODS = {f"do_{verb}": _Handler.handle_any for verb in ("GET", "POST", "PUT", "DELETE")}


@contextmanager
def serving(answer: Callable[[Received], Sent]) -> Iterator[str]:
    """Serve until the block ends; yields the address."""

    handler = type("Handler", (_Handler,), {"answer": staticmethod(answer)} | _METHODS)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
