"""What the story of signals leaves, word for word: moments, Events, log lines, counters.

TIME stands for a moment, SPAN for a span of time, POOL, POD and claims by number for names; "..."
for what is the cluster's own (a scheduler's words, sizes of machines, counts of Pods).
"""

from __future__ import annotations

from pathlib import Path

from tests.scenarios.signals.plot import Heard, Moment

FOLDER = Path(__file__).parents[2] / "fixtures" / "signals"
"""Each Event and each log line is one line of a file."""
MOMENTS = [
    Moment("nobody governs", {"reason": "NoPolicy"}, "pools None/None, window unknown"),
    Moment(
        "the policy is invalid",
        {"policy_conflict": 1.0, "reason": "PolicyInvalid"},
        "False Invalid, pools 1/0, window unknown, Idle",
    ),
    Moment(
        "the window is closed",
        {"reason": "OutsideWindow"},
        "True Accepted, pools 1/0, window closed, Idle",
    ),
    Moment(
        "two policies tie",
        {"policy_conflict": 1.0, "reason": "PolicyConflict"},
        "False Conflict, pools 0/0, window closed",
    ),
    Moment(
        "a node is due",
        {"candidates": 1.0, "reason": "OutsideWindow"},
        "True Accepted, pools 1/0, window closed, Idle",
    ),
    Moment(
        "no node has room",
        {"in_progress": 1.0, "window_active": 1.0, "reason": "SurgeUnschedulable"},
        "True Accepted, pools 1/1, window open, Surging",
    ),
    Moment(
        "it has failed",
        {"window_active": 1.0, "retry_count": 1.0, "reason": "NoCandidate"},
        "True Accepted, pools 1/0, window open, Idle",
    ),
    Moment(
        "it was rotated",
        {"window_active": 1.0, "reason": "NoCandidate"},
        "True Accepted, pools 1/0, window open, Idle",
    ),
    Moment(
        "the drain is stuck",
        {"in_progress": 1.0, "window_active": 1.0, "drain_stuck": 1.0, "reason": "DrainStuck"},
        "True Accepted, pools 1/1, window open, Draining",
    ),
    Moment(
        "it is over",
        {"window_active": 1.0, "reason": "NoCandidate"},
        "True Accepted, pools 1/0, window open, Idle",
    ),
    Moment(
        "the next one is on its way",
        {"in_progress": 1.0, "window_active": 1.0, "reason": "SurgeUnschedulable"},
        "True Accepted, pools 1/1, window open, Surging",
    ),
    Moment("nobody governs any more", {"reason": "NoPolicy"}, "pools None/None, window unknown"),
]

COUNTS = {
    "completed_total failure": 1.0,
    "completed_total success": 2.0,
    "duration_seconds_count drain": 2.0,
    "duration_seconds_count surge_wait": 2.0,
}


def _told(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()


HEARD = (
    Heard(_told("main-events.txt"), _told("main-lines.txt"), COUNTS),
    Heard(_told("brief-events.txt"), _told("brief-lines.txt"), {"completed_total expired": 1.0}),
)
"""What is told of the pool that everything happens to, and of the one whose node expires."""
