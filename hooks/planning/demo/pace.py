"""How fast the demo's time passes for the onlooker.

Owns the speeds: slow while a node is being replaced, faster in an open window, fast where nothing
happens. The only place of the demo that knows real time.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hooks.planning.demo import world

if TYPE_CHECKING:
    from hooks.planning.demo.board import Board
    from hooks.planning.demo.view import Screen

UNDER_WAY: Final = 1.0 / 60
OPEN: Final = 0.07 / 60
CLOSED: Final = 0.015 / 60
BEFORE: Final = 1.0 / 1_700_000
"""Real seconds for each second of the cluster: some fifty in all. The last one is for the twenty days
before the installation."""
FRAME: Final = 0.1
"""Seconds between two pictures."""


class Pacer:
    """Lets real time pass; ``factor`` stretches it, 0 lets none pass."""

    def __init__(self, board: Board, screen: Screen, factor: float) -> None:
        """Begin now."""
        self._board = board
        self._screen = screen
        self._factor = factor
        self._due = time.monotonic()

    def pass_from(self, before: datetime, after: datetime) -> None:
        """Let the time between two moments of the cluster pass before the onlooker's eyes."""
        if self._factor <= 0:
            return
        real = (after - before).total_seconds() * self._speed() * self._factor
        # What the computing took is made up for, but never by a rush at the end.
        self._due = max(self._due, time.monotonic() - FRAME) + real
        while (left := self._due - time.monotonic()) > 0:
            time.sleep(min(left, FRAME))
            passed = 1 - max(0.0, self._due - time.monotonic()) / real if real else 1.0
            self._board.move_to(before + passed * (after - before))
            self._screen.show(self._board)

    def _speed(self) -> float:
        if self._board.now < world.INSTALLED:
            return BEFORE
        if self._board.under_way is not None:
            return UNDER_WAY
        return OPEN if self._board.open_window else CLOSED
