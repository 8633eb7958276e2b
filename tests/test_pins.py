"""The pinned requirements: whole, hashed, without any index's address, and what is installed."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FILES = ("runtime.txt", "dev.txt", "lock.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PIN = re.compile(
    r"^([a-z0-9-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", re.MULTILINE
)
NEEDED = [Requirement(text) for text in PROJECT["dependencies"]]


def pins(name: str) -> dict[str, tuple[str, int]]:
    """Package to version and number of hashes."""
    text = re.sub(r"^ *#.*\n", "", (ROOT / "requirements" / name).read_text(), flags=re.MULTILINE)
    found = re.findall(
        r"^([a-z0-9-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, re.MULTILINE
    )
    entries = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert len(found) == len(entries)
    return {package: (pin, hashes.count("--hash")) for package, pin, hashes in found}


@pytest.mark.parametrize("name", FILES)
def test_each_requirement_is_pinned_with_its_hashes(name: str) -> None:
    assert min(hashes for _, hashes in pins(name).values()) >= 1


@pytest.mark.parametrize("name", [*FILES, "dev.in", "lock.in"])
def test_no_index_is_named(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    assert re.findall(r"://|--(?:extra-)?index|--find-links|--trusted", text) == []


@pytest.mark.parametrize("requirement", NEEDED, ids=str)
def test_each_dependency_is_pinned_within_its_bounds(requirement: Requirement) -> None:
    pin, _ = pins("runtime.txt")[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(pin)


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt"])
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    expected = {package: pin for package, (pin, _) in pins(name).items()}
    assert {package: version(package) for package in expected} == expected


def test_both_files_agree() -> None:
    runtime, dev = pins("runtime.txt"), pins("dev.txt")
    assert [name for name in runtime.keys() & dev.keys() if runtime[name] != dev[name]] == []


def test_the_client_that_sends_no_token_is_excluded() -> None:
    (client,) = [one for one in NEEDED if one.name == "kubernetes"]
    assert not client.specifier.contains("36.0.0")


@pytest.mark.parametrize("script", ["noderotation", "kubectl-noderotation"])
def test_the_commands_are_there(script: str) -> None:
    assert PROJECT["scripts"][script] == "hooks.cli.main:main"
