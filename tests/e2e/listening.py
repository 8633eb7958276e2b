"""The real control plane as a stage that hears what the hook server says.

Owns the hand between the controllers and the hook server. Leaves the plane to :mod:`.stage`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.e2e.control_plane import ControlPlane
from tests.e2e.history import Recorder
from tests.e2e.installation import Installation
from tests.e2e.stage import HookServer, RealStage
from tests.scenarios.interposer import Interposer, Rule, Sent
from tests.scenarios.signals.hearing import SYNC, lines_in, post, scraped
from tests.scenarios.stage import Object


@dataclass(slots=True)
class RealListeningStage(RealStage):
    """One story's place on the plane; ``url`` is the hook server's own, ``token`` what it takes."""

    url: str = field(kw_only=True)
    token: str = field(kw_only=True)
    heard: Rule = field(kw_only=True)

    def metrics(self) -> Mapping[str, float]:
        """What it shows."""
        return scraped(self.url)

    def log_lines(self) -> Sequence[Object]:
        """All that it has written."""
        return [line for log in self.server.logs for line in lines_in(log.read_text())]

    def syncs(self) -> Sequence[Sent]:
        """All calls so far that are about its pools."""
        return tuple(self.heard.hits)

    def send(self, call: Sent) -> int:
        """Once more, straight to the hook server."""
        return post(self.url, call, self.token)


@contextmanager
def listening(
    name: str, plane: ControlPlane, installation: Installation, history: Recorder
) -> Iterator[RealListeningStage]:
    """A stage with a hook server of its own, until the end of ``with``; then it is cleared."""
    heard = Rule("POST", SYNC, times=sys.maxsize)
    with (
        HookServer(plane, installation, name) as server,
        Interposer(server.url, rules=[heard]) as hand,
        installation.front.to(hand.url, name),
    ):
        stage = RealListeningStage(
            name,
            plane,
            history,
            server,
            crowded=True,
            url=server.url,
            token=installation.token,
            heard=heard,
        )
        try:
            yield stage
        finally:
            stage.clear()
