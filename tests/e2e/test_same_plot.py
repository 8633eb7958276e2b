"""Each scenario tells the same on the real control plane and on the embedded cluster.

What is compared is the plot: what came true of whom, in which order (:mod:`tests.scenarios.plot`).
What may differ has its reason in :mod:`tests.scenarios.accepted`.
A difference is a fault of the embedded cluster: it is mended there and kept as a test, and
docs/decisions/0006 tells of it. The scenarios must have been played before, in this session.

The real cluster has its chances, with ten scenarios at once the more. A fault of the embedded one
differs every time; so a scenario that tells something else is played once more on both, and only
what differs again is a difference. Few may need that.
"""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Say
from tests.e2e.played import COMPARED, FAILED, PLAYED
from tests.e2e.playing import play_again
from tests.e2e.retelling import Retold, retold_as
from tests.e2e.test_scenarios import CATALOGUE
from tests.scenarios.plot import compare
from tests.scenarios.registry import Scenario

pytestmark = [pytest.mark.usefixtures("plane"), pytest.mark.plots]

IN_FULL = 0.8
"""The part of all comparisons that must reach the end of the scenario."""


AT_MOST_AGAIN = 3
"""How many of all scenarios may be played once more: what differs more often is no chance."""
AGAIN: dict[str, tuple[str, ...]] = {}
"""The names of those that were, and what differed the first time."""


@pytest.mark.parametrize("scenario", CATALOGUE, ids=lambda one: one.name)
def test_both_tell_the_same(
    scenario: Scenario, retold: Retold, say: Say, request: pytest.FixtureRequest
) -> None:
    if scenario.name in FAILED:
        pytest.skip("it failed on the real control plane already")
    assert scenario.name in PLAYED, "not played on the real control plane in this session"
    embedded = retold[scenario.name].result()
    compared = compare(scenario.name, PLAYED[scenario.name], embedded)
    if compared.differences and len(AGAIN) < AT_MOST_AGAIN:
        AGAIN[scenario.name] = compared.differences
        say("\n".join(("played once more, as it differs:", *compared.differences)))
        name = f"{scenario.name}-again"
        real = play_again(request.getfixturevalue("on_stage"), scenario, name)
        compared = compare(scenario.name, real, retold_as(scenario.name, name))
    COMPARED[scenario.name] = compared
    assert compared.differences == ()


def test_most_are_compared_to_their_ends(say: Say) -> None:
    """A lost race may cut a comparison short, but not many of them."""
    whole, cut = (
        sorted(name for name, one in COMPARED.items() if one.in_full is in_full)
        for in_full in (True, False)
    )
    say(
        f"plots: {len(whole)} of {len(COMPARED)} compared in full, {len(cut)} cut"
        + (f" ({', '.join(cut)})" if cut else "")
        + f"; {len(AGAIN)} played once more (at most {AT_MOST_AGAIN} may)"
    )
    assert COMPARED, "nothing was compared"
    # Of a few comparisons one cut is too many already.
    assert len(whole) >= IN_FULL * len(COMPARED) or len(COMPARED) + len(FAILED) < len(CATALOGUE)
