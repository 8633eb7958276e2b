"""Every combination of what the rows of a sync ask, against a telling of the design in other words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import Final

import pytest

from hooks.drain import progress as module
from hooks.drain.model import Deployment, Terms, Unreadable
from hooks.drain.progress import TABLE, confirm, progress
from hooks.drain.reasons import Stage
from hooks.drain.tracking import AHEAD
from tests.drain.things import DEPLOYMENT, NOW, TERMS, TIMEOUT

MICRO: Final = timedelta(microseconds=1)
VALUES: Final = {
    "none": None,
    "unusable": Unreadable("x"),
    "ahead": NOW + AHEAD + MICRO,
    "live": NOW - TIMEOUT + MICRO,
    "over": NOW - TIMEOUT,
}
COUNTS: Final = {
    "whole": DEPLOYMENT,
    "unready": replace(DEPLOYMENT, ready=0, unavailable=1),
    "two": replace(DEPLOYMENT, total=2, ready=2),
    "unobserved": replace(DEPLOYMENT, observed_generation=1),
}
FLAGS: Final = (False, True)
OPT_IN: Final = replace(TERMS, enabled_annotation="drain")


def cases() -> list[tuple[Deployment, str]]:
    found = []
    for value, counts, deleting, out, scaled, rolled, paused in product(
        VALUES, COUNTS, FLAGS, FLAGS, FLAGS, FLAGS, FLAGS
    ):
        since, there = VALUES[value], COUNTS[counts]
        if scaled and counts == "whole":
            there = replace(there, total=2, updated=2, ready=2)
        deployment = replace(
            there,
            restarted_at=since,
            rolled_for=since if rolled else NOW - timedelta(days=1),
            deleting=deleting,
            annotations={} if out else {"drain": "yes"},
            replicas=2 if scaled else 1,
            paused=paused,
        )
        excused = (deleting, out, scaled)
        found.append((deployment, told(value, counts, excused, rolled=rolled, paused=paused)))
    return found


def told(
    value: str, counts: str, excused: tuple[bool, bool, bool], *, rolled: bool, paused: bool
) -> str:
    if value == "none":
        return "NotTracked"
    if value in {"unusable", "ahead"}:
        return "TrackingUnreadable"
    words = zip(excused, ("DeploymentDeleting", "OptedOut", "NotASingleton"), strict=True)
    over = "RolloutTimedOut" if value == "over" else ""
    if rolled and counts == "whole":
        over = "RolloutCompleted"
    begins = "RolloutStarted" if counts == "whole" else "AnotherRolloutUnderWay"
    waits = "RolloutInProgress" if rolled else begins
    out_of_scope = next((word for holds, word in words if holds), "")
    return out_of_scope or over or ("NoSuccessorFirst" if paused else waits)


CASES: Final = tuple(cases())


def disagrees() -> bool:
    try:
        return any(progress(it, OPT_IN).stage.value != expected for it, expected in CASES)
    except RuntimeError:
        return True


def test_the_table_says_what_the_design_tells() -> None:
    for deployment, expected in CASES:
        assert progress(deployment, OPT_IN).stage.value == expected, deployment


def test_every_row_is_reached() -> None:
    assert set(Counter(expected for _, expected in CASES)) == {stage.value for stage in Stage}


def test_a_step_patches_or_clears_or_waits() -> None:
    clears = {
        "TrackingUnreadable",
        "DeploymentDeleting",
        "OptedOut",
        "NotASingleton",
        "RolloutCompleted",
        "RolloutTimedOut",
        "NoSuccessorFirst",
    }
    for deployment, expected in CASES:
        step = progress(deployment, OPT_IN)
        assert step.clear == (expected in clears) == (step.ending is not None)
        assert (step.patch is not None) == (expected == "RolloutStarted")
        assert (step.look_again is None) == (step.clear or expected == "NotTracked")
        assert step.look_again is None or step.look_again > timedelta(0)
        confirmed = confirm(deployment, OPT_IN)
        assert confirmed == step or not (step.patch or step.clear or confirmed.clear)


@pytest.mark.parametrize("at", range(len(TABLE)), ids=lambda at: f"{at}-{TABLE[at].stage}")
def test_a_table_without_a_row_gives_itself_away(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TABLE", (*TABLE[:at], *TABLE[at + 1 :]))
    assert disagrees()


EXCLUSIVE: Final = {
    # Two neighbours that no Deployment can match both: their order says nothing.
    (Stage.NOT_TRACKED, Stage.TRACKING_UNREADABLE),
}


@pytest.mark.parametrize("at", range(len(TABLE) - 1), ids=lambda at: f"{at}-{TABLE[at].stage}")
def test_two_rows_the_other_way_round_give_themselves_away(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = (TABLE[at].stage, TABLE[at + 1].stage)
    swapped = (*TABLE[:at], TABLE[at + 1], TABLE[at], *TABLE[at + 2 :])
    monkeypatch.setattr(module, "TABLE", swapped)
    assert disagrees() is (pair not in EXCLUSIVE), pair


def test_what_this_process_began_is_as_good_as_the_marker() -> None:
    for deployment, _ in CASES:
        marked = progress(replace(deployment, rolled_for=deployment.restarted_at), OPT_IN)
        assert progress(deployment, OPT_IN, begun=True) == marked


@pytest.mark.parametrize("now", [NOW - timedelta(days=1), NOW, NOW + timedelta(days=1)])
def test_no_moment_is_too_odd(now: datetime) -> None:
    for deployment, _ in CASES:
        assert progress(deployment, Terms(now, TIMEOUT)).stage in Stage
