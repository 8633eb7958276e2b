"""A server for test_server_tls.py: the real process with TLS, around an application of a few lines.

It answers each request with what it saw of it: scheme, path, length of the body, and how many there
were before it; and with what its process has taken so far: the most memory (in the unit of the
operating system) and open files. It sleeps for as long as the query says (``?sleep=1.5``), or waits at
a gate (``?gate=/path``), and fills its answer up to a size (``?size=1000000``).
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from hooks.app import WsgiApp
from hooks.server.process import run
from hooks.settings import Only, read_settings
from tests.server_times import Gate, stretch

NUMBERS = count()


def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    seen = {
        "scheme": environ["wsgi.url_scheme"],
        "path": environ["PATH_INFO"],
        "length": len(environ["wsgi.input"].read()),
        "before": next(NUMBERS),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "files": len(list(Path("/dev/fd").iterdir())),
    }
    asked = parse_qs(environ["QUERY_STRING"])
    time.sleep(float(asked.get("sleep", ["0"])[0]))
    for gate in asked.get("gate", ()):
        Gate(Path(gate)).pass_through()
    body = json.dumps(seen).encode().ljust(int(asked.get("size", ["0"])[0]))
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def load() -> WsgiApp:
    return app


if __name__ == "__main__":
    stretch()
    run(read_settings(os.environ, Only.EVICTION), load)
