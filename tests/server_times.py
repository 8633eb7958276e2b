"""Times of a server that are longer than its own, and requests that end when a test says so.

How soon something comes can't be told on a busy machine. That it comes without waiting for one of
the server's times can: where that is so long that nobody has waited for it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hooks.server import farewells, handshakes, worker

LONG: Final = 60.0
"""Seconds that a stretched time lasts."""
SOON: Final = LONG / 2
"""Seconds within which comes whatever waits for no stretched time, however busy the machine is."""
PATIENT: Final = ("READ_TIME", "HANDSHAKE_TIME", "LINGER")

_VARIABLE: Final = "STRETCHED"


def stretched(*names: str) -> dict[str, str]:
    """The environment in which a server has these times stretched."""
    return {_VARIABLE: json.dumps(names)}


def stretch() -> None:
    """In the server, before it runs: stretch what the environment says."""
    for name in json.loads(os.environ.get(_VARIABLE, "[]")):
        for module in (farewells, handshakes, worker):
            if hasattr(module, name):
                setattr(module, name, LONG)


def wait_until(what: str, holds: Callable[[], object], seconds: float = LONG) -> None:
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.01)


@dataclass(frozen=True)
class Gate:
    """A file that appears when requests may end which wait for it, and one with a byte of each."""

    path: Path

    def pass_through(self) -> None:
        """In the application: come to the gate, and wait until it is open."""
        with self._waiting.open("a") as book:
            book.write(".")
        while not self.path.exists():
            time.sleep(0.01)

    def wait_for(self, requests: int) -> None:
        """Wait until as many stand before it."""
        wait_until(f"{requests} requests have their threads", lambda: self._stand == requests)

    def open(self) -> None:
        """Let all of them through, and whoever comes later."""
        self.path.touch()

    @property
    def _waiting(self) -> Path:
        return self.path.with_suffix(".waiting")

    @property
    def _stand(self) -> int:
        return self._waiting.stat().st_size if self._waiting.exists() else 0
