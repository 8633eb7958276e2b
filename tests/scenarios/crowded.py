"""An embedded cluster with others on it, on which rotations lose the race of :mod:`.superfluous`.

There Karpenter never brings a node too many by itself, as nothing falls between two writes of a pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from typing_extensions import override

from hooks.verdict.questions import STATE, annotation
from tests.scenarios.interposer import Rule, Sent
from tests.scenarios.signals.embedded import EmbeddedListeningStage


class Crowded(EmbeddedListeningStage):
    """One story's cluster; ``brought`` are the claims too many so far."""

    def __init__(self, name: str) -> None:
        """Nothing runs before ``with``."""
        super().__init__(name)
        self.brought: list[str] = []

    @property
    @override
    def crowded(self) -> bool:
        return True

    @contextmanager
    def losing_each_race(self) -> Iterator[None]:
        """Each rotation that deletes its node brings one too many."""
        path = f"/apis/karpenter.sh/v1/nodeclaims/{self.name}-[a-z0-9]+"
        rule = Rule("DELETE", path, after=self._bring_one_too_many, times=sys.maxsize)
        with self.intercept(rule):
            yield

    def _bring_one_too_many(self, sent: Sent) -> None:
        left = self.api.get("NodeClaim", sent.name)
        if annotation(left, STATE) != "draining":
            return
        name = f"{sent.name}-again"
        self.brought.append(name)
        kept = {key: left["metadata"][key] for key in ("labels", "ownerReferences")}
        self.api.apply_objects({**left, "metadata": {"name": name, **kept}, "status": {}})
