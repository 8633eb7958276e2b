"""The hook server of a demo or a trial, and that of its webhook: the true applications, in this process.

Owns their own doors to the embedded cluster, their clock, and their sudden death. The applications
are those that :mod:`hooks.wiring` makes for production; only the server around each is a small one
(:mod:`.loopback`). Source: design/product.md, *Two commands*.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from typing_extensions import override

from hooks import names
from hooks.app import WsgiApp
from hooks.cluster.connection import Connection, connect
from hooks.cluster.credentials import open_access
from hooks.cluster.errors import OutOfTime
from hooks.planning.loopback import Loopback
from hooks.sandbox.face import Face
from hooks.settings import Only, Settings, read_settings
from hooks.wiring import build, build_eviction, prepare


class _InProcess(ABC):
    """One of our servers, from ``with`` on.

    ``url`` may be another address of the cluster than ``face``'s own (a proxy in between).
    """

    def __init__(
        self,
        face: Face,
        clock: Callable[[], datetime],
        *,
        port: int = 0,
        url: str = "",
        settings: dict[str, str] | None = None,
    ) -> None:
        """Take over a face of the cluster, which no other server shares; nothing runs yet."""
        self._face = face
        self._folder = tempfile.TemporaryDirectory(prefix="noderotation-")
        self._killed = False
        self._connection = connect(open_access(url or face.url), clock=self._pulse)
        self._clock = clock
        self._settings = self._read(Path(self._folder.name), settings or {})
        self._server = self._serving(self._settings, self._connection, port)
        self.running = False

    @property
    def port(self) -> int:
        """The port on loopback."""
        return self._server.port

    @property
    def url(self) -> str:
        """Where it is."""
        return self._server.url

    def __enter__(self) -> Self:
        """Begin to serve."""
        self.running = True
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, unless it was killed before."""
        if self.running:
            self.kill()

    def kill(self) -> None:
        """End as a crash would: no further call reaches the cluster, no answer the caller.

        May be called from a thread that carries out a call of this very server.
        """
        self.running = False
        self._killed = True
        self._face.stop()
        self._server.die()
        self._connection.close()
        self._folder.cleanup()

    def _pulse(self) -> float:
        # Asked before each call: threads that outlive the server send nothing more, not even the
        # repeat of a read whose connection was cut.
        if self._killed:
            raise OutOfTime("this server was killed, nothing more is sent")
        return time.monotonic()

    @abstractmethod
    def _read(self, folder: Path, given: dict[str, str]) -> Settings:
        """Make the settings; files that they name go into ``folder``."""

    @abstractmethod
    def _serving(self, settings: Settings, connection: Connection, port: int) -> Loopback:
        """Put the application behind a socket."""


class HookServer(_InProcess):
    """Serves the hooks; ``token`` is what Metacontroller has to send."""

    def __init__(
        self,
        face: Face,
        clock: Callable[[], datetime],
        *,
        token: str = "",
        port: int = 0,
        url: str = "",
        settings: dict[str, str] | None = None,
    ) -> None:
        """Begin with a token of its own, unless it is given one."""
        self.token = token or secrets.token_urlsafe(24)
        super().__init__(face, clock, port=port, url=url, settings=settings)

    @override
    def __enter__(self) -> Self:
        """Check the cluster and sweep it, as ``noderotation serve`` does, and begin to serve.

        Raises RuntimeError for a cluster that can't be worked with.
        """
        missing = prepare(self._settings, self._connection, self._clock())
        if missing is not None:
            raise RuntimeError(missing)
        return super().__enter__()

    @override
    def _read(self, folder: Path, given: dict[str, str]) -> Settings:
        file = folder / "token"
        file.write_text(self.token, encoding="ascii")
        return read_settings(
            {
                "NODEROTATION_TOKEN_FILE": str(file),
                "NODEROTATION_NAMESPACE": names.NAMESPACE,
                **given,
            }
        )

    @override
    def _serving(self, settings: Settings, connection: Connection, port: int) -> Loopback:
        app: WsgiApp = build(settings, connection, self._clock)
        return Loopback(app, port=port)


class EvictionServer(_InProcess):
    """Serves the webhook of evictions.

    There is no TLS: on loopback, in one process, it would prove nothing. The application is told that
    there was some.
    """

    @override
    def _read(self, folder: Path, given: dict[str, str]) -> Settings:
        unused = {
            f"NODEROTATION_TLS_{which}_FILE": str(folder / which) for which in ("CERT", "KEY")
        }
        return read_settings(unused | given, Only.EVICTION)

    @override
    def _serving(self, settings: Settings, connection: Connection, port: int) -> Loopback:
        app: WsgiApp = build_eviction(settings, connection, self._clock)
        return Loopback(app, port=port, https=True)
