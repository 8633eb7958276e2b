"""A webhook that notes what the API server asks it, and denies it.

Owns the answer to one AdmissionReview, over TLS, on the address of a Service that nobody proxies.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from typing_extensions import override

from tests.e2e.api import Object

DENIAL = "noted, and denied"


@dataclass
class Noted:
    """What was asked: the path of each call, and its request."""

    paths: list[str] = field(default_factory=list)
    requests: list[Object] = field(default_factory=list)

    def about(self, name: str) -> list[Object]:
        """The requests about one object: others may be evicted meanwhile."""
        return [one for one in self.requests if one["name"] == name]


@contextmanager
def noting(address: str, port: int, certificate: Path, key: Path) -> Iterator[Noted]:
    """Listen there until the end of ``with``."""
    noted = Noted()

    class Handler(BaseHTTPRequestHandler):
        # One call for each connection, or those that are kept would be answered after the end, too.
        protocol_version = "HTTP/1.0"
        timeout = 10

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = json.loads(body)["request"]
            noted.paths.append(self.path.split("?")[0])
            noted.requests.append(request)
            status = {"code": 429, "reason": "TooManyRequests", "message": DENIAL}
            answer = json.dumps(
                {
                    "apiVersion": "admission.k8s.io/v1",
                    "kind": "AdmissionReview",
                    "response": {"uid": request["uid"], "allowed": False, "status": status},
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        @override
        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Keep quiet."""

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer((address, port), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, name="noting", daemon=True)
    thread.start()
    try:
        yield noted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
