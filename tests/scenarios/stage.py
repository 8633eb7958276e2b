"""What a scenario may do and see, whatever cluster it plays on.

Owns the shape of a stage: reads and writes as an administrator, time, the history, the hook server,
and a hand between the hook server and the API server. The real control plane's stage is in
``tests/e2e/stage.py``, the embedded cluster's in ``embedded_stage.py``. Source: issue 4, Build 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from hooks.verdict.history import Change
from tests.scenarios.interposer import Rule, Sent

Object: TypeAlias = dict[str, Any]
LONGEST = 300.0
"""Seconds for one wait: far more than anything takes, also where the pace is slow."""


class Api(Protocol):
    """The API server as its administrator sees it."""

    def find(self, kind: str, **selectors: str) -> list[Object]:
        """All objects of a kind; ``labelSelector`` and ``fieldSelector`` as usual."""
        ...

    def find_one(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """One object; None when it isn't there."""
        ...

    def get(self, kind: str, name: str, namespace: str = "") -> Object:
        """One object that must be there."""
        ...

    def patch(
        self, kind: str, name: str, change: Object, namespace: str = "", subresource: str = ""
    ) -> Object:
        """Merge ``change`` into one object."""
        ...

    def delete(
        self, kind: str, name: str, namespace: str = "", *, foreground: bool = False
    ) -> None:
        """Delete one object, which may be gone already; ``foreground``: what it owns goes first."""
        ...

    def apply_objects(self, *objects: Object) -> None:
        """Create each object, or merge it into the one that is there."""
        ...


class Hooks(Protocol):
    """The hook server of a stage."""

    def kill(self) -> None:
        """End it as SIGKILL does, also in the middle of a request; it stays down until ``start``."""
        ...

    def start(self, **settings: str) -> None:
        """Start it again, with these environment variables besides, and wait until it serves."""
        ...


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command of the command line said, and its exit status."""

    status: int
    output: str


class Stage(Protocol):
    """One scenario's place on a cluster."""

    @property
    def name(self) -> str:
        """The scenario's name: of its pool, or what the names of its pools begin with."""
        ...

    @property
    def api(self) -> Api:
        """The API server."""
        ...

    @property
    def hooks(self) -> Hooks:
        """The hook server; only a scenario that is entered with its ``own_server`` may touch it."""
        ...

    @property
    def changes(self) -> Sequence[Change]:
        """The history, at least of everything that belongs to this scenario's pools."""
        ...

    @property
    def idle(self) -> float:
        """For how many seconds a steady state is watched here."""
        ...

    @property
    def crowded(self) -> bool:
        """Whether others slow this cluster down: Karpenter may then see a delete before our next step.

        It makes a node too many when the placeholder seems to be there beside the Pods of a node that
        is being deleted.
        """
        ...

    def now(self) -> datetime:
        """The present moment of this cluster."""
        ...

    def wait_until(self, what: str, holds: Callable[[], bool], seconds: float = LONGEST) -> None:
        """Go on until ``holds()``; raises :class:`TimeoutError` with ``what``."""
        ...

    def wait_for(
        self, what: str, holds: Callable[[Change], bool], seconds: float = LONGEST, after: int = 0
    ) -> Change:
        """The first change, also a past one, beyond revision ``after`` for which it holds."""
        ...

    def pause(self, seconds: float) -> None:
        """Let time go by."""
        ...

    def intercept(self, *rules: Rule) -> AbstractContextManager[None]:
        """Until the end of ``with`` the rules hold between the hook server and the API server."""
        ...

    def restart_api_server(self) -> None:
        """Stop the API server and start it again, with all that it stored."""
        ...

    def command(self, *arguments: str) -> Ran:
        """Run ``noderotation`` with these arguments against this cluster, as its administrator."""
        ...


class ListeningStage(Stage, Protocol):
    """A stage that also hears what the hook server says, and what it is asked."""

    def metrics(self) -> Mapping[str, float]:
        """What ``/metrics`` shows now: sample as it stands there, with its labels, to value."""
        ...

    def log_lines(self) -> Sequence[Object]:
        """All lines that the hook server has written since this stage began, over all its lives."""
        ...

    def syncs(self) -> Sequence[Sent]:
        """All calls of its sync hooks so far."""
        ...

    def send(self, call: Sent) -> int:
        """Make such a call once more, as Metacontroller would; returns the HTTP status."""
        ...
