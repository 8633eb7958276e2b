"""The process of the server: gunicorn's master and its one worker.

Owns gunicorn's settings. One worker, because what the hooks remember lives in it; it is never
restarted for being slow. Leaves what is served to :mod:`hooks.wiring`. Source: design/product.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from gunicorn.app.base import BaseApplication
from typing_extensions import override

from hooks.app import WsgiApp
from hooks.server.certificates import Certificates, certificate_files
from hooks.server.handshakes import MOST_HANDSHAKES
from hooks.server.logs import ServerLogger, configure_libraries
from hooks.server.room import FIRST, OTHERS
from hooks.server.worker import WholeRequestWorker
from hooks.settings import Settings, TokenFile

KEPT: Final = 120
"""Seconds that an idle connection is kept: longer than Go's 90, so that the caller closes first."""
CONNECTIONS: Final = FIRST + OTHERS + MOST_HANDSHAKES
"""Open connections whose requests don't wait for a thread, below the customary 1024 files."""
HELD: Final = (16 * 1024**2, 256 * 1024**2)
"""Bytes of unfinished bodies that are kept in all, at least and at most; else 4 largest bodies."""


def options(settings: Settings, shown: Certificates | None = None) -> dict[str, object]:
    """All of gunicorn's settings that aren't its defaults.

    ``shown`` are those of the settings, None if nobody has read them yet. Raises CertificateError if
    there are certificates, and they can't be served with.
    """
    files = certificate_files(settings)
    if shown is None and files is not None:
        shown = Certificates(files)

    class Worker(WholeRequestWorker):
        body_limit = settings.body_limit
        held = min(max(HELD[0], 4 * settings.body_limit), HELD[1])
        token = TokenFile(settings.token_file)
        certificates = shown

    return {
        "bind": list(settings.bind),
        "workers": 1,
        "threads": settings.threads,
        "worker_class": Worker,
        "worker_connections": CONNECTIONS + settings.threads,
        "keepalive": KEPT,
        # The worker's heart beats beside its threads; a slow pass must not look like a dead worker.
        "timeout": 0,
        "graceful_timeout": math.ceil(settings.hook_timeout.total_seconds()) + 5,
        # Nothing stands before the server: nobody's word counts on how a request came.
        "forwarded_allow_ips": "",
        "loglevel": settings.log_level,
        "logger_class": ServerLogger,
        # It would be a file in the home folder, and nobody uses it here.
        "control_socket_disable": True,
        "proc_name": "noderotation",
    }


class _Server(BaseApplication):
    def __init__(
        self, settings: Settings, load: Callable[[], WsgiApp], certificates: Certificates | None
    ) -> None:
        self._settings = settings
        self._load = load
        self._certificates = certificates
        super().__init__()

    @override
    def load_config(self) -> None:
        for name, value in options(self._settings, self._certificates).items():
            self.cfg.set(name, value)

    @override
    def load(self) -> WsgiApp:
        return self._load()


def run(
    settings: Settings, load: Callable[[], WsgiApp], certificates: Certificates | None = None
) -> None:
    """Serve until a signal ends it; leaves by SystemExit.

    ``load`` makes the application inside the worker, after the fork: no connection is shared with
    the master. ``certificates`` are those of the settings, read here if nobody has read them yet. On
    SIGTERM, requests that have arrived are answered first.
    """
    configure_libraries()
    _Server(settings, load, certificates).run()
