"""How a pool is rotated from the first node to the last, told by the test and watched.

Owns driving: asking for the rotation, holding a budget shut for a while, waiting for the end. Leaves
the judgement to :mod:`.checks`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from hooks.verdict.history import Change
from hooks.verdict.questions import ANCHOR, POOL_LABEL, STATE, annotation, is_leaving, label
from tests.e2e.history import Recorder, is_of
from tests.e2e.world import World
from tests.support.waiting import wait_until

LONGEST_ROTATION = 120.0
"""Seconds: more than twice of what one takes on a slow machine."""
AFTERMATH = 4.0
"""Seconds that are watched after the end, for whatever shouldn't happen any more."""


@dataclass(frozen=True, slots=True)
class Story:
    """The rotation of one world's pool."""

    world: World
    history: Recorder

    def begin(self) -> None:
        """Ask for every node that is there now to be rotated."""
        now = datetime.now(UTC).replace(microsecond=0)
        self.world.annotate_pool(due_before=now.isoformat().replace("+00:00", "Z"))

    def nth_delete(self, number: int) -> Change:
        """The change by which the ``number``-th claim of the pool (from 1) is being deleted."""
        seen: set[str] = set()

        def is_it(change: Change) -> bool:
            ours = (
                change.kind == "NodeClaim" and label(change.object, POOL_LABEL) == self.world.name
            )
            if ours and is_leaving(change.object):
                seen.add(change.name)
            return len(seen) == number

        return self.history.wait_for(f"delete number {number}", is_it, LONGEST_ROTATION)

    def state_of_a_claim(self, state: str) -> Change:
        """The change by which a claim of the pool comes into that state of its rotation."""

        def is_it(change: Change) -> bool:
            ours = (
                change.kind == "NodeClaim" and label(change.object, POOL_LABEL) == self.world.name
            )
            return ours and annotation(change.object, STATE) == state

        return self.history.wait_for(f"a claim is {state}", is_it, LONGEST_ROTATION)

    def block_each_drain(self, seconds: float) -> None:
        """Let the budget refuse each drain for ``seconds``; returns when the last one is let go."""
        for number in range(1, self.world.size + 1):
            self.world.require_available(self.world.size)
            deleted = self.nth_delete(number)
            time.sleep(max(0.0, deleted.at + seconds - time.monotonic()))
            self.world.require_available(self.world.size - 1)
            is_gone = partial(_is_gone, deleted.name)
            self.history.wait_for(f"{deleted.name} is gone", is_gone, LONGEST_ROTATION)
            wait_until("all Pods are Ready again", self.world.is_settled, LONGEST_ROTATION)

    def end(self, originals: list[str]) -> tuple[Change, ...]:
        """Wait until all of ``originals`` are gone and nothing is under way; then the history."""
        last: list[int] = []

        def is_over() -> bool:
            left = set(originals) & set(self.world.claims())
            pool = self.world.api.get("NodePool", self.world.name)
            last.append(int(pool["metadata"]["resourceVersion"]))
            return not left and annotation(pool, ANCHOR) is None and self.world.is_settled()

        # Seldom: what is measured meanwhile shares the processors with this.
        wait_until("all rotations are over", is_over, LONGEST_ROTATION * len(originals), every=2)
        time.sleep(AFTERMATH)
        self.history.wait_for(
            "the end", lambda c: c.kind == "NodePool" and c.revision >= last[-1], 10
        )
        # Another world that is being removed meanwhile is no part of this one's.
        return tuple(one for one in self.history.changes if is_of(self.world.name, one))


def _is_gone(claim: str, change: Change) -> bool:
    return change.kind == "NodeClaim" and change.type == "DELETED" and change.name == claim
