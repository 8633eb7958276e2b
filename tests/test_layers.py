"""The layers hold, the check of them can fail, and what is tested is the wheel."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import hooks

CHECKOUT = Path(__file__).parents[1]
LAYERS = "Each layer imports only those below it"
PURE = sorted(
    path for core in ("rotation", "drain") for path in (CHECKOUT / "hooks" / core).glob("*.py")
)
CLOCKS = {"now", "utcnow", "today"}
IMPURE_MODULES = {"os", "random", "secrets", "socket", "subprocess", "threading", "time", "uuid"}


def test_the_tests_run_against_the_wheel() -> None:
    assert Path(hooks.__file__).is_relative_to(sysconfig.get_path("purelib"))


def test_the_wheel_says_that_it_is_typed() -> None:
    assert (Path(hooks.__file__).parent / "py.typed").is_file()


def lint_imports(checkout: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(Path(sys.executable).with_name("lint-imports"))],
        cwd=checkout,
        env={**os.environ, "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )


def copy_of_the_package(folder: Path) -> Path:
    for path in [CHECKOUT / "pyproject.toml", *(CHECKOUT / "hooks").rglob("*.py")]:
        copy = folder / path.relative_to(CHECKOUT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return folder


@pytest.mark.parametrize(
    ("module", "statement", "broken"),
    [
        (
            "rotation/durations.py",
            "import kubernetes",
            ["Only hooks.cluster uses", "The rotation and the drain decide"],
        ),
        ("rotation/durations.py", "import pydantic", ["The rotation and the drain decide"]),
        ("rotation/durations.py", "import hooks.settings", [LAYERS]),
        ("drain/verdict.py", "import structlog", ["The rotation and the drain decide"]),
        ("drain/verdict.py", "import hooks.rotation.model", [LAYERS]),
        ("rotation/phases.py", "import hooks.drain.model", [LAYERS]),
        ("sync/nodepool.py", "import flask", ["Only hooks.app uses Flask"]),
        ("app.py", "import gunicorn", ["Only hooks.server knows"]),
        ("app.py", "import prometheus_client", ["Only hooks.telemetry uses"]),
        ("customize/nodepool.py", "import hooks.sync.nodepool", [LAYERS]),
        ("sandbox/conductor/webhook.py", "import hooks.rotation.model", ["The sandbox knows"]),
        ("verdict/checks.py", "import hooks.names", ["The verdict knows"]),
        ("app.py", "import hooks.sandbox.conductor.webhook", ["Sandbox and verdict stand aside"]),
    ],
)
def test_an_import_against_the_layers_is_found(
    tmp_path: Path, module: str, statement: str, broken: list[str]
) -> None:
    checkout = copy_of_the_package(tmp_path)
    path = checkout / "hooks" / module
    path.write_text(f"{path.read_text()}\n{statement}\n")
    outcome = lint_imports(checkout)
    found = [line for line in outcome.stdout.splitlines() if " BROKEN" in line]
    assert outcome.returncode == 1, outcome.stdout
    assert sorted(line[: len(name)] for line, name in zip(found, broken, strict=True)) == broken


def test_the_imports_follow_the_layers(tmp_path: Path) -> None:
    outcome = lint_imports(copy_of_the_package(tmp_path))
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize("path", PURE, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_core_reads_no_clock_and_no_environment(path: Path) -> None:
    impure = []
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=imported):
                impure += [alias.name for alias in imported if alias.name in IMPURE_MODULES]
            case ast.ImportFrom(module=str(module)) if module in IMPURE_MODULES:
                impure.append(module)
            case ast.Call(func=ast.Attribute(attr=name)) if name in CLOCKS:
                impure.append(name)
            case _:
                pass
    assert impure == []
