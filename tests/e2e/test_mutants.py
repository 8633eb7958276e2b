"""Each fault of the software is found by the check that is there for it.

All mutants run at the same time, each as the hook server of its own pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from hooks.verdict.checks import ALWAYS, complaints
from tests.e2e.control_plane import ControlPlane
from tests.e2e.history import Recorder, is_of
from tests.e2e.installation import Installation
from tests.e2e.interposer import Interposer
from tests.e2e.plays import Plays
from tests.e2e.story import LONGEST_ROTATION, Story
from tests.e2e.world import World
from tests.support.mutants import MUTANTS, Mutant, mutate
from tests.support.waiting import wait_until

pytestmark = pytest.mark.mutants


@pytest.fixture(scope="module")
def plays(
    request: pytest.FixtureRequest,
    plane: ControlPlane,
    installation: Installation,
    history: Recorder,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Plays]:
    """All wanted mutants, begun when the first test asks for one."""
    given = (getattr(item, "callspec", None) for item in request.session.items)
    wanted = [one.params["mutant"] for one in given if one is not None and "mutant" in one.params]

    folder = tmp_path_factory.mktemp("mutants")

    def play(mutant: Mutant) -> None:
        run(mutant, plane, installation, history, folder / str(MUTANTS.index(mutant)))

    begun = Plays({one.name: partial(play, one) for one in wanted}, at_once=len(MUTANTS))
    yield begun
    begun.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_it_is_found(mutant: Mutant, plays: Plays) -> None:
    plays.outcome(mutant.name)


def run(
    mutant: Mutant, plane: ControlPlane, installation: Installation, history: Recorder, folder: Path
) -> None:
    """Let it rotate a pool of its own until the right check complains."""
    world = World(plane.api, f"mutant-{MUTANTS.index(mutant)}", stateful=1, stateless=1)
    story, since = Story(world, history), len(history.changes)

    def lose(claim: str) -> None:
        if mutant.loses_the_successor:
            plane.api.delete("Pod", f"noderotation-surge-{claim}", "node-rotation-system")

    def found() -> bool:
        told = [one for one in history.changes[since:] if is_of(world.name, one)]
        complained = complaints(told, world.name, ALWAYS)
        return any(one.startswith(f"{mutant.found_by}: ") for one in complained)

    world.create()
    installation.govern(world.name)
    if mutant.blocked:
        world.require_available(world.size)
    story.begin()
    if mutant.takes_over:
        with installation.hooks(pools=world.name) as original:
            story.state_of_a_claim("pending")
            original.kill()
    faulty = mutate(mutant, folder)
    with (
        Interposer(plane, lose) as between,
        installation.hooks(server=between.url, package=faulty, pools=world.name),
    ):
        wait_until(f"{mutant.found_by} complains: {mutant.name}", found, LONGEST_ROTATION)
    world.remove()
