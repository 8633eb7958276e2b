"""What the verdict says about histories written by hand: each promise broken, by name."""

from __future__ import annotations

import pytest

from hooks.verdict.case import CORDON, DO_NOT_DISRUPT, Case, OperatorMark
from hooks.verdict.checks import (
    ALWAYS,
    AT_THE_END,
    IN_THEIR_TIME,
    SUPPOSED,
    Violation,
    complaints,
    judge,
)
from hooks.verdict.history import Object
from hooks.verdict.operators import forbidden_stay, operators_marks_kept
from hooks.verdict.shapes import readable
from tests.verdict import tales
from tests.verdict.tales import GOOD, POOL, Step, Tale, also, moved, told, without


def host_not_ready(tale: Tale) -> None:
    tale.put("Node", "new", status=tales.condition("Ready", true=False))


def host_cordoned(tale: Tale) -> None:
    tale.put("Node", "new", spec={"unschedulable": True})


def host_claim_leaves(tale: Tale) -> None:
    tale.leave("NodeClaim", "new")


def placeholder_terminates(tale: Tale) -> None:
    tale.leave("Pod", "noderotation-surge-old")


def placeholder_on_the_candidate(tale: Tale) -> None:
    running = {"phase": "Running"}
    tale.put("Pod", "noderotation-surge-old", spec={"nodeName": "old"}, status=running)


def uncordoned(tale: Tale) -> None:
    tale.put("Node", "old", spec={})


def another_anchor(tale: Tale) -> None:
    tale.annotate("NodePool", POOL, active_rotation="new")


def second_new_claim(tale: Tale) -> None:
    tales.machine(tale, "newer")


def both_pods_gone(tale: Tale) -> None:
    tale.gone("Pod", "work-1")
    tale.gone("Pod", "work-2")


def claim_state_stays(tale: Tale) -> None:
    tale.annotate("NodeClaim", "new", state="pending")


def long_wait(tale: Tale) -> None:
    tale.put("NodePool", "another")
    for number in range(60):
        tale.annotate("NodePool", "another", number=str(number))


def hurried(tale: Tale) -> None:
    """The deadline is the second in which the tale begins."""
    tale.put("NodeClaim", "old", spec={"expireAfter": "0s"})


def another_claim_goes(tale: Tale) -> None:
    tales.machine(tale, "other")
    tale.leave("NodeClaim", "other")
    tale.gone("Node", "other")
    tale.gone("NodeClaim", "other")


def long_gone_night(tale: Tale) -> None:
    window = {"timezone": "UTC", "days": ["Fri"], "start": "22:00", "end": "24:00"}
    tale.put("RotationPolicy", "weekend", spec=governing(window))


def policy_of_others(tale: Tale) -> None:
    tale.put("RotationPolicy", "weekend", spec={"nodePoolSelector": {"matchLabels": {"a": "b"}}})


def candidate_bare(tale: Tale) -> None:
    tale.annotate("Node", "old", do_not_disrupt=None)
    tale.annotate("Node", "old", do_not_disrupt="true")


def host_bare(tale: Tale) -> None:
    tale.annotate("Node", "new", do_not_disrupt=None)


def operator_forbids(tale: Tale) -> None:
    tale.annotate("Node", "old", do_not_disrupt_owned=None)


def older_one(tale: Tale) -> None:
    """A node with an earlier deadline, which was there for long."""
    tales.machine(tale, "older")
    tale.put("NodeClaim", "older", spec={"expireAfter": "12h"})
    tale.put("NodePool", "another")
    for number in range(1200):
        tale.annotate("NodePool", "another", number=str(number))


def also_cooling(tale: Tale) -> None:
    tales.beginning(tale)
    spec = tale.objects["RotationPolicy", "weekend"]["spec"]
    tale.put("RotationPolicy", "weekend", spec=spec | {"surge": {"cooldownAfter": "10m"}})


def governing(window: Object) -> Object:
    return {
        "nodePoolSelector": {"matchLabels": {"pool": POOL}},
        "maintenanceWindows": [window],
    }


def by(*checks: str) -> tuple[str, ...]:
    """The checks that are expected to complain, by the beginnings of their names."""
    return checks


