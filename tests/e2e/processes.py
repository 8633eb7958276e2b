"""Child processes that never outlive the tests.

Owns starting one program with its own log and process group, and ending it: asked first, killed as
the last resort. Leaves to :mod:`.control_plane` in which order that happens.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import requests

TERMINATION = 20.0
"""Seconds a program gets to end by itself."""


class ProcessError(RuntimeError):
    """A program ended, or didn't become healthy in time; the message ends with its log's tail."""


def free_ports(count: int) -> list[int]:
    """``count`` different loopback ports that nothing listens on at the moment."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Child:
    """A started program. ``environment`` is all that it sees beside PATH and HOME."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        logs: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it at once; its output goes to ``<logs>/<name>.log``."""
        self.name = name
        self.log = logs / f"{name}.log"
        inherited = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [*_dies_with_us(), *command],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                # Not the checkout: a server that puts its working directory on sys.path would
                # otherwise find the sources instead of the installed (or mutated) package.
                cwd=logs,
                env={**inherited, **(environment or {})},
                # A terminal's Ctrl-C reaches only pytest, which then stops all of them in order.
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        """Whether it hasn't ended."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id, which is its process group's as well."""
        return self._process.pid

    def await_healthy(self, healthy: Callable[[], bool], seconds: float = 90.0) -> None:
        """Wait until ``healthy()``; raises :class:`ProcessError` when it ends or takes too long."""
        end = time.monotonic() + seconds
        while not healthy():
            self.require_running()
            if time.monotonic() > end:
                raise ProcessError(self._report(f"is not healthy after {seconds:.0f} s"))
            time.sleep(0.1)

    def require_running(self) -> None:
        """Raise :class:`ProcessError` when it has ended by itself."""
        if not self.running:
            raise ProcessError(self._report(f"ended with status {self._process.returncode}"))

    def stop(self) -> None:
        """End it and everything it started, and wait until that is so."""
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(TERMINATION)
            except subprocess.TimeoutExpired:
                self._signal_group(signal.SIGKILL)
                self._process.wait()
        # Its children (a server's workers) may have outlived it.
        self._signal_group(signal.SIGKILL)

    def kill(self) -> None:
        """End it as a crash would, without a chance to finish anything."""
        self._signal_group(signal.SIGKILL)
        self._process.wait()

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    def _report(self, what: str) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-20:]
        return "\n".join([f"{self.name} {what}; the end of {self.log}:", *lines])


def answers(url: str, certificate: Path | None = None) -> Callable[[], bool]:
    """A health check: whether a GET of ``url`` succeeds.

    ``certificate`` is the file that an https server writes its own certificate to when it starts;
    until it is there the answer is no.
    """

    def check() -> bool:
        if certificate and not certificate.exists():
            return False
        try:
            with requests.Session() as session:
                session.trust_env = False
                return session.get(
                    url, verify=str(certificate) if certificate else True, timeout=5
                ).ok
        except requests.RequestException:
            return False

    return check


def _dies_with_us() -> list[str]:
    """A prefix by which the kernel ends the program even when pytest itself is killed (Linux only)."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
