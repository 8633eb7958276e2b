"""With a fault in the software the demo fails, and names what was broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from hooks.planning.demo import world
from tests.planning.demo.runs import LONGEST, Ran, run
from tests.support.mutants import (
    DRAIN_MUTANTS,
    MORE_MUTANTS,
    MUTANTS,
    Mutant,
    Substitution,
    mutate,
)

EVERY = (*MUTANTS, *MORE_MUTANTS, *DRAIN_MUTANTS)
pytestmark = pytest.mark.timeout(2 * LONGEST)


def demo(mutant: Mutant, folder: Path) -> Ran:
    return run(folder, "--output", "json", package=mutate(mutant, folder / "copy"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Future[Ran]]]:
    """Two at a time: each keeps one processor busy."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            mutant.name: pool.submit(demo, mutant, tmp_path_factory.mktemp("mutant"))
            for mutant in EVERY
        }


@pytest.mark.parametrize("mutant", EVERY, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_it_is_found(mutant: Mutant, runs: Mapping[str, Future[Ran]]) -> None:
    ran = runs[mutant.name].result()
    assert (ran.status, ran.stderr) == (1, "")
    assert ran.said["verdict"] == "fail"
    named = {violation.split(":")[0] for violation in ran.said["violations"]}
    assert mutant.found_by in named


BROKEN = Mutant(
    "the hooks fail",
    "all_replaced",
    (
        Substitution(
            "rotation/phases.py",
            "    for row in TABLE:\n",
            "    raise RuntimeError(TABLE)\n    for row in TABLE:\n",
        ),
    ),
)


def test_hooks_that_fail_are_named_before_all_that_follows(tmp_path: Path) -> None:
    log = tmp_path / "hooks.log"
    ran = run(tmp_path, "--log", str(log), package=mutate(BROKEN, tmp_path / "copy"))
    assert (ran.status, ran.stderr) == (1, "")
    told = [line[15:] for line in ran.stdout.splitlines() if line[:3] in {"Sat", "Sun"}]
    expired = [line for line in told if line.startswith("Karpenter expires shop-")]
    assert len(expired) == world.SIZE
    assert any("The hooks fail" in line for line in told)
    end = ran.stdout.splitlines()
    first = next(number for number, line in enumerate(end) if line.startswith("FAIL: "))
    assert end[first - 1].startswith("The hooks failed ")
    assert "500" in end[first - 1]
    assert "RuntimeError" in log.read_text()
