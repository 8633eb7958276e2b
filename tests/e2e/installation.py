"""Our software on the control plane, as a user installs it.

Owns the install order (Metacontroller's kinds, namespace and token Secret, the manifests, a
policy), the hook server with the shipped ServiceAccount's rights and nothing else, and what drives
it: a real Metacontroller when there is one, else the sandbox's conductor. Source: issue 3, "Harness".
"""

from __future__ import annotations

import itertools
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

import yaml

from tests.e2e.api import Object
from tests.e2e.control_plane import ControlPlane
from tests.e2e.credentials import CONTROLLER
from tests.e2e.front import EVERYBODY, Front
from tests.e2e.processes import Child, answers, free_ports
from tests.e2e.programs import metacontroller
from tests.scenarios.policies import policy

HERE = Path(__file__).parent
NAMESPACE: Final = "node-rotation-system"
SERVICE_ACCOUNT: Final = "noderotation-hooks"
CREDENTIAL: Final = "noderotation-hook-token"
PORT_IN_THE_OVERLAY: Final = "18080"
"""Stands in ``overlay/`` for the port that the hook server really gets."""


class Installation:
    """What is installed on ``plane``; ``install()`` first. The controllers call ``port``."""

    def __init__(self, plane: ControlPlane) -> None:
        """Nothing is installed yet."""
        self._plane = plane
        (self.port,) = free_ports(1)
        self.front = Front(self.port)
        self.token = secrets.token_urlsafe(24)
        self._starts = itertools.count(1)
        self._added: list[Object] = []

    def install(self) -> None:
        """What the README tells a user to do."""
        api = self._plane.api
        api.apply(HERE / "crds")
        # The Secret must be there before the controllers that refer to it, so its namespace too.
        api.kubectl("create", "namespace", NAMESPACE)
        secret = f"--from-literal=token={self.token}"
        api.kubectl("create", "secret", "generic", f"--namespace={NAMESPACE}", CREDENTIAL, secret)
        api.apply_objects(*self.manifests())

    def add(self, *more: Object) -> None:
        """Install more, an overlay's objects; from now on it is a part of the manifests."""
        self._plane.api.apply_objects(*more)
        self._added += more

    def manifests(self) -> list[Object]:
        """The shipped manifests, pointed to the hook server of these tests, and what was added."""
        rendered = self._plane.api.kubectl("kustomize", str(HERE / "overlay"))
        if rendered.count(f":{PORT_IN_THE_OVERLAY}/") == 0:
            message = f"the overlay names port {PORT_IN_THE_OVERLAY} nowhere"
            raise RuntimeError(message)
        text = rendered.replace(f":{PORT_IN_THE_OVERLAY}/", f":{self.port}/")
        objects: list[Object] = list(yaml.safe_load_all(text))
        for one in objects:
            if one["kind"] == "Deployment":
                # The server runs here instead. Its Pods would only land on the pools' own nodes.
                one["spec"]["replicas"] = 0
        return objects + self._added

    def govern(self, pool: str) -> None:
        """Let the pool be rotated at any time, one node right after the other."""
        self._plane.api.apply_objects(policy(pool))

    @contextmanager
    def hooks(
        self,
        *,
        server: str | None = None,
        package: Path | None = None,
        pools: str = EVERYBODY,
    ) -> Iterator[Child]:
        """Run a hook server until the end of ``with``.

        ``server`` is what it takes for the API server (an :class:`.interposer.Interposer`'s
        address); ``package`` a folder with another ``hooks`` package that is to be run instead;
        ``pools`` what the names of its parents begin with.
        """
        (port,) = free_ports(1)
        child = self.start_hooks(port, server=server, package=package)
        try:
            with self.front.to(f"http://127.0.0.1:{port}", pools):
                yield child
        finally:
            child.stop()

    def start_hooks(
        self,
        port: int,
        *,
        server: str | None = None,
        package: Path | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> Child:
        """Start a hook server, and return it once it serves.

        Who asked for it has to stop it, and to let calls through to it (:attr:`front`).
        """
        name = f"hooks-{next(self._starts)}"
        bind = f"127.0.0.1:{port}"
        own = {"NODEROTATION_BIND": bind, **settings}
        environment = {**self._environment(name, server, package), **own}
        child = Child(name, command(), self._plane.logs, environment)
        try:
            child.await_healthy(answers(f"http://{bind}/readyz"))
        except BaseException:
            child.stop()
            raise
        return child

    @contextmanager
    def controller(self) -> Iterator[Child]:
        """Run what calls the hooks until the end of ``with``."""
        real = metacontroller()
        with self.front:
            child = self._metacontroller(real) if real else self._conductor()
            try:
                yield child
                child.require_running()
            finally:
                child.stop()

    def _metacontroller(self, program: Path) -> Child:
        metrics, probes = free_ports(2)
        arguments = (
            str(program),
            f"--kubeconfig={self._plane.credentials.kubeconfig(CONTROLLER)}",
            "--client-go-qps=100",
            "--client-go-burst=200",
            "--discovery-interval=5s",
            f"--metrics-address=127.0.0.1:{metrics}",
            f"--health-probe-bind-address=127.0.0.1:{probes}",
        )
        child = Child("metacontroller", arguments, self._plane.logs)
        try:
            child.await_healthy(answers(f"http://127.0.0.1:{probes}/readyz"))
        except BaseException:
            child.stop()
            raise
        return child

    def _conductor(self) -> Child:
        arguments = (
            sys.executable,
            "-m",
            "hooks.sandbox.conductor",
            f"--server={self._plane.url}",
            f"--token-file={self._plane.credentials.token_file(CONTROLLER)}",
            f"--ca-file={self._plane.ca}",
            "--controller=node-rotation",
            "--controller=rotation-policy",
            "--controller=graceful-drain",
        )
        return Child("conductor", arguments, self._plane.logs, python_path())

    def _environment(
        self, name: str, server: str | None, package: Path | None
    ) -> Mapping[str, str]:
        logs = self._plane.logs
        token_file = logs / "hook.token"
        token_file.write_text(self.token)
        account = self._plane.api.kubectl(
            "create", "token", SERVICE_ACCOUNT, f"--namespace={NAMESPACE}", "--duration=2h"
        )
        kubeconfig = self._plane.credentials.kubeconfig_of(name, account.strip(), server)
        return {
            "KUBECONFIG": str(kubeconfig),
            "NODEROTATION_TOKEN_FILE": str(token_file),
            "NODEROTATION_NAMESPACE": NAMESPACE,
            **python_path(package),
        }


def command() -> tuple[str, ...]:
    """The installed command of the interpreter that runs the tests, which serves."""
    return str(Path(sys.executable).with_name("noderotation")), "serve"


def python_path(first: Path | None = None) -> dict[str, str]:
    """The variable by which a program finds a package in a folder, before the tests' own ones."""
    parts = [str(first)] if first else []
    if "PYTHONPATH" in os.environ:
        parts.append(os.environ["PYTHONPATH"])
    return {"PYTHONPATH": os.pathsep.join(parts)} if parts else {}
