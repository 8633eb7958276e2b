"""The hook server on the embedded cluster, and the hand between it and the API server.

Owns its lives: each has a door of its own to the cluster. Leaves the server itself to
:mod:`hooks.planning.hookserver`.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import timedelta

from hooks.planning.hookserver import HookServer
from hooks.sandbox.embedded import EmbeddedCluster
from hooks.sandbox.face import Face
from tests.e2e.processes import free_ports
from tests.scenarios.interposer import Interposer, Rule

STARTING = 2.0
"""Seconds until a program that is started does anything: the hook server, or a command."""
TOKEN = secrets.token_urlsafe(24)


@dataclass(slots=True)
class EmbeddedHooks:
    """The hook server, which a scenario may kill."""

    cluster: EmbeddedCluster
    rules: list[Rule] = field(default_factory=list)
    port: int = field(default_factory=lambda: free_ports(1)[0])
    """Kept over all lives: nobody else may get it while the server is dead."""
    _face: Face | None = None
    _between: Interposer | None = None
    _server: HookServer | None = None

    def start(self, **settings: str) -> None:
        """Start it, if it isn't running."""
        if self._server is not None:
            return
        if self._face is not None:
            self.cluster.run(lambda: False, timedelta(seconds=STARTING))
        self._face = self._door()
        # One for each life: what a dead server still sends must not reach the next one's door.
        self._between = Interposer(self._face.url, rules=self.rules)
        self._between.__enter__()
        self._server = HookServer(
            self._face,
            self.cluster.clock.now,
            token=TOKEN,
            port=self.port,
            url=self._between.url,
            settings=settings,
        )
        self._server.__enter__()

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        server, between, self._server = self._server, self._between, None
        if server is not None and between is not None:
            server.kill()
            between.__exit__(None, None, None)

    def move(self, seconds: float) -> None:
        """Take the API server away, and bring it back at another door."""
        if self._face is None or self._between is None:
            return
        self._face.stop()
        self.cluster.run(lambda: False, timedelta(seconds=seconds))
        self._face = self._door()
        self._between.retarget(self._face.url)

    def _door(self) -> Face:
        face = Face(self.cluster.store)
        face.start()
        return face
