"""Times of a server that are longer than its own, and requests that end when a test says so.

How soon something comes can't be told on a busy machine. That it comes without waiting for one of
the server's times can: where that is so long that nobody has waited for it.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import hooks
from hooks.server import farewells, handshakes, worker
from tests.support import waiting

LONG: Final = 60.0
"""Seconds that a stretched time lasts."""
SOON: Final = LONG / 2
"""Seconds within which comes whatever waits for no stretched time, however busy the machine is."""
PATIENT: Final = ("READ_TIME", "HANDSHAKE_TIME", "LINGER")

PLACES: Final = (Path(hooks.__file__).parents[1], Path(__file__).parents[1])
"""Where a server that a test starts finds what it imports."""
_VARIABLE: Final = "STRETCHED"

wait_until = partial(waiting.wait_until, seconds=LONG, every=0.01)


def stretched(*names: str) -> dict[str, str]:
    """The environment in which a server has these times stretched."""
    return {_VARIABLE: json.dumps(names)}


def stretch() -> None:
    """In the server, before it runs: stretch what the environment says."""
    for name in json.loads(os.environ.get(_VARIABLE, "[]")):
        for module in (farewells, handshakes, worker):
            if hasattr(module, name):
                setattr(module, name, LONG)


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
