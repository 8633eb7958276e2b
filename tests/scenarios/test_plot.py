"""What two histories of one scenario are compared by, and what may differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hooks.verdict.history import Change
from tests.scenarios.accepted import UNTOLD, in_fixed_order
from tests.scenarios.plot import Compared, compare, differences, plot, pools
from tests.scenarios.registry import scenarios
from tests.scenarios.superfluous import BATCH
from tests.verdict.tales import (
    GOOD,
    POOL,
    Tale,
    also,
    claim_gone,
    cleared,
    condition,
    cordoned,
    deleted,
    drained,
    host_there,
    machine,
    moved,
    placeholder_gone,
    told,
    without,
)


def test_a_plot_tells_what_came_true_of_whom() -> None:
    assert plot(told(*GOOD), POOL) == {
        "milestones": [
            "1 anchored",
            "1 cordoned",
            "1 placeholder",
            "1 successor ready",
            "1 deleted",
            "1 gone",
            "1 cleared",
        ],
        "pool": [
            *("created", "anchored", "mirrored"),
            *("no longer anchored", "no longer mirrored", "rotated"),
        ],
        "candidate 1: claim": ["created", "draining", "leaving", "gone"],
        "candidate 1: node": ["created", "ready", "unschedulable", "cordoned", "gone"],
        "candidate 1: placeholder": ["created", "bound", "running", "gone"],
        "unregistered 1: claim": ["created"],
        "unregistered 1: node": ["created", "ready"],
    }


def test_a_history_is_like_itself_whatever_the_names() -> None:
    renamed = [
        Change(one.at, one.revision, one.kind, one.type, _renamed(one.object))
        for one in told(*GOOD)
    ]
    assert differences("any", told(*GOOD), renamed) == []
    assert pools(renamed) == [POOL]


def _renamed(value: object) -> dict[str, object]:
    found = _replaced(value)
    assert isinstance(found, dict)
    return found


def _replaced(value: object) -> object:
    if isinstance(value, dict):
        return {key: _replaced(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each) for each in value]
    return value.replace("old", "aged") if isinstance(value, str) else value


def work(tale: Tale) -> None:
    """One on the candidate's Node."""
    metadata = {"namespace": "default", "labels": {"kind": "stateless"}}
    tale.put("Pod", "work-3", metadata=metadata, spec={"nodeName": "old"})


def work_gone(tale: Tale) -> None:
    tale.gone("Pod", "work-3")


def test_what_left_the_node_before_the_delete_is_no_part_of_its_drain() -> None:
    beginning, *rest = GOOD
    early = told(beginning, work, work_gone, *rest)
    assert plot(early, POOL)["milestones"] == plot(told(*GOOD), POOL)["milestones"]
    late = told(beginning, work, *rest[: rest.index(drained)], work_gone, *rest[-4:])
    assert "1 work gone" in plot(late, POOL)["milestones"]


def test_another_order_of_steps_is_a_difference() -> None:
    later = told(*moved(cordoned, before=host_there))
    assert differences("any", told(*GOOD), later) == [
        (
            f"{POOL}: milestones: 1 anchored, 1 cordoned, 1 placeholder, 1 successor ready, "
            "1 deleted, 1 gone, 1 cleared | 1 anchored, 1 placeholder, 1 cordoned, "
            "1 successor ready, 1 deleted, 1 gone, 1 cleared"
        )
    ]


def test_a_step_that_is_missing_is_a_difference() -> None:
    (found,) = differences("any", told(*GOOD), told(*without(placeholder_gone)))
    assert found == (
        f"{POOL}: candidate 1: placeholder: created, bound, running, gone | created, bound, running"
    )


def test_what_is_accepted_of_one_scenario_is_a_difference_in_another() -> None:
    one, other = told(*GOOD), told(*without(placeholder_gone))
    role = "candidate 1: placeholder"
    assert ("a-pool-is-deleted", role) in UNTOLD
    assert differences("a-pool-is-deleted", one, other) == []
    assert len(differences("an-abort", one, other)) == 1


