"""Child processes that never outlive the tests.

Owns starting one program with its own log and process group, and ending it: asked first, killed as
the last resort. Leaves to :mod:`.control_plane` in which order that happens.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import requests

TERMINATION = 20.0
"""Seconds a program gets to end by itself."""
_PORTS = iter(random.sample(range(10_000, 30_000), 20_000))
"""Those that nobody was given yet, in no order: another run may draw from the same ones."""


class ProcessError(RuntimeError):
    """A program ended, or didn't become healthy in time; the message ends with its log's tail."""


def free_ports(count: int) -> list[int]:
    """``count`` loopback ports that nothing listens on at the moment; no port is given twice.

    None that the kernel gives to outgoing connections: one of them could take the port while its server
    isn't there, before its start or during a restart, and even be its own peer.
    """
    return list(islice(filter(_is_free, _PORTS), count))


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        # As servers do: what is left of old connections hinders nobody.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


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
        self._is_over = False
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
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(TERMINATION)
        # Its children (a server's workers) may have outlived it.
        self.kill()

    def kill(self) -> None:
        """End it as a crash would, without a chance to finish anything."""
        if self._is_over:
            # Its number may be somebody else's by now.
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._is_over = True

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