UNPLACED = without(tales.placeholder_created, tales.placeholder_running, tales.placeholder_gone)
OVERDRAINED = tuple(both_pods_gone if step is tales.drained else step for step in GOOD)
UNANCHORED = also(another_claim_goes, before=tales.anchored)
SUCCESSOR, CORDON_FIRST, ONE = "successor_first", "cordoned_first", "one_at_a_time"
NEW, STAYS, REPLACED = "one_new_node_each", "placeholder_leaves", "all_replaced"
MARKS, LEFT, BUDGET = "marks_go_with_the_anchor", "nothing_left", "budgets_kept"
DEADLINE, WINDOW, UNREADABLE = "before_the_deadline", "inside_the_windows", "readable"
PROTECTED, FORBIDDEN, SOON = "protected_meanwhile", "forbidden_stay", "cooldown_kept"
ORDER = "earliest_first"
LEAVES = by(SUCCESSOR, CORDON_FIRST, ONE, DEADLINE)
CASES: tuple[tuple[str, tuple[Step, ...], tuple[str, ...]], ...] = (
    ("good", GOOD, by()),
    ("no placeholder", UNPLACED, by(SUCCESSOR)),
    ("placeholder pending", without(tales.placeholder_running), by(SUCCESSOR)),
    ("dropped early", moved(tales.placeholder_gone, before=tales.deleted), by(SUCCESSOR)),
    ("terminating", also(placeholder_terminates, before=tales.deleted), by(SUCCESSOR)),
    ("on the candidate", also(placeholder_on_the_candidate, before=tales.deleted), by(SUCCESSOR)),
    ("host not ready", also(host_not_ready, before=tales.deleted), by(SUCCESSOR)),
    ("host leaving", also(host_claim_leaves, before=tales.mirrored), LEAVES),
    ("cordon late", moved(tales.cordoned, before=tales.host_there), by(CORDON_FIRST)),
    ("no cordon", without(tales.cordoned), by(CORDON_FIRST, PROTECTED)),
    ("cordon undone", also(uncordoned, before=tales.deleted), by(CORDON_FIRST)),
    (
        "anchor overwritten",
        also(another_anchor, before=tales.cordoned),
        by(ONE, REPLACED, DEADLINE),
    ),
    ("two deleted", also(host_claim_leaves, before=tales.claim_gone), LEAVES),
    ("two new", also(second_new_claim, before=tales.drained), by(NEW, REPLACED)),
    ("placeholder kept", moved(tales.placeholder_gone, before=tales.unfrozen), by(STAYS)),
    ("placeholder kept long", also(long_wait, before=tales.placeholder_gone), by(STAYS)),
    ("host stays frozen", without(tales.unfrozen), by(MARKS, LEFT)),
    ("unfrozen too late", (*without(tales.unfrozen), tales.unfrozen), by(MARKS)),
    ("host stays cordoned", also(host_cordoned, before=tales.claim_gone), by(MARKS, LEFT)),
    ("state stays", also(claim_state_stays, before=tales.cleared), by(LEFT)),
    ("never cleared", without(tales.cleared), by(LEFT)),
    ("never gone", without(tales.claim_gone, tales.drained), by(MARKS, REPLACED, LEFT, PROTECTED)),
    ("no rotation", (tales.beginning,), by(REPLACED)),
    ("budget broken", OVERDRAINED, by(BUDGET)),
    ("gone too late", also(hurried, before=tales.anchored), by(DEADLINE)),
    ("still there", (tales.beginning, hurried, long_wait), by(REPLACED, DEADLINE)),
    ("expired", UNANCHORED, by(SUCCESSOR, CORDON_FIRST, DEADLINE)),
    ("outside of the windows", also(long_gone_night, before=tales.anchored), by(WINDOW)),
    ("not governed", also(policy_of_others, before=tales.anchored), by(WINDOW)),
    ("nothing at all", (), by(REPLACED)),
    ("candidate bare", also(candidate_bare, before=tales.host_there), by(PROTECTED)),
    ("host bare", also(host_bare, before=tales.placeholder_running), by(PROTECTED)),
    ("host bare later", also(host_bare, before=tales.claim_gone), by(PROTECTED)),
    ("forbidden", also(operator_forbids, before=tales.mirrored), by(FORBIDDEN)),
    ("passed over", also(older_one, before=tales.anchored), by(ORDER, REPLACED)),
    ("too soon", (also_cooling, *GOOD[1:], another_anchor), by(SOON, LEFT)),
)


