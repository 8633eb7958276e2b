"""The embedded cluster as a stage that hears what the hook server says.

Owns the hand between the conductor and the hook server, and catching the log, which is one for the
whole process here. Leaves the cluster to :mod:`tests.scenarios.embedded_stage`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import structlog
from typing_extensions import override

from hooks.telemetry.log import configure
from tests.scenarios.embedded_hooks import TOKEN
from tests.scenarios.embedded_stage import EmbeddedStage
from tests.scenarios.interposer import Interposer, Rule, Sent
from tests.scenarios.signals.hearing import SYNC, lines_in, post, scraped
from tests.scenarios.stage import Object


class EmbeddedListeningStage(EmbeddedStage):
    """One story's cluster. ``again`` is done with each call of a sync hook, beside forwarding it."""

    def __init__(self, name: str, again: Rule | None = None) -> None:
        """Nothing runs before ``with``."""
        super().__init__(name)
        self._calls = Rule("POST", SYNC, times=sys.maxsize) if again is None else again
        self._between: Interposer | None = None
        self._log = io.StringIO()

    @override
    def __enter__(self) -> Self:
        """Install the software."""
        configure("info", self._log)
        return super().__enter__()

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the servers."""
        super().__exit__(kind, error, trace)
        if self._between is not None:
            self._between.__exit__(kind, error, trace)
        structlog.reset_defaults()

    @override
    def front(self) -> str:
        """The hand in between."""
        self._between = Interposer(self.hooks_url, rules=[self._calls])
        self._between.__enter__()
        return self._between.url

    def metrics(self) -> Mapping[str, float]:
        """What it shows."""
        return scraped(self.hooks_url)

    def log_lines(self) -> Sequence[Object]:
        """All that it has written."""
        return lines_in(self._log.getvalue())

    def syncs(self) -> Sequence[Sent]:
        """All calls so far."""
        return tuple(self._calls.hits)

    def send(self, call: Sent) -> int:
        """Once more, straight to the hook server."""
        return post(self.hooks_url, call, TOKEN)
