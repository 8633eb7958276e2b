"""The real control plane as a stage for scenarios.

Owns what a scenario may do on it: :class:`RealStage`, one for each scenario, and the hook server
behind an interposer, which those share that leave it alone. Leaves the plane to :mod:`.control_plane`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from hooks.verdict.history import Change
from tests.e2e.api import Api
from tests.e2e.control_plane import ControlPlane
from tests.e2e.front import EVERYBODY
from tests.e2e.history import Recorder, is_of
from tests.e2e.installation import Installation
from tests.e2e.processes import Child, free_ports
from tests.scenarios.interposer import Interposer, Rule
from tests.scenarios.manifests import WORKLOADS
from tests.scenarios.stage import LONGEST, Ran
from tests.support.waiting import wait_until

IDLE = 45.0
IDLE_FOR_LONG = 600.0
"""Seconds for which a steady state is watched, in ``make e2e`` and in ``make e2e-long``."""


def is_long_run() -> bool:
    """Whether what takes minutes is wanted as well."""
    return os.environ.get("NODEROTATION_LONG") == "1"


class HookServer:
    """A hook server of the plane: all scenarios' that leave it alone, or the one of a scenario.

    ``pools`` is what the names of its pools begin with; once ``ending`` is set nobody waits any more.
    """

    def __init__(
        self,
        plane: ControlPlane,
        installation: Installation,
        pools: str = EVERYBODY,
        ending: threading.Event | None = None,
    ) -> None:
        """Nothing runs before ``with``."""
        self.between = Interposer(plane.url, plane.ca)
        self.logs: list[Path] = []
        self.ending = ending or threading.Event()
        (self._port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{self._port}"
        self._installation = installation
        self._pools = pools
        self._held = ExitStack()
        self._running: Child | None = None
        # A program dies with the thread that started it: this one lives until the end.
        self._starter = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        """Start it, and let the calls through to it."""
        with ExitStack() as held:
            held.enter_context(self.between)
            held.callback(self._starter.shutdown)
            held.callback(self._stop)
            self.start()
            held.enter_context(self._installation.front.to(self.url, self._pools))
            self._held = held.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        self._held.close()

    def kill(self) -> None:
        """End it as SIGKILL does, if it runs."""
        if self._running is not None:
            self._running.kill()
            self._running = None

    def start(self, settings: Mapping[str, str] = MappingProxyType({})) -> None:
        """Start it, if it doesn't run."""
        if self._running is None:
            starting = self._starter.submit(
                self._installation.start_hooks,
                self._port,
                server=self.between.url,
                settings=settings,
            )
            self._running = starting.result()
            self.logs.append(self._running.log)

    def _stop(self) -> None:
        if self._running is not None:
            self._running.stop()


@dataclass(frozen=True, slots=True)
class RealHooks:
    """The hook server as the one scenario that has it for itself may treat it."""

    server: HookServer

    def kill(self) -> None:
        """End it as SIGKILL does."""
        self.server.kill()

    def start(self, **settings: str) -> None:
        """Start it again."""
        self.server.start(settings)


@dataclass(slots=True)
class RealStage:
    """One scenario's place on the real control plane."""

    name: str
    plane: ControlPlane
    history: Recorder
    server: HookServer
    crowded: bool
    hooks: RealHooks = field(init=False)
    idle: float = IDLE_FOR_LONG if is_long_run() else IDLE
    _since: int = 0

    def __post_init__(self) -> None:
        """Begin its history here."""
        self.hooks = RealHooks(self.server)
        self._since = len(self.history.changes)

    @property
    def api(self) -> Api:
        """The API server."""
        return self.plane.api

    @property
    def changes(self) -> Sequence[Change]:
        """What has happened to this scenario's pools since it began."""
        return [one for one in self.history.changes[self._since :] if is_of(self.name, one)]

    def now(self) -> datetime:
        """The clock on the wall."""
        return datetime.now(UTC)

    def wait_until(self, what: str, holds: Callable[[], bool], seconds: float = LONGEST) -> None:
        """Ask until it holds."""

        def goes_on() -> bool:
            self._refuse_the_end()
            return holds()

        # Seldom: many scenarios share the processors.
        wait_until(what, goes_on, seconds, every=0.5)

    def wait_for(
        self, what: str, holds: Callable[[Change], bool], seconds: float = LONGEST, after: int = 0
    ) -> Change:
        """Wait for the history."""

        def is_it(change: Change) -> bool:
            self._refuse_the_end()
            return change.revision > after and holds(change)

        return self.history.wait_for(what, is_it, seconds, self._since)

    def pause(self, seconds: float) -> None:
        """Let time go by."""
        time.sleep(seconds)

    def intercept(self, *rules: Rule) -> AbstractContextManager[None]:
        """Let rules hold between the hook server and the API server."""
        return self.server.between.rules(*rules)

    def restart_api_server(self) -> None:
        """Stop it, start it again, and let the history go on where it was."""
        self.history.expect_a_gap()
        # One that has only just started refuses everybody for a moment, and isn't ready yet: in a
        # cluster nobody is sent to it.
        with self.server.between.away():
            self.plane.restart_api_server()

    def command(self, *arguments: str) -> Ran:
        """Run the installed command as administrator."""
        program = Path(sys.executable).with_name("noderotation")
        done = subprocess.run(
            [str(program), *arguments, f"--kubeconfig={self.plane.kubeconfig}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout)

    def _refuse_the_end(self) -> None:
        if self.server.ending.is_set():
            message = "the run ends before the scenario does"
            raise RuntimeError(message)

    def clear(self) -> None:
        """Remove what the scenario brought; nothing waits for Karpenter."""
        self.hooks.start()
        for kind in (*WORKLOADS, "PodDisruptionBudget", "RotationPolicy", "NodePool"):
            for one in self.api.find(kind):
                metadata = one["metadata"]
                if metadata["name"].startswith(self.name):
                    self.api.delete(kind, metadata["name"], metadata.get("namespace", ""))