@pytest.mark.parametrize(
    ("steps", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_each_promise_can_be_broken(steps: tuple[Step, ...], expected: tuple[str, ...]) -> None:
    verdict = judge(told(*steps), POOL)
    named = {one.check for one in verdict.violations}
    assert {check for check in named if not check.startswith(expected)} == set()
    assert [one for one in expected if not any(check.startswith(one) for check in named)] == []
    assert verdict.is_pass == (expected == ())


def test_each_check_has_a_case_that_breaks_it() -> None:
    broken = {one for case in CASES for one in case[2]} | {"operators_marks_kept"}
    every = [check.__name__ for check in (*ALWAYS, *AT_THE_END, *IN_THEIR_TIME)]
    assert [name for name in every if not name.startswith(tuple(broken))] == []


def test_a_violation_tells_what_happened() -> None:
    verdict = judge(told(*also(hurried, before=tales.anchored)), POOL)
    assert verdict.violations == (
        Violation(
            "before_the_deadline",
            "old was gone only at Sat 2026-01-03 01:00:02, its deadline was Sat 2026-01-03 01:00:00",
        ),
    )


def test_an_operators_cordon_serves_and_an_operators_mark_may_stay() -> None:
    def operator(tale: Tale) -> None:
        tale.put("Node", "old", spec={"unschedulable": True})

    def frozen(tale: Tale) -> None:
        tale.annotate("Node", "old", **tales.FROZEN)

    def kept(tale: Tale) -> None:
        tale.put("Node", "new", metadata={"annotations": {"karpenter.sh/do-not-disrupt": "true"}})

    steps = [frozen if step is tales.cordoned else step for step in GOOD]
    steps[1:1] = [operator]
    changes = told(*steps, kept)
    marks = (OperatorMark("old", CORDON, 8), OperatorMark("new", DO_NOT_DISRUPT, 25))
    assert [str(one) for one in judge(changes, POOL, marks).violations] == []
    assert {one.check for one in judge(changes, POOL).violations} == {
        "cordoned_first",
        "nothing_left",
    }


@pytest.mark.parametrize(
    ("mark", "complaint"),
    [
        (OperatorMark("old", CORDON, 3, until=4), ["never was there"]),
        (OperatorMark("old", CORDON, 4, until=9), ["was taken away at revision 4"]),
        (OperatorMark("old", CORDON, 9), ["was taken over at revision 10"]),
        (OperatorMark("old", CORDON, 9, until=10), []),
        (OperatorMark("new", DO_NOT_DISRUPT, 23), ["was taken away at revision 23"]),
    ],
)
def test_an_operators_mark_is_neither_taken_away_nor_taken_over(
    mark: OperatorMark, complaint: list[str]
) -> None:
    found = operators_marks_kept(Case(told(*GOOD), POOL, (mark,)))
    assert found == [f"the operator's {mark} {one}" for one in complaint]


def test_a_history_without_times_is_no_pass() -> None:
    changes = told(*GOOD)
    for change in changes:
        del change.object["metadata"]["creationTimestamp"]
    assert not judge(changes, POOL).is_pass
    anchored = [one for one in changes if one.kind != "NodeClaim"]
    assert "inside_the_windows: nothing in the history tells what time it was" in [
        str(one) for one in judge(anchored, POOL).violations
    ]


def test_a_hole_is_a_violation() -> None:
    changes = told(*GOOD)
    (found,) = judge([one for one in changes if one.revision != 4], POOL).violations[:1]
    assert (found.check, readable.__name__) == ("readable", "readable")
    assert found.text == (
        "something is missing before revision 9: Node old is MODIFIED, though it wasn't there"
    )


def test_the_order_of_arrival_does_not_matter() -> None:
    changes = told(*GOOD)
    assert judge(changes[::-1], POOL).violations == ()
    assert complaints(changes[::-1], POOL) == []


def test_complaints_are_violations_as_text() -> None:
    def still_cordoned(tale: Tale) -> None:
        tale.annotate("Node", "new", **dict.fromkeys(tales.FROZEN) | {"surge_for": "old"})

    steps = [still_cordoned if step is tales.unfrozen else step for step in GOOD]
    assert complaints(told(*steps), POOL) == [
        "marks_go_with_the_anchor: after old: noderotation.io/surge-for on Node new",
        "nothing_left: at the end: noderotation.io/surge-for on Node new",
    ]


def test_a_deletion_that_is_not_ours_is_no_breach_of_what_an_operator_forbade() -> None:
    def forbidden(tale: Tale) -> None:
        tales.machine(tale, "other")
        tale.annotate("Node", "other", do_not_disrupt="true")
        tale.leave("NodeClaim", "other")

    assert forbidden_stay(Case(told(*GOOD, forbidden), POOL)) == []


def test_budgets_that_were_promised_have_to_be_there() -> None:
    def bound(tale: Tale) -> None:
        tale.put("Pod", "work-1", spec={"nodeName": "old"})

    covered = told(*also(bound, before=tales.anchored))
    assert judge(covered, POOL, also=SUPPOSED).violations == ()
    bare = [one for one in covered if one.kind != "PodDisruptionBudget"]
    found = [Violation("budgets_there", "no Pod on the node of old was under a budget")]
    assert judge(bare, POOL).is_pass
    assert list(judge(bare, POOL, also=SUPPOSED).violations) == found
    assert list(judge(told(*GOOD), POOL, also=SUPPOSED).violations) == found
