"""The embedded cluster as a stage for scenarios.

Owns what a scenario may do on it: each has a cluster of its own, whose clock moves only while the
scenario waits. The hook server is the true application, the calls between all parts are HTTP.
Leaves the cluster itself to :mod:`hooks.sandbox`.
"""

from __future__ import annotations

import base64
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml
from click.testing import CliRunner

from hooks.cli.main import group
from hooks.planning.recording import changes_of
from hooks.sandbox.controller import Pace
from hooks.sandbox.embedded import EmbeddedCluster
from hooks.sandbox.face import Face
from hooks.verdict.history import Change
from tests.scenarios.embedded_api import StoreApi
from tests.scenarios.embedded_hooks import STARTING, TOKEN, EmbeddedHooks
from tests.scenarios.embedded_machines import PACE, instance_types
from tests.scenarios.interposer import Action, Rule, Sent
from tests.scenarios.stage import LONGEST, Object, Ran

MANIFESTS = Path(__file__).parents[2] / "manifests"
CONTROLLERS = (
    ("metacontroller/node-rotation.yaml", "DecoratorController"),
    ("metacontroller/rotation-policy.yaml", "CompositeController"),
)
"""Each controller's manifest and kind."""
START = datetime(2026, 11, 30, 2, tzinfo=UTC)
IDLE = 600.0
"""Seconds for which a steady state is watched."""
AWAY = 3.0
"""Seconds for which the API server is away when it is started again."""


def manifest(path: str, kind: str) -> Object:
    """One object of the shipped manifests."""
    objects = yaml.safe_load_all((MANIFESTS / path).read_text())
    found: Object = next(one for one in objects if one["kind"] == kind)
    return found


class EmbeddedStage:
    """One scenario's cluster, with our software installed on it and its hook server running."""

    def __init__(self, name: str, *, pace: Pace = PACE, seed: int = 0) -> None:
        """Nothing runs before ``with``."""
        self.name = name
        self.idle = IDLE
        self.cluster = EmbeddedCluster(
            START,
            seed=zlib.crc32(name.encode()) + seed,
            pace=pace,
            catalogue=instance_types(),
        )
        self.api = StoreApi(self.cluster.store)
        self.hooks = EmbeddedHooks(self.cluster)
        self._door = Face(self.cluster.store)
        self._history: list[Change] = []
        self._hand = threading.Lock()

    def __enter__(self) -> Self:
        """Install the software."""
        self._door.start()
        self._install_before_hooks()
        self.hooks.start()
        self._install_controllers()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the servers."""
        self.hooks.kill()
        self._door.stop()
        self.cluster.close()

    @property
    def crowded(self) -> bool:
        """Nobody else is here."""
        return False

    @property
    def changes(self) -> Sequence[Change]:
        """Everything that has happened."""
        latest = self._history[-1].revision if self._history else 0
        self._history += changes_of(self.cluster.store, START, after=latest)
        return self._history

    def now(self) -> datetime:
        """The cluster's clock."""
        return self.cluster.clock.now()

    def wait_until(self, what: str, holds: Callable[[], bool], seconds: float = LONGEST) -> None:
        """Go on, step by step, until it holds."""
        if not self._go_on(holds, seconds):
            message = f"not within {seconds:.0f} s: {what}"
            raise TimeoutError(message)

    def wait_for(
        self, what: str, holds: Callable[[Change], bool], seconds: float = LONGEST, after: int = 0
    ) -> Change:
        """Go on until the history has it."""
        found: list[Change] = []
        looked_at = 0

        def is_there() -> bool:
            nonlocal looked_at
            changes = self.changes
            fresh = changes[looked_at:]
            looked_at = len(changes)
            found.extend(one for one in fresh if one.revision > after and holds(one))
            return bool(found)

        self.wait_until(what, is_there, seconds)
        return found[0]

    def pause(self, seconds: float) -> None:
        """Let time go by."""
        self._go_on(lambda: False, seconds)

    @contextmanager
    def intercept(self, *rules: Rule) -> Iterator[None]:
        """Let rules hold between the hook server and the API server."""
        ours = self.hooks.rules
        for one in rules:
            one.before, one.after = self._by_hand(one.before), self._by_hand(one.after)
        ours += rules
        try:
            yield
        finally:
            # In place, and by identity: two rules may say the same.
            ours[:] = [one for one in ours if all(one is not gone for gone in rules)]

    def _go_on(self, until: Callable[[], bool], seconds: float) -> bool:
        """Go on from moment to moment.

        A scenario sees the cluster when all is done that was to be done at a moment: on a real one,
        too, nobody who waits is so fast that they could do something in between.
        """
        end = self.now() + timedelta(seconds=seconds)
        while True:
            while self.cluster.step():
                pass
            # A rule may have killed who was called: what it does takes no time of the cluster's.
            with self._hand:
                if until():
                    return True
            if self.now() >= end:
                return False
            self.cluster.jump(end)

    def _by_hand(self, action: Action | None) -> Action | None:
        if action is None:
            return None

        def act(sent: Sent) -> None:
            with self._hand:
                action(sent)

        return act

    def restart_api_server(self) -> None:
        """Let the hook server find nobody for some seconds."""
        self.hooks.move(AWAY)

    def command(self, *arguments: str) -> Ran:
        """Run the command in this process."""
        self.pause(STARTING)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kubeconfig"
            file.write_text(_kubeconfig(self._door.url))
            done = CliRunner().invoke(group, [*arguments, f"--kubeconfig={file}"])
        return Ran(done.exit_code, done.output)

    def _install_before_hooks(self) -> None:
        data = {"token": base64.b64encode(TOKEN.encode()).decode()}
        namespace = manifest("hooks/namespace.yaml", "Namespace")
        secret = {"name": "noderotation-hook-token", "namespace": namespace["metadata"]["name"]}
        self.api.apply_objects(
            namespace,
            manifest("hooks/priorityclass.yaml", "PriorityClass"),
            {"apiVersion": "v1", "kind": "Secret", "metadata": secret, "data": data},
        )

    @property
    def hooks_url(self) -> str:
        """Where the hook server is."""
        return f"http://127.0.0.1:{self.hooks.port}"

    def front(self) -> str:
        """Where the conductor is told that the hook server is; a hand may be in between."""
        return self.hooks_url

    def _install_controllers(self) -> None:
        hooks = self.front()
        for path, kind in CONTROLLERS:
            controller = manifest(path, kind)
            for hook in controller["spec"]["hooks"].values():
                hook["webhook"]["url"] = hooks + hook["webhook"]["url"].partition(":8080")[2]
            self.api.apply_objects(controller)


def _kubeconfig(url: str) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "embedded", "cluster": {"server": url}}],
            "contexts": [{"name": "embedded", "context": {"cluster": "embedded", "user": ""}}],
            "current-context": "embedded",
        }
    )
