"""``noderotation demo``: its flags. What it does is in tests/planning/demo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hooks.cli.main import group
from hooks.verdict.record import read_record
from tests.planning.demo.runs import LONGEST, PROGRAM, TESTED

pytestmark = pytest.mark.timeout(LONGEST)
HEARS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def begin(folder: Path, *flags: str, stdout: int) -> subprocess.Popen[str]:
    """A demo in a process of its own, whose temporary files are in ``folder``/tmp.

    It hears Ctrl-C also when these tests run in the background, where a shell has it ignored.
    """
    (folder / "tmp").mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", f"{HEARS}; {PROGRAM}", "demo", *flags],
        env={**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(TESTED)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    "flags",
    [
        ["--seed", "x"],
        ["--pace", "-1"],
        ["--pace", "x"],
        ["--output", "html"],
        ["--history"],
        ["--history", "-"],
        ["--history", "/dev/full"],
        ["--log", "/nowhere/at/all"],
        ["x"],
    ],
)
def test_wrong_use(flags: list[str]) -> None:
    assert CliRunner().invoke(group, ["demo", *flags]).exit_code == 2


def test_a_history_that_cannot_be_written_is_refused_before_the_demo(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "history.jsonl"
    done = CliRunner().invoke(group, ["demo", "--pace", "0", "--history", str(file)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{file}: No such file or directory" in " ".join(done.stderr.split())


def test_the_help_says_that_there_is_no_page_yet() -> None:
    done = CliRunner().invoke(group, ["demo", "--help"])
    assert done.exit_code == 0
    assert "There is none yet." in " ".join(done.stdout.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_demo_that_is_ended_leaves_its_history_and_nothing_else(
    number: signal.Signals, tmp_path: Path
) -> None:
    file = tmp_path / "history.jsonl"
    flags = ("--pace", "3", "--history", str(file))
    with begin(tmp_path, *flags, stdout=subprocess.PIPE) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        assert "will expire" in demo.stdout.readline()
        demo.send_signal(number)
        assert (demo.wait(LONGEST / 2), demo.stderr.read()) == (128 + number, "")
    assert len(read_record(file)[0]) > 100
    assert list((tmp_path / "tmp").iterdir()) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["history.jsonl", "tmp"]


def test_an_output_that_is_full_is_told_of(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        flags = ("--pace", "0", "--output", "json")
        with begin(tmp_path, *flags, stdout=full.fileno()) as demo:
            assert demo.stderr is not None
            said = demo.stderr.read()
    assert (demo.returncode, said) == (1, "Error: the demo can't go on: No space left on device\n")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_history_that_is_refused_leaves_the_old_one_alone(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text("old")
    done = CliRunner().invoke(group, ["demo", "--history", str(file), "--log", str(tmp_path)])
    assert (done.exit_code, file.read_text(), list(tmp_path.iterdir())) == (2, "old", [file])
