"""Alerts on what doesn't happen: candidates that are left, and windows in which nothing is completed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.rotation.outcomes import SUCCESS
from hooks.rotation.reasons import Reason
from tests.rules.alerting import (
    AT_REST,
    DAY,
    DUE,
    HOUR,
    IN_WINDOW,
    Fired,
    begun,
    ended,
    judged,
    shown,
)


def left(reason: str, span: str) -> Fired:
    return Fired(
        "NodeRotationCandidatesLeft",
        "NodePool api still has nodes to rotate after two windows.",
        f"For {span} NodePool api has had candidates without a break, which is longer than from one window to"
        " the next but one. What isn't rotated before its deadline is deleted by Karpenter, without a"
        f" successor. Reason of the last pass: {reason}.",
    )


def test_candidates_that_are_left_after_two_windows_are_told_with_the_reason(
    tmp_path: Path,
) -> None:
    story, *_ = begun()
    shown(story, DUE, Reason.FROZEN)
    story.minutes(DAY)
    story.outage(40)
    story.minutes(DAY)
    fired = left("Frozen", "2d 0h 2m 0s")
    judged(tmp_path, story, {DAY: [], 29 + 2 * DAY: [], 31 + 2 * DAY: [fired]})


def test_a_pool_that_had_nothing_to_do_in_between_has_no_candidates_left(tmp_path: Path) -> None:
    story, *_ = begun(DUE, DAY)
    shown(story, replace(DUE, candidates=0, in_progress=True), Reason.DRAINING)
    story.minutes(10)
    shown(story, AT_REST)
    story.minutes(10)
    shown(story, DUE, Reason.OUTSIDE_WINDOW)
    story.minutes(DAY + HOUR)
    judged(tmp_path, story, {2 * DAY + 10: [], 2 * DAY + HOUR: []})


def test_the_last_candidate_is_left_also_while_it_is_in_flight(tmp_path: Path) -> None:
    story, *_ = begun(DUE, DAY)
    shown(story, replace(AT_REST, in_progress=True), Reason.DRAINING)
    story.minutes(DAY + HOUR)
    judged(tmp_path, story, {2 * DAY + 2: [left("Draining", "2d 0h 2m 0s")]})


def test_a_window_that_never_closes_counts_as_one_a_day(tmp_path: Path) -> None:
    story, *_ = begun(replace(DUE, period=timedelta(minutes=1)), 2 * DAY - 1)
    story.minutes(10)
    fired = left("NoCandidate", "2d 0h 1m 0s")
    judged(tmp_path, story, {DAY: [], 2 * DAY: [], 2 * DAY + 1: [fired]})


def stalled(reason: str, span: str) -> Fired:
    return Fired(
        "NodeRotationNothingCompleted",
        "The window of NodePool api is open, and nothing is completed.",
        f"For {span} NodePool api has had an open window and nodes to rotate, and no rotation was completed:"
        f" none begins, or one takes longer than it may. Reason of the last pass: {reason}.",
    )


def test_an_open_window_in_which_nothing_is_completed_is_told_with_the_reason(
    tmp_path: Path,
) -> None:
    story, *_ = begun(DUE)
    shown(story, replace(IN_WINDOW, in_progress=False), Reason.NO_HEADROOM)
    story.minutes(2 * HOUR)
    fired = stalled("NoHeadroom", "31m 0s")
    judged(tmp_path, story, {29: [], 59: [], 60: [fired]})


def test_failures_that_follow_each_other_have_their_time(tmp_path: Path) -> None:
    story, *_ = begun(DUE)
    for _ in range(3):
        shown(story, replace(IN_WINDOW, in_progress=True), Reason.SURGE_PENDING)
        story.minutes(14)
        shown(story, replace(IN_WINDOW, in_progress=False), Reason.RETRYING)
        story.minutes(2)
    judged(tmp_path, story, {minute: [] for minute in range(30, 78, 2)})


def test_a_window_that_shuts_before_one_rotation_may_be_over_is_long_enough(
    tmp_path: Path,
) -> None:
    bound = timedelta(days=1)
    story, *_ = begun(replace(DUE, t_rot=bound))
    shown(story, replace(IN_WINDOW, in_progress=False, t_rot=bound), Reason.NO_HEADROOM)
    story.minutes(HOUR)
    judged(tmp_path, story, {59: [], 60: [stalled("NoHeadroom", "31m 0s")]})


def test_a_rotation_in_flight_that_gets_nowhere_is_told_too(tmp_path: Path) -> None:
    story, *_ = begun(DUE)
    alone = replace(IN_WINDOW, candidates=0, in_progress=True)
    shown(story, alone, Reason.SURGE_PENDING)
    story.minutes(2 * HOUR)
    judged(tmp_path, story, {107: [stalled("SurgePending", "1h 18m 0s")]})


@pytest.mark.parametrize("reason", [Reason.SURGE_PENDING, Reason.DRAINING, Reason.COOLING_DOWN])
def test_a_window_in_which_one_rotation_follows_the_other_is_no_alert(
    tmp_path: Path, reason: Reason
) -> None:
    story, first, second = begun(DUE)
    for turn in range(6):
        shown(story, replace(IN_WINDOW, in_progress=reason is not Reason.COOLING_DOWN), reason)
        story.minutes(60)
        (first, second)[turn % 2].count(ended(SUCCESS, f"e{turn}"))
    judged(tmp_path, story, {minute: [] for minute in range(30, 390, 20)})


@pytest.mark.parametrize(
    "reason",
    [
        Reason.COOLING_DOWN,
        Reason.DRY_RUN,
        Reason.EXCLUDED,
        Reason.FROZEN,
        Reason.SUSPENDED,
    ],
)
def test_a_pool_that_is_meant_to_wait_is_no_alert(tmp_path: Path, reason: Reason) -> None:
    story, *_ = begun(DUE)
    shown(story, IN_WINDOW, reason)
    story.minutes(3 * HOUR)
    judged(tmp_path, story, {3 * HOUR: []})
