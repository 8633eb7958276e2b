"""A history's file has all that a verdict needs, also what operators marked."""

from __future__ import annotations

from pathlib import Path

from hooks.verdict.case import DO_NOT_DISRUPT, OperatorMark
from hooks.verdict.history import Change, read, write
from hooks.verdict.record import judge_record, read_record, write_record
from tests.verdict.tales import GOOD, POOL, Tale, told


def kept(tale: Tale) -> None:
    tale.put("Node", "new", metadata={"annotations": {"karpenter.sh/do-not-disrupt": "true"}})


def history() -> list[Change]:
    """A good rotation after which an operator protects the new node, as an API server tells it."""
    changes = told(*GOOD, kept)
    for change in changes:
        change.object["metadata"]["resourceVersion"] = str(change.revision)
    return changes


MARK = OperatorMark("new", DO_NOT_DISRUPT, 25)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    file, changes = tmp_path / "history.jsonl", history()
    ended = OperatorMark("old", "cordon", 3, until=4)
    write_record(changes, [MARK, ended], file)
    assert read_record(file) == (tuple(changes), (MARK, ended))
    assert read(file) == tuple(changes)
    first = file.read_text().splitlines()[0]
    assert first == (
        '{"operator": {"node": "new", "what": "do-not-disrupt", "since": 25, "until": null}}'
    )


def test_a_history_without_marks_has_none(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    write(history(), file)
    assert read_record(file) == (tuple(history()), ())


def test_the_verdict_needs_the_marks(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    write_record(history(), [MARK], file)
    assert judge_record(file, POOL).is_pass
    write_record(history(), [], file)
    assert {one.check for one in judge_record(file, POOL).violations} == {"nothing_left"}
