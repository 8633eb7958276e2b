"""A server for test_server.py: the real process and application, around a hook that sleeps.

The body says for how many seconds (``{"sleep": 1.5}``), or until which gate is open (``{"gate":
"/path"}``); the answer says how many were left of the request's time when the hook began, and how
long the body was.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from hooks import names
from hooks.app import WsgiApp, create_app
from hooks.server.process import run
from hooks.settings import read_settings
from hooks.telemetry.log import configure
from hooks.telemetry.metrics import Metrics
from tests.server_times import Gate, stretch

SETTINGS = read_settings(os.environ)


def hook(body: bytes, *, deadline: float, request_id: str) -> bytes:
    left = deadline - time.monotonic()
    asked = json.loads(body)
    time.sleep(asked.get("sleep", 0))
    if "gate" in asked:
        Gate(Path(asked["gate"])).pass_through()
    answer = {"left": left, "length": len(body), "request_id": request_id, "pid": os.getpid()}
    return json.dumps(answer).encode()


def load() -> WsgiApp:
    return create_app(SETTINGS, {names.SYNC_NODEPOOL: hook}, lambda: None, Metrics())


if __name__ == "__main__":
    stretch()
    configure(SETTINGS.log_level)
    run(SETTINGS, load)
