"""The file of a history: the old one stays until the new one is complete."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hooks.planning.demo.keeping import HistoryFile
from hooks.verdict.record import read_record


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text("old")
    with HistoryFile(file) as kept:
        assert file.read_text() == "old"
        kept.keep([], [])
        assert read_record(file) == ((), ())
    assert list(tmp_path.iterdir()) == [file]
    file.write_text("old")
    with HistoryFile(file):
        pass
    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])


def test_others_may_read_it_as_they_may_read_other_files(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.write_text("")
    file = tmp_path / "history.jsonl"
    with HistoryFile(file) as kept:
        kept.keep([], [])
    assert file.stat().st_mode == beside.stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "history.jsonl")
    with HistoryFile(link) as kept:
        kept.keep([], [])
    assert link.is_symlink()
    assert (tmp_path / "history.jsonl").is_file()


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="isn't a regular file"):
        HistoryFile(pipe)
