"""Each fault of the software is found by the check that is there for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.api import wait_until
from tests.e2e.checks import ALWAYS, complaints
from tests.e2e.control_plane import ControlPlane
from tests.e2e.history import Recorder
from tests.e2e.installation import Installation
from tests.e2e.interposer import Interposer
from tests.e2e.mutants import MUTANTS, Mutant, mutate
from tests.e2e.story import LONGEST_ROTATION, Story
from tests.e2e.world import World

pytestmark = pytest.mark.mutants


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_it_is_found(
    mutant: Mutant,
    plane: ControlPlane,
    installation: Installation,
    history: Recorder,
    tmp_path: Path,
) -> None:
    world = World(plane.api, f"mutant-{MUTANTS.index(mutant)}", stateful=1, stateless=1)
    story = Story(world, history)

    def lose(claim: str) -> None:
        if mutant.loses_the_successor:
            plane.api.delete("Pod", f"noderotation-surge-{claim}", "node-rotation-system")

    def found() -> bool:
        complained = complaints(history.changes, world.name, ALWAYS)
        return any(one.startswith(f"{mutant.found_by}: ") for one in complained)

    world.create()
    installation.govern(world.name)
    if mutant.blocked:
        world.require_available(world.size)
    story.begin()
    if mutant.takes_over:
        with installation.hooks() as original:
            story.state_of_a_claim("pending")
            original.kill()
    faulty = mutate(mutant, tmp_path)
    with (
        Interposer(plane, lose) as between,
        installation.hooks(server=between.url, package=faulty),
    ):
        wait_until(f"{mutant.found_by} complains: {mutant.name}", found, LONGEST_ROTATION)
    world.remove()
