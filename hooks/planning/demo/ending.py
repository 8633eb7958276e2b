"""The end of the demo on a terminal or off it: the rotations with their times, and the verdict.

Owns its looks; frames are only drawn on terminals. What it says comes from :mod:`.report`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from rich import box
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hooks.planning.demo.report import Course, Report
from hooks.rotation.durations import format_people

MOST_OF_A_KIND: Final = 3
"""Violations of one check that people are told; programs get all."""


PASSED: Final = (
    "PASS: {} replaced before their deadlines, inside the windows, those with the nearest deadline "
    "first, one at a time with the cooldown between, each one's successor first, with room for all "
    "its Pods; the only Pod of a Deployment went after its successor was Ready; no budget was "
    "broken, no mark is left, and what operators had marked was left alone. Not judged: the "
    "protection of a successor before the old node's deletion, and pauses after failures."
)


def show_report(console: Console, end: Report) -> None:
    """Print the rotations and the verdict."""
    if console.is_terminal:
        console.print(_courses(end, framed=True))
        console.print(_verdict(end, framed=True))
        return
    with console.capture() as capture:
        console.print(_courses(end, framed=False))
    # Tables fill their columns; in a file nobody wants the blanks at the end.
    lines = [line.rstrip() for line in capture.get().splitlines()]
    console.print(Text("\n".join(lines)), soft_wrap=True)
    console.print(_verdict(end, framed=False), soft_wrap=True)


def _courses(end: Report, *, framed: bool) -> RenderableType:
    table = Table(
        box=box.SIMPLE_HEAD if framed else None,
        expand=framed,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    table.add_column("node", ratio=1 if framed else None, no_wrap=True, overflow="ellipsis")
    table.add_column("successor", ratio=1 if framed else None, no_wrap=True, overflow="ellipsis")
    for title in ("surge", "drain", "total"):
        table.add_column(title, no_wrap=True, justify="right")
    table.add_column("began", no_wrap=True)
    table.add_column("window", no_wrap=True)
    for course in end.courses:
        table.add_row(
            Text(course.claim),
            Text(course.successor or "none"),
            *(Text(_span(span)) for span in (course.surge, course.drain, course.total)),
            Text(f"{course.start:%a %H:%M}"),
            Text(_hours(course)),
        )
    return table


def _hours(course: Course) -> str:
    if course.window is None:
        return "none"
    return f"{course.window.start:%H:%M}-{course.window.closes}"


def _span(span: timedelta | None) -> str:
    return "never" if span is None else format_people(span)


def _verdict(end: Report, *, framed: bool) -> RenderableType:
    if end.verdict.is_pass:
        text = Text(PASSED.format(_nodes(end.replaced)))
    else:
        count = len(end.verdict.violations)
        text = Text(f"FAIL: {count} violation{'s' if count != 1 else ''} of what was promised")
        for line in _violations(end):
            text.append(f"\n- {line}")
    if end.failed_syncs:
        text = Text(f"The hooks failed {end.failed_syncs} times: {end.first_failure}\n").append(
            text
        )
    if not framed:
        return text
    style = "green" if end.verdict.is_pass else "red"
    return Panel(text, title="verdict", title_align="left", border_style=style)


def _nodes(count: int) -> str:
    return "1 node was" if count == 1 else f"{count} nodes were"


def _violations(end: Report) -> Iterator[str]:
    """The first violations of each check, and how many more there are."""
    kinds: dict[str, list[str]] = {}
    for one in end.verdict.violations:
        kinds.setdefault(one.check, []).append(str(one))
    for check, found in kinds.items():
        yield from found[:MOST_OF_A_KIND]
        if len(found) > MOST_OF_A_KIND:
            yield f"{check}: and {len(found) - MOST_OF_A_KIND} more"
