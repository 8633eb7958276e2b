"""How many machines Karpenter may disrupt of its own will."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hooks.sandbox.karpenter.allowances import UNBOUNDED, allowed, next_change
from hooks.sandbox.objects import Obj

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OFFICE_HOURS: Obj = {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}


def pool(*budgets: Obj) -> Obj:
    return {"spec": {"disruption": {"budgets": list(budgets)}}}


@pytest.mark.parametrize(
    ("budgets", "nodes", "count"),
    [
        ([{"nodes": "10%"}], 4, 1),
        ([{"nodes": "10%"}], 21, 3),
        ([{"nodes": "10%"}], 0, 0),
        ([{"nodes": "3"}], 1, 3),
        ([], 5, UNBOUNDED),
        ([{"nodes": "5"}, {"nodes": "2"}], 9, 2),
        ([{"nodes": "5"}, {"nodes": "0", "reasons": ["Empty"]}], 9, 5),
        ([{"nodes": "5"}, {"nodes": "0", "reasons": ["Drifted"]}], 9, 0),
        ([{"nodes": "5"}, OFFICE_HOURS], 9, 0),
    ],
)
def test_the_strictest_budget_for_the_reason_counts(
    budgets: list[Obj], nodes: int, count: int
) -> None:
    assert allowed(pool(*budgets), nodes, "Drifted", NOON) == count


def test_a_budget_counts_only_while_its_schedule_runs() -> None:
    evening = NOON.replace(hour=17, minute=1)
    assert allowed(pool(OFFICE_HOURS), 9, "Drifted", NOON.replace(hour=8)) == UNBOUNDED
    assert allowed(pool(OFFICE_HOURS), 9, "Drifted", evening) == UNBOUNDED
    assert next_change(pool(OFFICE_HOURS), NOON) == NOON.replace(hour=17)
    assert next_change(pool(OFFICE_HOURS), evening) == datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
    assert next_change(pool({"nodes": "1"}), NOON) is None
