"""``noderotation demo``: a whole pool rotated on an embedded cluster, and the verdict on it.

Owns the flags, where everything is written to, and the end by a signal. Source: design/product.md,
*Two commands* and *Commands*.
"""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console
from typing_extensions import override

from hooks.planning.demo.ending import show_report
from hooks.planning.demo.keeping import HistoryFile
from hooks.planning.demo.run import Demo, Outcome
from hooks.planning.demo.view import Nothing, screen
from hooks.sandbox.embedded import RestlessError
from hooks.telemetry.log import configure

_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command(name="demo")
@click.option("--seed", type=int, default=0, show_default=True, help="Chance begins with it.")
@click.option("--no-page", is_flag=True, help="Don't serve the live page. There is none yet.")
@click.option(
    "--history",
    type=_FILE,
    metavar="FILE",
    help="Write every change of the cluster's objects, and what operators marked, as JSON lines.",
)
@click.option(
    "--log",
    type=_FILE,
    metavar="FILE",
    help="Write the log of the hook server there; otherwise it is dropped.",
)
@click.option(
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
@click.option(
    "--pace",
    type=click.FloatRange(min=0, max=100),
    default=1.0,
    show_default=True,
    metavar="FACTOR",
    help="How much time to take for showing it; 0 is as fast as it goes.",
)
def command(
    *, seed: int, no_page: bool, history: Path | None, log: Path | None, output: str, pace: float
) -> None:
    """Rotate a pool of twelve nodes through two windows, on a cluster in memory.

    Nothing is needed but this program, and no cluster of yours is touched. A checker that knows only
    the history of the cluster's objects gives the verdict: exit status 0 for pass, 1 for fail.
    """
    del no_page
    with ExitStack() as stack:
        file = None if history is None else stack.enter_context(_claim(history))
        stack.enter_context(_logging_to(log))
        stack.enter_context(_ended_by_signals())
        console = Console(highlight=False)
        shown = Nothing() if output == "json" else screen(console)
        demo = Demo(seed, shown, pace if output == "text" else 0)
        try:
            outcome = _kept(demo, file)
            if output == "json":
                click.echo(json.dumps(outcome.report.as_json(), indent=2))
            else:
                show_report(console, outcome.report)
            sys.stdout.flush()
        except RestlessError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt as error:
            number = error.args[0] if error.args else signal.SIGINT
            raise click.exceptions.Exit(128 + number) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            _give_up_stdout()
            raise click.ClickException(f"the demo can't go on: {error.strerror}") from error
    if not outcome.report.verdict.is_pass:
        raise click.exceptions.Exit(1)


def _kept(demo: Demo, file: HistoryFile | None) -> Outcome:
    """Run it; what there is of its history is written, however it ends."""
    try:
        return demo.run()
    finally:
        if file is not None:
            file.keep(demo.history, demo.marks)


def _claim(path: Path) -> HistoryFile:
    """Take the file now: nobody wants to hear a minute later that it can't be written."""
    if str(path) == "-":
        message = "the history needs a file of its own; stdout is for the demo"
        raise click.BadParameter(message, param_hint="--history")
    try:
        return HistoryFile(path)
    except OSError as error:
        message = str(error) if error.strerror is None else f"{path}: {error.strerror}"
        raise click.BadParameter(message, param_hint="--history") from error


class _Nowhere(io.StringIO):
    """Drops what is written."""

    @override
    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def _logging_to(path: Path | None) -> Iterator[None]:
    """Send the log of the hooks and of the cluster's controllers to a file, or nowhere."""
    with ExitStack() as stack:
        stream: TextIO = _Nowhere()
        if path is not None:
            try:
                stream = stack.enter_context(path.open("w", encoding="utf-8"))
            except OSError as error:
                message = f"{path}: {error.strerror}"
                raise click.BadParameter(message, param_hint="--log") from error
        configure("error" if path is None else "info", stream)
        handler = logging.StreamHandler(stream)
        logger = logging.getLogger("hooks")
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            configure("error", sys.stderr)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the demo as Ctrl-C does, so that it leaves no file behind."""

    def end(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(number)

    before = {one: signal.signal(one, end) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _give_up_stdout() -> None:
    """Nothing more can be written there, and at the exit nobody is to try."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
