"""The software with one fault each can be made, and a fault that no longer applies is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.verdict.checks import ALWAYS, AT_THE_END, IN_THEIR_TIME, ROOM, SINGLETONS
from tests.support.mutants import (
    DRAIN_MUTANTS,
    MORE_MUTANTS,
    MUTANTS,
    Mutant,
    MutantError,
    Substitution,
    mutate,
)

EVERY = (*MUTANTS, *MORE_MUTANTS, *DRAIN_MUTANTS)


@pytest.mark.parametrize("mutant", EVERY, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_each_mutant_can_be_made(mutant: Mutant, tmp_path: Path) -> None:
    copy = mutate(mutant, tmp_path) / "hooks"
    for file in {one.file for one in mutant.substitutions}:
        compile((copy / file).read_text(), file, "exec")
    for one in mutant.substitutions:
        changed = (copy / one.file).read_text()
        assert one.old not in changed if one.new == "" else one.new in changed


def test_each_mutant_is_to_be_found_by_a_check_that_exists() -> None:
    assert {mutant.found_by for mutant in MUTANTS} <= {check.__name__ for check in ALWAYS}
    every = {check.__name__ for check in (*ALWAYS, *AT_THE_END, *IN_THEIR_TIME, *ROOM)}
    assert {mutant.found_by for mutant in MORE_MUTANTS} <= every
    of_drains = {check.__name__ for check in SINGLETONS}
    assert {mutant.found_by for mutant in DRAIN_MUTANTS} <= of_drains


def test_a_mutant_without_its_text_fails_loudly(tmp_path: Path) -> None:
    stale = Mutant("stale", "nobody", (Substitution("names.py", "no such text", ""),))
    with pytest.raises(MutantError, match=r"stale: names\.py has 0 times 'no such text'"):
        mutate(stale, tmp_path)
