"""Each row of what a sync does with a tracked Deployment, the whole step compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from hooks.drain.consequences import triggered
from hooks.drain.model import Deployment, Strategy, Unreadable
from hooks.drain.progress import RESYNC, SOON, TABLE, Ending, Step, confirm, progress
from hooks.drain.reasons import Outcome, Stage
from hooks.drain.tracking import findings
from hooks.drain.writes import Announcement, PatchDeployment, announcement
from tests.drain.things import NOW, SECOND, STAMP, TERMS, TIMEOUT, TRACKED

ROLLED = replace(TRACKED, rolled_for=NOW)
ROLLING = replace(ROLLED, total=2, unavailable=1)
LATER = NOW + timedelta(seconds=70)
AT_THE_END = NOW + TIMEOUT
MICRO = timedelta(microseconds=1)
BEGINS = "a rollout begins, so that a successor comes before the only Pod goes"


def at(deployment: Deployment, moment: datetime = NOW) -> Step:
    return progress(deployment, replace(TERMS, now=moment))


def cleared(stage: Stage, outcome: Outcome, since: str = STAMP) -> Step:
    return Step(stage, clear=True, ending=Ending(outcome, f"deployment-1 {since} {outcome}"))


def ended(
    stage: Stage, outcome: Outcome, event: Announcement, took: timedelta | None = None
) -> Step:
    ending = Ending(outcome, event.name, took)
    return Step(stage, clear=True, ending=ending, announcements=(event,))


def rolls(deployment: Deployment = TRACKED, look_again: timedelta = RESYNC) -> Step:
    return Step(
        Stage.ROLLS,
        patch=PatchDeployment(
            "shop",
            "web",
            "deployment-1",
            "7",
            (("graceful-drain.stonal.com/rolled-for", STAMP),),
            restarted_at=STAMP,
        ),
        look_again=look_again,
        announcements=(triggered(deployment, STAMP, BEGINS, NOW),),
    )


def test_what_is_not_tracked_is_left_alone() -> None:
    assert at(replace(TRACKED, restarted_at=None)) == Step(Stage.NOT_TRACKED)
    assert at(replace(TRACKED, restarted_at=None, deleting=True)) == Step(Stage.NOT_TRACKED)


def test_a_rollout_that_was_asked_for_is_begun_in_one_patch() -> None:
    assert at(TRACKED) == rolls()


def test_a_marker_of_an_earlier_rollout_is_none() -> None:
    earlier = replace(TRACKED, rolled_for=NOW - SECOND)
    assert at(earlier) == rolls(earlier)
    assert at(replace(TRACKED, rolled_for=Unreadable("?"))) == rolls()


def test_the_patch_repeated_later_is_the_same_patch() -> None:
    assert at(TRACKED, LATER).patch == at(TRACKED).patch


def test_the_webhook_and_the_sync_tell_one_beginning() -> None:
    told = triggered(TRACKED, STAMP, "another note", LATER)
    assert at(TRACKED).announcements[0].name == told.name


def test_a_rollout_under_way_is_waited_for_and_never_patched_again() -> None:
    assert at(ROLLING, LATER) == Step(Stage.ROLLING, look_again=RESYNC)
    reverted = replace(ROLLED, observed_generation=1)
    assert at(reverted, LATER) == Step(Stage.ROLLING, look_again=RESYNC)


@pytest.mark.parametrize(
    "unsettled",
    [
        replace(TRACKED, observed_generation=1),
        replace(TRACKED, updated=0),
        replace(TRACKED, total=2),
    ],
    ids=["not-observed", "nothing-updated", "two-pods"],
)
def test_nothing_is_rolled_on_top_of_a_rollout_of_somebody_else(unsettled: Deployment) -> None:
    assert at(unsettled) == Step(Stage.NOT_SETTLED, look_again=SOON)


@pytest.mark.parametrize(
    ("left", "look_again"),
    [
        (timedelta(seconds=11), RESYNC),
        (timedelta(seconds=9), timedelta(seconds=9)),
        (MICRO, MICRO),
    ],
)
def test_the_timeout_is_an_edge_of_its_own(left: timedelta, look_again: timedelta) -> None:
    assert at(ROLLING, AT_THE_END - left) == Step(Stage.ROLLING, look_again=look_again)
    assert at(TRACKED, AT_THE_END - left).look_again == look_again
    unsettled = replace(TRACKED, total=2)
    assert at(unsettled, AT_THE_END - left).look_again == min(SOON, look_again)


def test_a_complete_rollout_is_cleared_and_told_with_what_it_took() -> None:
    note = f"the rollout that was requested at {STAMP} is complete after 1m10s"
    event = announcement(ROLLED, "GracefulDrainCompleted", STAMP, note, LATER)
    expected = ended(Stage.COMPLETED, Outcome.COMPLETED, event, timedelta(seconds=70))
    assert at(ROLLED, LATER) == expected


def test_it_is_complete_also_when_that_is_seen_late() -> None:
    assert at(ROLLED, AT_THE_END + SECOND).stage is Stage.COMPLETED


def test_a_clock_that_is_behind_makes_no_negative_duration() -> None:
    ending = at(ROLLED, NOW - SECOND).ending
    assert ending is not None
    assert ending.took == timedelta(0)


def test_complete_without_the_marker_is_not_begun() -> None:
    assert at(replace(ROLLED, rolled_for=NOW - SECOND)).stage is Stage.ROLLS


@pytest.mark.parametrize("deployment", [TRACKED, ROLLING, replace(TRACKED, paused=True)])
def test_the_timeout_clears_and_warns(deployment: Deployment) -> None:
    note = (
        f"the rollout that was requested at {STAMP} wasn't complete within 10m0s:"
        " evictions aren't denied any longer"
    )
    event = announcement(deployment, "GracefulDrainTimeout", STAMP, note, AT_THE_END)
    expected = ended(Stage.TIMED_OUT, Outcome.TIMEOUT, event, TIMEOUT)
    assert at(deployment, AT_THE_END) == expected


@pytest.mark.parametrize("deployment", [TRACKED, ROLLING])
def test_a_rollout_that_cannot_bring_a_successor_first_is_given_up(deployment: Deployment) -> None:
    stuck = replace(deployment, strategy=Strategy(max_surge=0, max_unavailable=1))
    note = (
        "Deployment shop/web can't get a ready successor first;"
        " spec.strategy.rollingUpdate.maxSurge stands against it: set it to 1 or more"
    )
    event = announcement(stuck, "GracefulDrainImpossible", STAMP, note, LATER)
    expected = ended(Stage.NO_SUCCESSOR_FIRST, Outcome.IMPOSSIBLE, event)
    assert at(stuck, LATER) == expected


def test_what_is_out_of_scope_is_cleared_silently() -> None:
    for deployment in (TRACKED, ROLLED, ROLLING):
        deleting = replace(deployment, deleting=True)
        assert at(deleting) == cleared(Stage.DELETING, Outcome.DELETED)
        for replicas in (0, 2):
            scaled = replace(deployment, replicas=replicas)
            assert at(scaled) == cleared(Stage.NOT_A_SINGLETON, Outcome.SCALED)
        terms = replace(TERMS, enabled_annotation="drain")
        assert progress(deployment, terms) == cleared(Stage.OPTED_OUT, Outcome.OPTED_OUT)


def test_tracking_that_is_no_good_is_removed_and_told() -> None:
    unreadable = replace(TRACKED, restarted_at=Unreadable("soon"))
    # That end is known again by a hash of what stood there, which may be long.
    expected = cleared(Stage.TRACKING_UNREADABLE, Outcome.UNREADABLE, "4a754148b88a68e1")
    assert at(unreadable) == replace(expected, findings=findings(unreadable, TERMS))
    ahead = replace(TRACKED, restarted_at=NOW + timedelta(days=1))
    expected = cleared(Stage.TRACKING_UNREADABLE, Outcome.UNREADABLE, "2026-11-30T20:00:49Z")
    assert at(ahead) == replace(expected, findings=findings(ahead, TERMS))


def test_two_values_that_are_no_use_are_two_ends() -> None:
    far = NOW + timedelta(days=1)
    values = (Unreadable(""), Unreadable("soon"), Unreadable("\ud800"), far, far + SECOND)
    ends = {at(replace(TRACKED, restarted_at=value)).ending for value in values}
    assert len(ends) == len(values)


def test_an_invalid_timeout_is_told_and_the_default_counts() -> None:
    odd = replace(ROLLING, rollout_timeout=timedelta(0))
    assert at(odd, LATER) == Step(Stage.ROLLING, look_again=RESYNC, findings=findings(odd, TERMS))
    assert at(odd, AT_THE_END).stage is Stage.TIMED_OUT


def test_a_timeout_of_its_own_counts() -> None:
    short = replace(ROLLING, rollout_timeout=timedelta(minutes=1))
    assert at(short, NOW + timedelta(minutes=1)).stage is Stage.TIMED_OUT
    assert at(short, NOW + timedelta(seconds=59)) == Step(Stage.ROLLING, look_again=SECOND)


def test_the_live_deployment_has_the_last_word_on_a_patch() -> None:
    assert confirm(TRACKED, TERMS) == rolls()
    assert confirm(ROLLING, TERMS) == Step(Stage.ROLLING, look_again=SOON)
    assert confirm(None, TERMS) == Step(Stage.NOT_TRACKED, look_again=SOON)
    untracked = replace(TRACKED, restarted_at=None)
    assert confirm(untracked, TERMS) == Step(Stage.NOT_TRACKED, look_again=SOON)


def test_the_live_deployment_has_the_last_word_on_an_end() -> None:
    for live in (ROLLED, replace(TRACKED, replicas=2), replace(TRACKED, deleting=True)):
        assert progress(live, TERMS).clear
        assert confirm(live, TERMS) == progress(live, TERMS)
    odd = replace(ROLLING, rollout_timeout=timedelta(0))
    assert confirm(odd, TERMS).findings == findings(odd, TERMS)


def test_what_was_begun_is_not_begun_again_whatever_became_of_the_marker() -> None:
    assert progress(TRACKED, TERMS).stage is Stage.ROLLS
    assert progress(TRACKED, TERMS, begun=True).stage is Stage.COMPLETED
    moving = replace(TRACKED, total=2)
    assert progress(moving, TERMS, begun=True) == Step(Stage.ROLLING, look_again=RESYNC)
    assert confirm(moving, TERMS, begun=True) == Step(Stage.ROLLING, look_again=SOON)


def test_nothing_is_rolled_while_nothing_is_ready() -> None:
    gone = replace(TRACKED, ready=0, unavailable=1)
    assert at(gone) == Step(Stage.NOT_SETTLED, look_again=SOON)
    assert at(gone, AT_THE_END).stage is Stage.TIMED_OUT


def test_each_stage_has_one_row() -> None:
    assert [row.stage for row in TABLE] == list(Stage)
