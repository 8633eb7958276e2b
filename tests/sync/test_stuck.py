"""What is told of a drain that is stuck or can't end, word for word, and what is read for it."""

from __future__ import annotations

import pytest

from tests.support.folders import load, run

DRAINING = "Drained Unknown (Draining), VolumesDetached not begun, InstanceTerminating not begun"
SINCE = "2026-11-29T19:59:10Z"
JOBS = "; ".join(f"default/job-{at:02} (karpenter.sh/do-not-disrupt)" for at in range(10))
TOLD = {
    "stuck-behind-a-budget": ("default/web-1 (budget web)", DRAINING),
    "stuck-behind-two-budgets": (
        "default/web-1 (2 budgets at once, all and web: no Pod of several can be evicted)",
        DRAINING,
    ),
    "stuck-behind-do-not-disrupt": ("default/web-1 (karpenter.sh/do-not-disrupt)", DRAINING),
    "stuck-on-a-pod-that-does-not-die": (
        "default/web-1 (terminating, its grace ended at 2026-11-29T20:01:00Z)",
        DRAINING,
    ),
    "stuck-behind-a-crowd": (f"{JOBS}; and 3 more", DRAINING),
    "stuck-after-the-drain": (
        "no Pod is held",
        "Drained True, VolumesDetached True, InstanceTerminating not begun",
    ),
    "stuck-behind-a-budget-that-allows": ("no Pod is held", DRAINING),
    "stuck-and-the-budgets-are-not-read": (
        "default/web-1 (karpenter.sh/do-not-disrupt); the budgets could not be read",
        DRAINING,
    ),
    "stuck-and-budgets-are-not-served": ("the budgets could not be read", DRAINING),
    "stuck-and-the-pods-are-not-read": ("the Pods could not be read", DRAINING),
    "stuck-and-the-claim-is-not-read": ("default/web-1 (budget web)", "could not be read"),
    "drain-is-stuck": (
        "no Pod is held",
        "Drained not begun, VolumesDetached not begun, InstanceTerminating not begun",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_stuck_drain_tells_who_blocks_it_and_how_far_it_is(name: str) -> None:
    (line,) = run(load(name)).report["log"]
    blockers, progress = TOLD[name]
    assert line == {
        "event": "drain stuck",
        "log_level": "warning",
        "nodepool": "api",
        "nodeclaim": "old",
        "reason": "DrainStuck",
        "request_id": "",
        "since": SINCE,
        "blockers": blockers,
        "progress": progress,
    }


def test_nothing_is_told_of_a_drain_that_is_over_by_now() -> None:
    done = run(load("stuck-until-a-moment-ago"))
    assert (done.report["log"], done.writes) == ([], [])


def test_a_drain_that_can_not_end_tells_which_pods_stay() -> None:
    (line,) = run(load("drain-can-not-end")).report["log"]
    assert (line["event"], line["reason"]) == ("drain can't end", "Draining")
    assert (line["since"], line["blockers"]) == (SINCE, "default/web-1")


PODS, BUDGETS, CLAIM = "list pods node-old", "list poddisruptionbudgets", "get nodeclaims old"


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("karpenter-drains", []),
        ("drain-can-end-in-time", []),
        ("drain-can-not-end", [PODS]),
        ("stuck-behind-a-budget", [PODS, BUDGETS, CLAIM]),
        ("stuck-behind-do-not-disrupt", [PODS, BUDGETS, CLAIM]),
        ("stuck-and-the-pods-are-not-read", [PODS, CLAIM]),
    ],
)
def test_what_is_read_for_it(name: str, reads: list[str]) -> None:
    assert run(load(name)).reads == reads