def test_only_what_nobody_waits_for_may_come_in_another_order() -> None:
    assert in_fixed_order(["created", "leaving", "registered", "gone"]) == in_fixed_order(
        ["created", "registered", "leaving", "gone"]
    )
    assert in_fixed_order(["registered", "drained", "leaving"]) != in_fixed_order(
        ["leaving", "registered", "drained"]
    )
    assert in_fixed_order(["leaving", "drained"]) != in_fixed_order(["drained", "leaving"])


def superfluous(tale: Tale) -> None:
    machine(tale, "superfluous")


LOST = told(*also(superfluous, before=drained))
"""A pass of Karpenter fell between our delete and that of the placeholder."""


def test_a_node_too_many_by_a_lost_race_is_left_out_and_the_rest_compared() -> None:
    assert compare("any", LOST, told(*GOOD)) == Compared((), in_full=True)
    assert len(differences("any", LOST, told(*without(drained, claim_gone)))) == 3


def test_before_a_node_too_many_everything_is_compared() -> None:
    (found,) = differences("any", LOST, told(*without(cordoned)))[:1]
    assert found.startswith(f"{POOL}: candidate 1: node: ")


def test_what_follows_on_the_next_anchor_may_be_cut() -> None:
    again = [
        *also(superfluous, before=drained),
        *(anchored_again, refused, cleared),
    ]
    plain = [*GOOD, anchored_again, cleared]
    assert compare("any", told(*again), told(*plain)) == Compared((), in_full=False)
    assert compare("any", told(*again), told(*plain[:-2])).in_full, "the rotation itself is missing"
    assert differences("any", told(*again), told(*plain[:-2])) != []


def anchored_again(tale: Tale) -> None:
    tale.annotate("NodePool", POOL, active_rotation="new")


def refused(tale: Tale) -> None:
    tale.annotate("NodeClaim", "new", state="failed")


def test_a_node_too_many_for_another_reason_is_a_difference() -> None:
    late = [replace(one, at=one.at + BATCH) if one.name == "superfluous" else one for one in LOST]
    early = told(*also(superfluous, before=deleted))
    for real in (late, early):
        assert len(differences("any", real, told(*GOOD))) == 2


def test_a_node_too_many_on_the_embedded_cluster_is_a_difference() -> None:
    (*_, last) = differences("any", told(*GOOD), told(*also(superfluous, before=claim_gone)))
    assert last == f"{POOL}: unregistered 2: node: nothing | created, ready"


def test_nothing_is_like_nothing() -> None:
    assert differences("any", [], told(*GOOD)) == [f"the pools: [] | ['{POOL}']"]
    assert differences("any", told(*GOOD), []) == [f"the pools: ['{POOL}'] | []"]
    assert differences("any", [], []) == ["the pools: [] | []"]


def failed(tale: Tale) -> None:
    tale.put("Pod", "noderotation-surge-old", status={"phase": "Failed"})


def unschedulable(tale: Tale) -> None:
    status = condition("PodScheduled", true=False)
    tale.put("Pod", "noderotation-surge-old", status={**status, "phase": "Failed"})


def test_facts_of_one_write_have_one_order() -> None:
    before = GOOD[: GOOD.index(host_there)]
    one, other = told(*before, failed, unschedulable), told(*before, unschedulable)
    assert plot(one, POOL)["candidate 1: placeholder"] == ["created", "failed", "unschedulable"]
    assert plot(other, POOL)["candidate 1: placeholder"] == ["created", "unschedulable", "failed"]
    assert differences("any", one, other) == []


@pytest.mark.parametrize("row", UNTOLD, ids=" ".join)
def test_each_row_of_what_is_accepted_is_of_a_scenario_and_has_its_reason(
    row: tuple[str, str],
) -> None:
    assert row[0] in {one.name for one in scenarios()}
    assert UNTOLD[row]
