"""What an alert is expected to say, and the pools that it is tried on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hooks.rotation.decision import Decision, Figures
from hooks.rotation.outcomes import DRAIN, SUCCESS, SURGE_WAIT
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import Announce
from tests.monitoring_files import ALERTS
from tests.rules.promtool import POOL, Replica, Story, judge

HOUR = 60
DAY = 24 * HOUR
NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)
AT_REST = Figures(
    age_threshold=timedelta(days=5),
    chances=2,
    capacity=7,
    t_rot_est=timedelta(minutes=25),
    t_rot=timedelta(minutes=77),
    period=timedelta(days=1),
    next_window=NOW,
    slack=timedelta(days=9),
)
DUE = replace(AT_REST, candidates=2)
IN_WINDOW = replace(DUE, window_active=True)


@dataclass
class Fired:
    """An alert that is expected, beside the link to its section."""

    alert: str
    summary: str
    description: str
    labels: Mapping[str, str] = field(default_factory=lambda: {"nodepool": POOL})


def judged(folder: Path, story: Story, expected: dict[int, list[Fired]]) -> None:
    """At each of these minutes the expected alerts fire, and no others."""
    tests = []
    for minute, alerts in expected.items():
        fired = {one.alert: one for one in alerts}
        tests += [
            {
                "eval_time": f"{minute}m",
                "alertname": name,
                "exp_alerts": [alert(fired[name])] if name in fired else [],
            }
            for name in ALERTS
        ]
    judge(folder, story, alert_rule_test=tests)


def alert(fired: Fired) -> dict[str, Any]:
    return {
        "exp_labels": {**ALERTS[fired.alert]["labels"], **fired.labels},
        "exp_annotations": {
            "summary": fired.summary,
            "description": fired.description,
            "runbook_url": f"docs/runbook.md#{fired.alert.lower()}",
        },
    }


def ended(outcome: str, name: str = "e") -> Decision:
    spans = ((SURGE_WAIT, timedelta(minutes=3)), (DRAIN, timedelta(minutes=8)))
    told = Announce(name, "Reason", outcome, warning=False, kind="NodePool", regarding=POOL,
                    regarding_uid="uid", note="", at=NOW,
                    durations=spans if outcome == SUCCESS else ())  # fmt: skip
    return Decision("9", Reason.ROTATION_COMPLETED, announcements=(told,))


def begun(figures: Figures = AT_REST, minutes: int = 30) -> tuple[Story, Replica, Replica]:
    """Two replicas that have both seen the pool for a while."""
    story = Story()
    first, second = story.replica("hooks-1"), story.replica("hooks-2")
    shown(story, figures)
    story.minutes(minutes)
    return story, first, second


def shown(story: Story, figures: Figures, reason: Reason = Reason.NO_CANDIDATE) -> None:
    for replica in story.replicas:
        replica.pass_over(figures, reason)
