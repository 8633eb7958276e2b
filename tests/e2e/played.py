"""The histories of the scenarios that were played on the real control plane in this session.

Owns keeping them until they are compared with the same scenarios on the embedded cluster, and
writing them down for whoever wants to compare later.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hooks.verdict.history import Change, write
from tests.scenarios.plot import Compared

FOLDER = "NODEROTATION_KEEP_HISTORIES"
"""Environment variable: a folder into which each scenario's history is written as well."""
PLAYED: dict[str, Sequence[Change]] = {}
"""Scenario's name to its history, of those that passed."""
FAILED: set[str] = set()
"""The names of those that didn't."""
COMPARED: dict[str, Compared] = {}
"""Scenario's name to what came of comparing it with the embedded cluster."""


def keep(name: str, changes: Sequence[Change], *, passed: bool) -> None:
    """Keep the history of one scenario; it is written down also when the scenario failed."""
    if passed:
        PLAYED[name] = changes
    else:
        FAILED.add(name)
    folder = os.environ.get(FOLDER)
    if folder:
        write(changes, Path(folder) / f"{name}.jsonl")
