"""Which rotation comes next, and when: what the verdict holds against it, and what it doesn't."""

from __future__ import annotations

import pytest

from hooks.verdict.case import Case
from hooks.verdict.history import Object
from hooks.verdict.order import cooldown_kept, earliest_first
from tests.verdict import tales
from tests.verdict.tales import GOOD, POOL, Tale, told


def waits(tale: Tale) -> None:
    """Two minutes in which nothing happens to this pool."""
    if ("NodePool", "another") not in tale.objects:
        tale.put("NodePool", "another")
    for number in range(1200):
        tale.annotate("NodePool", "another", number=str(number))


def older(tale: Tale) -> None:
    tales.machine(tale, "older")
    tale.put("NodeClaim", "older", spec={"expireAfter": "12h"})


def next_one(tale: Tale) -> None:
    tale.annotate("NodePool", POOL, active_rotation="new")


def cools_for(span: str) -> tales.Step:
    def step(tale: Tale) -> None:
        spec = tale.objects["RotationPolicy", "weekend"]["spec"]
        tale.put("RotationPolicy", "weekend", spec=spec | {"surge": {"cooldownAfter": span}})

    return step


def second_policy(tale: Tale) -> None:
    spec = tale.objects["RotationPolicy", "weekend"]["spec"]
    tale.put("RotationPolicy", "mild", spec=spec | {"surge": {"cooldownAfter": "0s"}})


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ("2m5s", ["the rotation of new began 120 s after that of old was over, not 0:02:05"]),
        ("2m", []),
        ("2m1s", []),
        ("0s", []),
        ("Never", []),
    ],
)
def test_the_cooldown_lies_between_two_rotations(span: str, found: list[str]) -> None:
    case = Case(told(*GOOD, cools_for(span), waits, next_one), POOL)
    assert cooldown_kept(case) == found


def test_a_rotation_that_replaced_nothing_needs_no_cooldown() -> None:
    steps = [step for step in GOOD if step not in {tales.deleted, tales.claim_gone}]
    assert cooldown_kept(Case(told(*steps, cools_for("1h"), next_one), POOL)) == []


def test_one_of_several_policies_will_do() -> None:
    case = Case(told(*GOOD, cools_for("1h"), second_policy, next_one), POOL)
    assert cooldown_kept(case) == []


def test_a_node_with_an_earlier_deadline_is_not_passed_over() -> None:
    case = Case(told(tales.beginning, older, waits, tales.anchored), POOL)
    assert earliest_first(case) == [
        "older was passed over: its deadline was Sat 13:00:00, old only Sun 01:00:00"
    ]


def test_one_that_became_fit_just_now_may_be_passed_over() -> None:
    case = Case(told(tales.beginning, waits, older, tales.anchored), POOL)
    assert earliest_first(case) == []


NOT_READY = tales.condition("Ready", true=False)
TAINTED: Object = {"taints": [{"key": "karpenter.sh/disrupted"}]}
MARK: Object = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}
STATE: Object = {"annotations": {"noderotation.io/state": "failed"}}
LEAVING: Object = {"deletionTimestamp": "2026-01-03T01:00:00Z"}


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("Node", {"status": NOT_READY}),
        ("Node", {"spec": TAINTED}),
        ("Node", {"metadata": MARK}),
        ("Node", {"metadata": LEAVING}),
        ("NodeClaim", {"metadata": STATE}),
        ("NodeClaim", {"metadata": LEAVING}),
        ("NodeClaim", {"status": {"nodeName": "older"} | NOT_READY}),
        ("NodeClaim", {"status": {}}),
        ("NodeClaim", {"spec": {"expireAfter": "Never"}}),
    ],
)
def test_one_that_could_not_go_is_passed_over(kind: str, parts: dict[str, Object]) -> None:
    def unfit(tale: Tale) -> None:
        tale.put(kind, "older", **parts)

    case = Case(told(tales.beginning, older, unfit, waits, tales.anchored), POOL)
    assert earliest_first(case) == []
