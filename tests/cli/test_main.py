"""The group: its subcommands, their loading, and how it answers wrong use."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hooks.cli.main import COMMANDS, group, main

CLI = Path(importlib.import_module("hooks.cli").__file__ or "").parent


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_subcommand_is_a_command_of_that_name(name: str) -> None:
    command = importlib.import_module(f"hooks.cli.{name}").command
    assert isinstance(command, click.Command)
    assert command.name == name


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_subcommand_tells_its_flags(name: str) -> None:
    result = CliRunner().invoke(group, [name, "--help"])
    assert (result.exit_code, f"Usage: noderotation {name}" in result.output) == (0, True)


def test_the_help_lists_all_in_their_order() -> None:
    result = CliRunner().invoke(group, ["--help"])
    lines = [line.split()[0] for line in result.output.partition("Commands:\n")[2].splitlines()]
    assert (result.exit_code, lines) == (0, list(COMMANDS))


def test_the_help_loads_none_of_them() -> None:
    script = (
        "import sys; from hooks.cli.main import main; sys.argv = ['noderotation', '--help']\n"
        "try: main()\n"
        "finally: print([name for name in sys.modules if name.startswith('hooks.cli.')])"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", script],
        env={"PYTHONPATH": str(CLI.parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "['hooks.cli.main']"


def test_the_version_is_the_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["noderotation", "--version"])
    result = CliRunner().invoke(group, ["--version"])
    assert (result.exit_code, result.output) == (0, f"noderotation {version('noderotation')}\n")


@pytest.mark.parametrize("given", [["nonsense"], ["--nonsense"], ["serve", "--nonsense", "1"]])
def test_wrong_use_is_exit_status_2(given: list[str]) -> None:
    assert CliRunner().invoke(group, given).exit_code == 2


@pytest.mark.parametrize(
    ("called", "shown"),
    [("/usr/bin/noderotation", "noderotation"), ("kubectl-noderotation", "kubectl noderotation")],
)
def test_it_goes_by_the_name_it_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], called: str, shown: str
) -> None:
    monkeypatch.setattr(sys, "argv", [called, "--help"])
    with pytest.raises(SystemExit) as left:
        main()
    assert (left.value.code, capsys.readouterr().out.splitlines()[0]) == (
        0,
        f"Usage: {shown} [OPTIONS] COMMAND [ARGS]...",
    )
