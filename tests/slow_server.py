"""A server for test_server.py: the real process and application, around a hook that sleeps.

The body says for how many seconds (``{"sleep": 1.5}``); the answer says how many were left of the
request's time when the hook began, and how long the body was.
"""

from __future__ import annotations

import json
import os
import time

from hooks import names
from hooks.app import create_app
from hooks.server.process import WsgiApp, run
from hooks.settings import read_settings
from hooks.telemetry.log import configure

SETTINGS = read_settings(os.environ)


def hook(body: bytes, *, deadline: float, request_id: str) -> bytes:
    left = deadline - time.monotonic()
    time.sleep(json.loads(body).get("sleep", 0))
    answer = {"left": left, "length": len(body), "request_id": request_id, "pid": os.getpid()}
    return json.dumps(answer).encode()


def load() -> WsgiApp:
    return create_app(SETTINGS, {names.SYNC_NODEPOOL: hook}, lambda: None)


if __name__ == "__main__":
    configure(SETTINGS.log_level)
    run(SETTINGS, load)
