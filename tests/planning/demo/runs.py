"""Running the demo as a user does, in a process of its own, as fast as it goes.

Owns the command line and what is left of a run. The package is the installed one, or a copy of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hooks
from hooks.verdict.history import Change, read

PROGRAM = "import sys; sys.argv[0] = 'noderotation'; from hooks.cli.main import main; main()"
LONGEST = 600
"""Seconds that only a run takes which hangs, also on a machine that has other things to do."""
TESTED = Path(hooks.__file__).parents[1]
"""Where the package lies that the tests run against."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run that has ended."""

    status: int
    stdout: str
    stderr: str
    history: Path

    @property
    def said(self) -> Any:
        """What it printed for programs."""
        return json.loads(self.stdout)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The history that it wrote."""
        return read(self.history)


def run(folder: Path, *flags: str, package: Path = TESTED, chance: str = "0") -> Ran:
    """Run it in ``folder``, which gets its history.

    ``package`` is a folder whose ``hooks`` is used; ``chance`` is Python's own seed for hashes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    history = folder / "history.jsonl"
    command = [sys.executable, "-c", PROGRAM, "demo", "--pace", "0", "--history", str(history)]
    done = subprocess.run(
        [*command, *flags],
        cwd=folder,
        env={
            **os.environ,
            "COLUMNS": "80",
            "PYTHONHASHSEED": chance,
            "PYTHONPATH": str(package),
        },
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr, history)
