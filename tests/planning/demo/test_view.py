"""How the demo looks: on a terminal, without one, without colours, and in a narrow one."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from rich.console import Console

from hooks.planning.demo import world
from hooks.planning.demo.board import Board
from hooks.planning.demo.ending import PASSED as PASSED_TEXT
from hooks.planning.demo.ending import show_report
from hooks.planning.demo.report import Report, report
from hooks.planning.demo.rows import State
from hooks.planning.demo.view import Lines, Moving, Nothing, picture, screen
from hooks.verdict.checks import Verdict, Violation
from hooks.verdict.history import Change
from hooks.verdict.rotations import rotations
from tests.planning.demo.tale import BEGIN, blocked_drain, rotation, served

PASSED = Verdict((), tuple(rotations(rotation(), world.POOL)))
FAILED = Verdict(
    (Violation("one_at_a_time", "a and b are being deleted at once"), Violation("x", "y")),
    PASSED.rotations,
)
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|9[0-7]|4[0-7])[0-9;]*m")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def console(width: int = 80, *, terminal: bool = True) -> Console:
    return Console(
        file=io.StringIO(), width=width, height=24, force_terminal=terminal, highlight=False
    )


def written(on: Console) -> str:
    file = on.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def board(changes: int | None = None) -> Board:
    shown = Board(world.POOL, world.WINDOWS, BEGIN)
    for change in rotation()[:changes]:
        shown.see(change)
    return shown


def shown(width: int, changes: int | None = None) -> list[str]:
    """The picture as text, line by line."""
    on = console(width, terminal=False)
    on.print(picture(board(changes), 24))
    return [line.rstrip() for line in written(on).splitlines()]


def test_the_picture() -> None:
    assert shown(80, 21) == [
        "Sat 2026-06-06 22:03:00 UTC                 window OPEN until 24:00 (1h57m left)",
        "replacing shop-aaaaa: successor ready                      0 of 3 nodes replaced",
        "node          zone     age  deadline   state                        successor",
        "────────────────────────────────────────────────────────────────────────────────",
        "shop-aaaaa    b     19d14h  Sun 08:00  successor ready              shop-ddddd",
        "shop-bbbbb    b     19d13h  Sun 09:00  waiting",
        "shop-ccccc    b     19d12h  Sun 10:00  kept by operator",
        " ─ what happened ──────────────────────────────────────────────────────────────",
        "  Sat 22:00:00 The window opens; it closes at 24:00.",
        "  Sat 22:01:30 shop-aaaaa is next; Karpenter would expire it Sun 08:00.",
        "  Sat 22:02:00 shop-aaaaa is cordoned: nothing new goes there.",
        "  Sat 22:02:10 A placeholder asks for room for the Pods of shop-aaaaa.",
        "  Sat 22:02:20 Karpenter starts a new machine for NodeClaim shop-ddddd.",
        "  Sat 22:02:40 shop-ddddd is up and Ready.",
        "  Sat 22:02:50 The placeholder runs on shop-ddddd: the room is there.",
        "",
        " ──────────────────────────────────────────────────────────────────────────────",
    ]


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, shown(width))) <= width


def test_a_node_that_is_not_ready_says_so() -> None:
    lost = board()
    lost.rows["shop-bbbbb"].not_ready = True
    on = console(terminal=False)
    on.print(picture(lost))
    assert "waiting" not in written(on)
    assert "not Ready" in written(on)
    lost.rows["shop-ccccc"].state = State.COMING
    lost.rows["shop-ccccc"].not_ready = True
    on.print(picture(lost))
    assert "successor coming, not Ready" in written(on)


def test_a_drain_that_a_budget_blocks_names_it() -> None:
    blocked = Board(world.POOL, world.WINDOWS, BEGIN)
    for change in blocked_drain():
        blocked.see(change)
    on = console(terminal=False)
    on.print(picture(blocked))
    assert "draining, budget web" in written(on)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (4, "Service till is up: 1 Pod Ready"),
        (6, "Service till is up: 2 Pods Ready"),
        (9, "Service till is DOWN"),
    ],
)
def test_the_head_tells_of_each_service(changes: int, line: str) -> None:
    till = Board(world.POOL, world.WINDOWS, BEGIN)
    for change in served()[:changes]:
        till.see(change)
    on = console(terminal=False)
    on.print(picture(till, 24))
    lines = [one.rstrip() for one in written(on).splitlines()]
    assert lines[2] == line
    assert len(lines) < 24


@pytest.mark.parametrize(
    ("at", "head"),
    [
        (world.WINDOWS[0].end, "window closed, opens Sun 04:00"),
        (world.WINDOWS[1].start, "window OPEN until 06:00 (2h left)"),
        (world.WINDOWS[1].end, "window closed"),
    ],
)
def test_the_head_tells_the_next_edge(at: datetime, head: str) -> None:
    later = board()
    later.move_to(at)
    on = console(terminal=False)
    on.print(picture(later))
    assert written(on).splitlines()[0].rstrip().endswith(head)


def test_a_terminal_gets_the_moving_picture_and_all_others_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert isinstance(screen(console()), Moving)
    assert isinstance(screen(console(terminal=False)), Lines)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(screen(console()), Lines)


def test_without_a_terminal_there_are_plain_lines_and_no_control_characters() -> None:
    on = console(terminal=False)
    with screen(on) as lines:
        lines.show(board(17))
        lines.show(board())
    show_report(on, report(PASSED, BEGIN, world.WINDOWS))
    text = written(on)
    assert text.splitlines()[:3] == [
        "Sat 22:00:00   The window opens; it closes at 24:00.",
        "Sat 22:01:30   shop-aaaaa is next; Karpenter would expire it Sun 08:00.",
        "Sat 22:02:00   shop-aaaaa is cordoned: nothing new goes there.",
    ]
    assert len(text.splitlines()) == len(set(text.splitlines()))
    assert [one for one in text if not one.isprintable() and one != "\n"] == []
    assert max(map(len, text.splitlines()[:-1])) <= 80


def test_colours_are_left_out_when_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = console()
    coloured.print(picture(board()))
    monkeypatch.setenv("NO_COLOR", "1")
    plain = console()
    plain.print(picture(board()))
    show_report(plain, report(FAILED, BEGIN, world.WINDOWS))
    assert COLOUR.search(written(coloured)) is not None
    assert COLOUR.search(written(plain)) is None


def test_the_moving_picture_leaves_the_cursor_as_it_was() -> None:
    on = console()
    with screen(on) as moving:
        moving.show(board(17))
        moving.show(board())
    text = written(on)
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1


def test_nothing_shows_nothing() -> None:
    with Nothing() as silent:
        silent.show(board())


def test_the_report_of_a_pass() -> None:
    on = console(terminal=False)
    show_report(on, report(PASSED, BEGIN, world.WINDOWS))
    assert [line.rstrip() for line in written(on).splitlines()] == [
        "node       successor  surge drain total began     window",
        "shop-aaaaa shop-ddddd 1m20s 1m10s    3m Sat 22:01 22:00-24:00",
        PASSED_TEXT.format("1 node was"),
    ]


def test_lines_in_a_file_have_no_blanks_at_their_end_and_are_not_wrapped() -> None:
    on = console(terminal=False)
    show_report(on, report(PASSED, BEGIN, world.WINDOWS))
    lines = written(on).splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert len(lines) == 3


def test_a_node_counts_once_however_often_its_rotation_began() -> None:
    first = report(PASSED, BEGIN, world.WINDOWS).courses[0]
    again = Report(Verdict((), ()), (replace(first, end=None), first, first))
    assert again.replaced == 1
    other = Report(Verdict((), ()), (first, replace(first, claim="shop-bbbbb")))
    on = console(terminal=False)
    show_report(on, other)
    assert PASSED_TEXT.format("2 nodes were") in written(on)


def test_failed_calls_of_the_hooks_come_first() -> None:
    def failed(name: str, count: int) -> Change:
        thing = {"metadata": {"name": name}, "reason": "SyncError", "count": count}
        return Change(1, 1, "Event", "MODIFIED", thing | {"message": f"Sync error: {name}"})

    other = Change(1, 1, "Event", "ADDED", {"metadata": {"name": "x"}, "reason": "Else"})
    changes = [failed("a", 1), failed("a", 3), failed("b", 1), other]
    told = report(FAILED, BEGIN, world.WINDOWS, changes)
    assert told.as_json()["failedSyncs"] == 4
    on = console(terminal=False)
    show_report(on, told)
    lines = written(on).splitlines()
    assert lines[2] == "The hooks failed 4 times: Sync error: a"
    assert lines[3].startswith("FAIL: 2 violations")


def test_the_report_of_a_fail_names_each_violation() -> None:
    on = console(terminal=False)
    show_report(on, Report(FAILED, ()))
    assert written(on).splitlines()[-3:] == [
        "FAIL: 2 violations of what was promised",
        "- one_at_a_time: a and b are being deleted at once",
        "- x: y",
    ]


def test_the_report_tells_three_violations_of_a_kind_and_counts_the_others() -> None:
    many = Verdict(tuple(Violation("x", str(number)) for number in range(5)), ())
    on = console(terminal=False)
    show_report(on, Report(many, ()))
    assert written(on).splitlines()[-5:] == [
        "FAIL: 5 violations of what was promised",
        "- x: 0",
        "- x: 1",
        "- x: 2",
        "- x: and 2 more",
    ]


def test_the_report_as_json() -> None:
    assert report(FAILED, BEGIN, world.WINDOWS).as_json() == {
        "verdict": "fail",
        "violations": ["one_at_a_time: a and b are being deleted at once", "x: y"],
        "failedSyncs": 0,
        "rotations": [
            {
                "nodeClaim": "shop-aaaaa",
                "node": "kwok-shop-aaaaa",
                "successor": "shop-ddddd",
                "start": "2026-06-06T22:01:30Z",
                "end": "2026-06-06T22:04:30Z",
                "surgeSeconds": 80,
                "drainSeconds": 70,
                "totalSeconds": 180,
                "window": "2026-06-06T22:00:00Z",
            }
        ],
    }


def test_a_rotation_that_never_ended_is_reported() -> None:
    unfinished = tuple(rotations(rotation()[:15], world.POOL))
    elsewhen = BEGIN - timedelta(days=1)
    (course,) = report(Verdict((), unfinished), elsewhen, world.WINDOWS).courses
    assert (course.end, course.surge, course.drain, course.total, course.window) == (None,) * 5
    on = console(terminal=False)
    show_report(on, Report(PASSED, (course,)))
    assert written(on).splitlines()[1].split() == [
        "shop-aaaaa",
        "none",
        "never",
        "never",
        "never",
        "Fri",
        "22:01",
        "none",
    ]
