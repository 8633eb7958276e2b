"""A hand between the hook server and the API server, for what happens between two writes.

Owns forwarding every request unchanged, and calling back once the API server has carried out the
patch that takes a candidate for its drain, before the hook server hears of it. Two writes of one
pass are milliseconds apart: no other way hits the gap every time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

import requests
from typing_extensions import override

from tests.e2e.control_plane import ControlPlane

NOT_FORWARDED = frozenset({"connection", "content-length", "host", "transfer-encoding"})


class Interposer:
    """An API server at ``url`` (plain http on loopback) that is really the one of ``plane``.

    ``taken`` is called with the NodeClaim's name, each time that its state has become draining.
    """

    def __init__(self, plane: ControlPlane, taken: Callable[[str], None]) -> None:
        """Nothing is answered before ``with``."""
        self._server = _Server(plane, taken)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    def __init__(self, plane: ControlPlane, taken: Callable[[str], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Forwarder)
        self.plane = plane
        self.taken = taken


class _Forwarder(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._forward(b"")

    def do_POST(self) -> None:
        self._forward(self._body())

    def do_DELETE(self) -> None:
        self._forward(self._body())

    def do_PATCH(self) -> None:
        body = self._body()
        answer = self._ask(body)
        _, _, claim = self.path.partition("/nodeclaims/")
        if claim and answer.ok and b'"draining"' in body:
            self.server.taken(claim)
        self._give(answer)

    @override
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Stay silent: the audit log has each call."""

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _forward(self, body: bytes) -> None:
        self._give(self._ask(body))

    def _ask(self, body: bytes) -> requests.Response:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in NOT_FORWARDED}
        url = self.server.plane.url + self.path
        with requests.Session() as session:
            session.trust_env = False
            ca = str(self.server.plane.ca)
            return session.request(
                self.command, url, data=body, headers=headers, verify=ca, timeout=30
            )

    def _give(self, answer: requests.Response) -> None:
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(answer.content)))
        for name in ("Retry-After", "Warning"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.end_headers()
        self.wfile.write(answer.content)
