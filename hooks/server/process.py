"""The process of the server: gunicorn's master and its one worker.

Owns gunicorn's settings. One worker, because what the hooks remember lives in it; it is never
restarted for being slow. Leaves what is served to :mod:`hooks.cli.serve`. Source: design/product.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from gunicorn.app.base import BaseApplication
from typing_extensions import override

from hooks.server.logs import ServerLogger, configure_libraries
from hooks.server.worker import WholeRequestWorker
from hooks.settings import Settings, TokenFile

KEPT: Final = 120
"""Seconds that an idle connection is kept: longer than Go's 90, so that the caller closes first."""
CONNECTIONS: Final = 512
"""Open connections in all, below the customary limit of 1024 files."""

WsgiApp: TypeAlias = Callable[..., Iterable[bytes]]


def options(settings: Settings) -> dict[str, object]:
    """All of gunicorn's settings that aren't its defaults."""

    class Worker(WholeRequestWorker):
        body_limit = settings.body_limit
        token = TokenFile(settings.token_file)

    return {
        "bind": [settings.bind],
        "workers": 1,
        "threads": settings.threads,
        "worker_class": Worker,
        "worker_connections": CONNECTIONS + settings.threads,
        "keepalive": KEPT,
        # The worker's heart beats beside its threads; a slow pass must not look like a dead worker.
        "timeout": 0,
        "graceful_timeout": math.ceil(settings.hook_timeout.total_seconds()) + 5,
        "loglevel": settings.log_level,
        "logger_class": ServerLogger,
        # It would be a file in the home folder, and nobody uses it here.
        "control_socket_disable": True,
        "proc_name": "noderotation",
    }


class _Server(BaseApplication):
    def __init__(self, settings: Settings, load: Callable[[], WsgiApp]) -> None:
        self._settings = settings
        self._load = load
        super().__init__()

    @override
    def load_config(self) -> None:
        for name, value in options(self._settings).items():
            self.cfg.set(name, value)

    @override
    def load(self) -> WsgiApp:
        return self._load()


def run(settings: Settings, load: Callable[[], WsgiApp]) -> None:
    """Serve until a signal ends it; leaves by SystemExit.

    ``load`` makes the application inside the worker, after the fork: no connection is shared with
    the master. On SIGTERM, requests that have arrived are answered first.
    """
    configure_libraries()
    _Server(settings, load).run()
