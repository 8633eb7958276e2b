"""The catalogue of scenarios on the real control plane.

Owns the order: first those that touch their own pools only, many at once, and beside them the story
of signals; then one by one those that change what all of them rest on. Each is a test of its own,
which waits until its scenario is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial

import pytest

from tests.e2e.audit import UNUSED, asked, excesses, granted, idle
from tests.e2e.conftest import Say
from tests.e2e.control_plane import ControlPlane
from tests.e2e.installation import SERVICE_ACCOUNT, Installation
from tests.e2e.played import PLAYED
from tests.e2e.playing import OnStage, is_crowded, play
from tests.e2e.plays import Plays
from tests.e2e.retelling import Retold
from tests.e2e.stage import HookServer
from tests.scenarios.plot import pools
from tests.scenarios.registry import Beside, Scenario, scenarios
from tests.scenarios.superfluous import Toll

AT_ONCE = 10
"""How many scenarios run at the same time: Karpenter's own waits are most of each."""
CATALOGUE = scenarios()
SIGNALS = "signals"
"""The fixture of the story that goes on beside them, when it is wanted."""


def of(beside: Beside) -> list[Scenario]:
    """The scenarios that may have this beside them."""
    return [one for one in CATALOGUE if one.beside is beside]


class Crowd:
    """The wanted scenarios that may have others beside them, and the story of signals if it is wanted."""

    def __init__(self, plays: Plays, signals: Future[None] | None) -> None:
        """They have begun."""
        self.plays = plays
        self._signals = signals

    def end(self) -> None:
        """Begin no other one, and wait for those that have begun."""
        self.plays.close()
        if self._signals is not None:
            # What it raises is for its own test.
            self._signals.exception()


@pytest.fixture(scope="module")
def crowd(request: pytest.FixtureRequest, server: HookServer, on_stage: OnStage) -> Iterator[Crowd]:
    """Begun when the first test asks for it."""
    wanted = [one for one in of(Beside.ALL) if one.name in chosen(request)]
    # Those that take longest begin first.
    ordered = sorted(wanted, key=lambda one: -one.takes)
    told = any(SIGNALS in getattr(one, "fixturenames", ()) for one in request.session.items)
    signals: Future[None] | None = request.getfixturevalue(SIGNALS) if told and wanted else None
    plays = Plays({one.name: partial(play, on_stage, one) for one in ordered}, AT_ONCE)
    begun = Crowd(plays, signals)
    yield begun
    server.ending.set()
    begun.end()


def chosen(request: pytest.FixtureRequest) -> set[str]:
    """The names of the scenarios that are tests of this run."""
    given = (getattr(item, "callspec", None) for item in request.session.items)
    played = (one.params.get("scenario") for one in given if one is not None)
    return {one.name for one in played if isinstance(one, Scenario)}


@pytest.mark.parametrize("scenario", of(Beside.ALL), ids=lambda one: one.name)
def test_beside_others(scenario: Scenario, crowd: Crowd) -> None:
    crowd.plays.outcome(scenario.name)


@pytest.mark.parametrize("scenario", of(Beside.NOTHING), ids=lambda one: one.name)
def test_alone(scenario: Scenario, crowd: Crowd, retold: Retold, on_stage: OnStage) -> None:
    """These leave the processors to whoever tells all scenarios once more."""
    assert retold is not None
    crowd.end()
    play(on_stage, scenario)


def test_few_rotations_bring_a_node_too_many(say: Say, request: pytest.FixtureRequest) -> None:
    """What each story forgave as a lost race is rare, over all of them."""
    toll = Toll()
    for scenario in filter(is_crowded, CATALOGUE):
        told = PLAYED.get(scenario.name, ())
        for pool in pools(told):
            toll += Toll.of(told, pool)
    say(toll.describe())
    # Of a few rotations one is too many already.
    assert toll.is_fair or chosen(request) != {one.name for one in CATALOGUE}


def test_the_rights_suffice(plane: ControlPlane, installation: Installation) -> None:
    """In all scenarios together nothing was refused, and nothing asked that isn't granted."""
    rights = granted(installation.manifests(), SERVICE_ACCOUNT)
    assert excesses(asked(plane.audit_log), rights) == []


def test_no_right_is_idle(
    plane: ControlPlane, installation: Installation, request: pytest.FixtureRequest
) -> None:
    """All scenarios together use each right that is granted, but for those that have their reason."""
    if chosen(request) != {one.name for one in CATALOGUE}:
        pytest.skip("only all scenarios together need all rights")
    rights = granted(installation.manifests(), SERVICE_ACCOUNT)
    assert idle(asked(plane.audit_log), rights) == set(UNUSED)
