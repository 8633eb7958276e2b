"""What Karpenter's controllers here have in common: the world, and waking up in time.

Leaves when to look to :mod:`hooks.sandbox.controllers.levels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.karpenter.world import World


class Reconciler(LevelController):
    """A controller that looks at everything of its kinds at once."""

    def __init__(self, world: World) -> None:
        """Begin with everything unseen."""
        super().__init__(world.store, world.clock)
        self.world = world

    def wake_at_next(self, now: datetime, moments: Iterable[datetime | None]) -> None:
        """Look again at the first of these moments that is still to come."""
        for moment in moments:
            if moment is not None and moment > now:
                self.wake_at(moment)


class Timers:
    """When something that takes a while is done; begun anew if it is lost."""

    def __init__(self) -> None:
        """Begin with nothing running."""
        self._due: dict[str, datetime] = {}

    def due(self, key: str, now: datetime, span: Callable[[], timedelta]) -> datetime:
        """Return when it is done; ``span`` is asked once, when it is first heard of."""
        if key not in self._due:
            self._due[key] = now + span()
        return self._due[key]

    def forget(self, key: str) -> None:
        """Drop one that is done."""
        self._due.pop(key, None)


def next_tick(now: datetime, period: timedelta, origin: datetime) -> datetime:
    """Return the next beat of a controller that looks only every so often."""
    beats = (now - origin) // period + 1
    return origin + beats * period
