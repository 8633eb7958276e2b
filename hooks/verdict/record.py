"""A history's file together with what operators marked: all that a verdict needs.

Owns the lines of operators, one for each mark, before all changes: ``{"operator": {"node": ..., "what":
"cordon" or "do-not-disrupt", "since": revision, "until": revision or null}}``. Leaves the lines of
changes to :mod:`.history`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from hooks.verdict.case import Check, OperatorMark
from hooks.verdict.checks import Verdict, judge
from hooks.verdict.history import Change, read, write


def write_record(changes: Iterable[Change], operator: Iterable[OperatorMark], path: Path) -> None:
    """Write what operators marked, and the changes, as JSON lines."""
    write(changes, path)
    told = path.read_text(encoding="utf-8")
    lines = [json.dumps({"operator": asdict(mark)}) + "\n" for mark in operator]
    path.write_text("".join(lines) + told, encoding="utf-8")


def read_record(path: Path) -> tuple[tuple[Change, ...], tuple[OperatorMark, ...]]:
    """Read the changes and the operators' marks; a file without marks has none."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    marks = tuple(OperatorMark(**one["operator"]) for one in lines if "operator" in one)
    return read(path), marks


def judge_record(path: Path, pool: str, *, also: Sequence[Check] = ()) -> Verdict:
    """Judge a history from its file alone."""
    changes, marks = read_record(path)
    return judge(changes, pool, marks, also=also)
