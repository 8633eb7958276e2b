"""The demo on a terminal: a live table, or plain lines where there is no terminal.

Owns the looks until the end, which :mod:`.ending` shows. What is shown comes from :mod:`.board`; every
colour stands beside a word that says the same, and nothing is wider than the terminal.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from time import monotonic
from types import MappingProxyType, TracebackType
from typing import Final, Protocol, Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from hooks.planning.demo.board import Board, Happening
from hooks.planning.demo.rows import UNDER_WAY, Row, State
from hooks.rotation.durations import format_people

HAPPENINGS: Final = 8
FRAME: Final = 0.09
"""Seconds between two pictures, at least."""
_AROUND: Final = 7
"""Lines beside nodes, services and happenings: titles, frames, the head, and the cursor's."""
_STATE: Final = 27
"""The longest state, so that no column moves when one comes."""
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_STYLES: Final = MappingProxyType(
    {
        State.WAITING: "dim",
        State.KEPT: "yellow",
        State.REPLACED: "green",
        State.LOST: "bold red",
        State.DRAINING: "bold magenta",
    }
)
_UNDER_WAY: Final = "bold cyan"


class Screen(Protocol):
    """Where the demo is shown, from ``with`` on."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was found."""
        ...

    def show(self, board: Board) -> None:
        """Show the picture as it is now."""
        ...


class Nothing:
    """Shows nothing: the output is for programs."""

    def __enter__(self) -> Self:
        """Nothing to begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to end."""

    def show(self, board: Board) -> None:
        """Show nothing."""


class Lines(Nothing):
    """One line for each happening: for files, pipes and terminals that can't move the cursor."""

    def __init__(self, console: Console) -> None:
        """Begin with the first happening."""
        self._console = console
        self._shown = 0

    @override
    def show(self, board: Board) -> None:
        """Print what has happened since the last time."""
        for one in board.happenings[self._shown :]:
            mark = "* " if one.aside else "  "
            self._console.print(f"{one.at:%a %H:%M:%S} {mark}{one.text}", soft_wrap=True)
        self._shown = len(board.happenings)


class Moving:
    """The table, drawn anew when it is shown, ten times a second at most.

    Nothing draws by itself: another thread would see half a change.
    """

    def __init__(self, console: Console) -> None:
        """Nothing is drawn before ``with``."""
        self._console = console
        self._drawn = float("-inf")
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the last picture standing."""
        self._live.__exit__(kind, error, trace)

    def show(self, board: Board) -> None:
        """Draw it, unless it was drawn only just now."""
        if monotonic() - self._drawn >= FRAME:
            self._drawn = monotonic()
            self._live.update(picture(board, self._console.height), refresh=True)


def screen(console: Console) -> Screen:
    """The best way to show it on this console."""
    moves = console.is_terminal and not console.is_dumb_terminal
    return Moving(console) if moves else Lines(console)


def picture(board: Board, height: int = 50) -> RenderableType:
    """Head, nodes, and as many of the last happenings as the height has room for."""
    taken = _AROUND + len(board.rows) + len(board.services)
    room = max(2, min(HAPPENINGS, height - taken))
    return Group(_head(board), _nodes(board), _happenings(board, room))


def _head(board: Board) -> RenderableType:
    grid = Table.grid(expand=True)
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(Text(_clock(board.now) + " UTC", style="bold"), _window(board))
    row = board.under_way
    doing = Text(f"replacing {row.claim}: {row.state}" if row else _idle(board))
    grid.add_row(doing, Text(f"{board.replaced} of {len(board.rows)} nodes replaced", style="bold"))
    for service, ready in board.services.items():
        grid.add_row(_service(service, ready))
    return grid


def _service(name: str, ready: int) -> Text:
    if not ready:
        return Text(f"Service {name} is DOWN", style="bold red")
    pods = "1 Pod" if ready == 1 else f"{ready} Pods"
    return Text(f"Service {name} is up: {pods} Ready", style="green" if ready == 1 else "cyan")


def _window(board: Board) -> Text:
    if board.open_window is not None:
        left = format_people((board.open_window.end - board.now) // _MINUTE * _MINUTE)
        ends = board.open_window.closes
        return Text(f"window OPEN until {ends} ({left} left)", style="bold green")
    if board.next_window is not None:
        return Text(f"window closed, opens {board.next_window.start:%a %H:%M}", style="yellow")
    return Text("window closed", style="yellow")


def _idle(board: Board) -> str:
    if board.rows and board.replaced == len(board.rows):
        return "nothing left to do"
    return "between two rotations" if board.open_window else "waiting for the window"


def _nodes(board: Board) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, expand=True, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("node", no_wrap=True, overflow="ellipsis", ratio=4)
    table.add_column("zone", no_wrap=True)
    table.add_column("age", no_wrap=True, justify="right")
    table.add_column("deadline", no_wrap=True)
    table.add_column("state", no_wrap=True, overflow="ellipsis", width=_STATE)
    table.add_column("successor", no_wrap=True, overflow="ellipsis", ratio=4)
    for row in sorted(
        board.rows.values(), key=lambda one: (one.deadline or one.created, one.claim)
    ):
        table.add_row(
            Text(row.claim),
            Text(row.zone.rpartition("-")[2]),
            Text(_age(row, board.now)),
            Text(f"{row.deadline:%a %H:%M}" if row.deadline else "never"),
            Text(_state(row), style=_STYLES.get(row.state, _UNDER_WAY)),
            Text(row.successor),
            style="dim" if row.state is State.REPLACED else "",
        )
    return table


def _state(row: Row) -> str:
    if row.not_ready and row.state not in {State.REPLACED, State.LOST}:
        return f"{row.state}, not Ready" if row.state in UNDER_WAY else "not Ready"
    if row.blocked_by:
        return f"{row.state}, budget {row.blocked_by}"
    return str(row.state)


def _age(row: Row, now: datetime) -> str:
    if row.state in {State.REPLACED, State.LOST}:
        return "gone"
    age = now - row.created
    return f"{age.days}d{(age - timedelta(days=age.days)) // _HOUR:02}h"


def _happenings(board: Board, room: int) -> RenderableType:
    lines = [_line(one) for one in board.happenings[-room:]]
    lines += [Text("")] * (room - len(lines))
    return Panel(Group(*lines), title="what happened", title_align="left", box=box.HORIZONTALS)


def _line(one: Happening) -> Text:
    line = Text(f"{one.at:%a %H:%M:%S} ", style="dim", no_wrap=True, overflow="ellipsis")
    return line.append(one.text, style="yellow" if one.aside else "not dim")


def _clock(at: datetime) -> str:
    return f"{at:%a %Y-%m-%d %H:%M:%S}"
