"""Alerts on how a pool, or the hook server, is right now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hooks.rotation.decision import Figures
from tests.rules.alerting import AT_REST, HOUR, Fired, begun, judged, shown

STATES = [
    (
        replace(AT_REST, in_progress=True, drain_stuck=True),
        replace(AT_REST, in_progress=True),
        0,
        Fired(
            "NodeRotationDrainStuck",
            "A node of NodePool api doesn't get drained.",
            "Karpenter has been draining a node of NodePool api for longer than its terminationGracePeriod"
            " and two minutes (an hour, if it has none). The node is half empty, and no other one of this"
            " pool is rotated until it is gone.",
        ),
    ),
    (
        replace(AT_REST, short_lead=3),
        AT_REST,
        15,
        Fired(
            "NodeRotationShortLead",
            "Nodes of NodePool api may expire before a window comes.",
            "3 node(s) of NodePool api carry an expireAfter of their own that leaves them fewer windows than"
            " minRotationChances asks for.",
        ),
    ),
    (
        replace(AT_REST, retry_count=3),
        replace(AT_REST, retry_count=2),
        0,
        Fired(
            "NodeRotationRetries",
            "A node of NodePool api fails to be rotated again and again.",
            "One node of NodePool api has had 3 failed attempts, each with a longer backoff. It won't go away"
            " by itself.",
        ),
    ),
    (
        replace(AT_REST, conflict=True),
        AT_REST,
        15,
        Fired(
            "NodeRotationPolicyConflict",
            "NodePool api isn't rotated, because of its policies.",
            "Two policies claim NodePool api with equally many constraints, or the one that wins can't be"
            " read. Nothing is rotated until that is mended, and Karpenter's expiry goes on.",
        ),
    ),
]


@pytest.mark.parametrize(("bad", "good", "after", "fired"), STATES)
def test_a_state_is_told_while_it_lasts(
    tmp_path: Path, bad: Figures, good: Figures, after: int, fired: Fired
) -> None:
    story, first, _ = begun(good)
    # Only one of the replicas has seen it.
    first.pass_over(bad)
    story.minutes(30)
    shown(story, good)
    story.minutes(30)
    early: dict[int, list[Fired]] = {30 + after - 1: []} if after else {}
    judged(tmp_path, story, {29: [], **early, 30 + after: [fired], 59: [fired], 60: [], 89: []})


NO_PASS = Fired(
    "NodeRotationNoPass",
    "No NodePool has been looked after for 15 minutes.",
    "The hook server has answered no call for a NodePool, or its metrics can't be scraped. Nothing starts and"
    " nothing in flight gets on; the other alerts are blind meanwhile.",
    labels={},
)


def test_replicas_that_are_gone_are_told(tmp_path: Path) -> None:
    story, *_ = begun()
    story.replicas.clear()
    story.minutes(HOUR)
    judged(tmp_path, story, {29: [], 45: [], 60: [NO_PASS]})


def test_calls_that_all_fail_are_told(tmp_path: Path) -> None:
    story, *_ = begun()
    story.minutes(HOUR, 503)
    judged(tmp_path, story, {29: [], 45: [], 60: [NO_PASS]})


def test_one_replica_of_two_is_enough(tmp_path: Path) -> None:
    story, *_ = begun()
    story.replicas.pop()
    story.minutes(HOUR)
    judged(tmp_path, story, {60: [], 85: []})
