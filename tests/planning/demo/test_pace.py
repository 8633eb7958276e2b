"""How fast the demo's time passes for the onlooker."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from typing_extensions import override

from hooks.planning.demo import world
from hooks.planning.demo.board import Board
from hooks.planning.demo.pace import Pacer
from hooks.planning.demo.view import Nothing

INSTANTS = [
    (world.BEGIN, timedelta(days=1)),
    (world.INSTALLED, timedelta(minutes=5)),
    (world.WINDOWS[0].start, timedelta(minutes=1)),
    (world.WINDOWS[1].end, timedelta(minutes=5)),
]


class Seen(Nothing):
    """Remembers what time it showed."""

    def __init__(self) -> None:
        self.times: list[datetime] = []

    @override
    def show(self, board: Board) -> None:
        self.times.append(board.now)


@pytest.mark.parametrize(("before", "span"), INSTANTS)
def test_time_passes_before_the_onlookers_eyes(before: datetime, span: timedelta) -> None:
    board, seen = Board(world.POOL, world.WINDOWS, world.BEGIN), Seen()
    board.move_to(before)
    after = before + span
    Pacer(board, seen, 0.1).pass_from(before, after)
    # On a busy machine a short while may be over before there is a picture of it.
    moments = [before, *seen.times, board.now, after]
    assert moments == sorted(moments)


def test_a_longer_while_has_its_pictures() -> None:
    board, seen = Board(world.POOL, world.WINDOWS, world.BEGIN), Seen()
    Pacer(board, seen, 10).pass_from(world.BEGIN, world.BEGIN + timedelta(days=1))
    assert world.BEGIN < seen.times[-1] <= world.BEGIN + timedelta(days=1)


def test_as_fast_as_it_goes_no_time_passes() -> None:
    board, seen = Board(world.POOL, world.WINDOWS, world.BEGIN), Seen()
    Pacer(board, seen, 0).pass_from(world.BEGIN, world.INSTALLED)
    assert (seen.times, board.now) == ([], world.BEGIN)
