"""Alerts on what was counted in the last hour, by whichever replica; and when none must fire."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from hooks.drain.reasons import Outcome
from hooks.rotation.outcomes import EXPIRED, FAILURE, FALLBACK, SUCCESS
from hooks.rotation.reasons import Reason
from tests.rules.alerting import AT_REST, DAY, HOUR, IN_WINDOW, Fired, begun, ended, judged, shown
from tests.rules.promtool import POOL, promtool, rule_groups

FAILED = Fired(
    "NodeRotationFailed",
    "Rotating a node of NodePool api failed.",
    "In the last hour 1 attempt(s) in NodePool api found no successor within readyTimeout, or were aborted."
    " They were rolled back: the old node serves as before, and is tried again after a backoff.",
    {"nodepool": POOL, "outcome": "failure"},
)
EXPIRY = Fired(
    "NodeRotationExpired",
    "A node of NodePool api went in the middle of its rotation.",
    "In the last hour 1 node(s) of NodePool api were deleted by somebody else (Karpenter at expireAfter, an"
    " interruption, or by hand) before a successor was ready. Their Pods may have had nowhere to go.",
    {"nodepool": POOL, "outcome": "expired"},
)
FELL_BACK = Fired(
    "NodeRotationForcefulFallback",
    "A node of NodePool api was deleted without a successor, in its window.",
    "In the last hour 1 node(s) of NodePool api were so close to their deadline that no successor could be"
    " ready in time; forcefulFallback allows to delete them all the same.",
)
COUNTED = [(FAILURE, FAILED), (EXPIRED, EXPIRY), (FALLBACK, FELL_BACK)]


def test_the_rules_are_rules(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": rule_groups()}))
    promtool("check", "rules", "--lint-fatal", str(file))


def test_nothing_fires_while_all_is_well(tmp_path: Path) -> None:
    story, first, _ = begun()
    shown(story, IN_WINDOW, Reason.SURGE_PENDING)
    story.minutes(30)
    first.count(ended(SUCCESS))
    shown(story, AT_REST)
    story.minutes(6 * HOUR)
    judged(tmp_path, story, {1: [], 29: [], 59: [], 65: [], 3 * HOUR: [], 6 * HOUR: []})


@pytest.mark.parametrize(("outcome", "fired"), COUNTED)
def test_what_one_replica_counted_is_told_for_an_hour(
    tmp_path: Path, outcome: str, fired: Fired
) -> None:
    story, first, _ = begun()
    first.count(ended(outcome))
    story.minutes(2 * HOUR)
    judged(tmp_path, story, {29: [], 32: [fired], 85: [fired], 95: []})


@pytest.mark.parametrize(("outcome", "fired"), COUNTED)
def test_what_a_new_replica_counted_before_its_first_scrape_is_told_as_well(
    tmp_path: Path, outcome: str, fired: Fired
) -> None:
    story, *_ = begun()
    new = story.replica("hooks-3")
    new.pass_over(AT_REST)
    new.count(ended(outcome))
    story.minutes(2 * HOUR)
    judged(tmp_path, story, {29: [], 31: [fired], 85: [fired], 95: []})


@pytest.mark.parametrize(("outcome", "fired"), COUNTED)
def test_what_was_counted_long_ago_is_not_told_again_after_failed_scrapes(
    tmp_path: Path, outcome: str, fired: Fired
) -> None:
    story, first, _ = begun()
    first.count(ended(outcome))
    story.minutes(2 * HOUR)
    story.outage(10)
    story.minutes(2 * HOUR)
    judged(tmp_path, story, {60: [fired]} | {minute: [] for minute in range(150, 270, 5)})


TIMED_OUT = Fired(
    "GracefulDrainTimeout",
    "The successor of a Deployment's only Pod wasn't ready in time.",
    "In the last hour 1 rollout(s) that an eviction had begun were not complete within their timeout, so the"
    " old Pod is let go without a successor. The Events GracefulDrainTimeout name the Deployments.",
    labels={},
)


ENDS = [(outcome, [TIMED_OUT] if outcome is Outcome.TIMEOUT else []) for outcome in Outcome]


@pytest.mark.parametrize(("outcome", "fired"), ENDS)
def test_a_rollout_that_timed_out_is_told_for_an_hour(
    tmp_path: Path, outcome: Outcome, fired: list[Fired]
) -> None:
    story, _, second = begun()
    second.rollouts.ended(outcome, timedelta(minutes=10))
    story.minutes(2 * HOUR)
    judged(tmp_path, story, {29: [], 32: fired, 85: fired, 95: []})


def test_a_rollout_that_timed_out_before_a_new_replica_s_first_scrape_is_told_as_well(
    tmp_path: Path,
) -> None:
    story, *_ = begun()
    new = story.replica("hooks-3")
    new.pass_over(AT_REST)
    new.rollouts.ended(Outcome.TIMEOUT, timedelta(minutes=10))
    story.minutes(2 * HOUR)
    judged(tmp_path, story, {29: [], 31: [TIMED_OUT], 85: [TIMED_OUT], 95: []})


def ending(span: str) -> Fired:
    return Fired(
        "GracefulDrainCertificateEnds",
        "The certificate of the eviction webhook ends in less than 7 days, or has ended.",
        f"It ended {span} ago (if negative: it ends in so long). Without it the API server lets evictions"
        " through without asking, and nothing else tells that graceful drains are off.",
        labels={},
    )


def test_a_certificate_that_ends_is_told_a_week_before_and_until_all_show_another(
    tmp_path: Path,
) -> None:
    story, *_ = begun()
    first, second = story.webhook("webhook-1"), story.webhook("webhook-2")
    first.not_after = second.not_after = float((7 * DAY + HOUR) * 60)
    story.minutes(DAY)
    second.not_after += 90 * DAY * 60
    story.minutes(7 * DAY)
    first.not_after = second.not_after
    story.minutes(HOUR)
    judged(
        tmp_path,
        story,
        {
            50: [],
            74: [],
            80: [ending("-6d 23h 40m 0s")],
            2 * DAY: [ending("-5d 1h 0m 0s")],
            7 * DAY + 2 * HOUR: [ending("1h 0m 0s")],
            8 * DAY + HOUR + 20: [],
        },
    )
