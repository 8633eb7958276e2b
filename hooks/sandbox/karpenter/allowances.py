"""How many machines of each pool Karpenter may disrupt at once of its own will.

Owns ``spec.disruption.budgets``: numbers or percentages, reasons, schedules. Seen in
``pkg/apis/v1/nodepool.go`` (GetAllowedDisruptionsByReason, Budget) and ``disruption/helpers.go``
(BuildDisruptionBudgetMapping).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import is_true
from hooks.sandbox.karpenter.moments import span_of
from hooks.sandbox.karpenter.schedule import cron_from
from hooks.sandbox.karpenter.template import disruption_of
from hooks.sandbox.objects import name_of

if TYPE_CHECKING:
    from hooks.sandbox.karpenter.view import Machine
    from hooks.sandbox.objects import Obj

UNBOUNDED: Final = 2**31 - 1
_HUNDRED: Final = 100


def allowances(
    pools: Iterable[Obj], machines: Iterable[Machine], reason: str, now: datetime
) -> dict[str, int]:
    """Return by pool how many more machines may be disrupted for a reason now."""
    total: Counter[str] = Counter()
    disrupting: Counter[str] = Counter()
    for machine in machines:
        if machine.claim is None or not machine.is_initialized:
            continue
        if is_true(machine.claim, words.INSTANCE_TERMINATING):
            continue
        total[machine.pool] += 1
        if not machine.is_ready or machine.is_leaving:
            disrupting[machine.pool] += 1
    return {
        name_of(pool): max(
            allowed(pool, total[name_of(pool)], reason, now) - disrupting[name_of(pool)], 0
        )
        for pool in pools
    }


def allowed(pool: Obj, nodes: int, reason: str, now: datetime) -> int:
    """Return how many of a pool's nodes may be disrupted at once: its strictest budget says."""
    return min(
        (
            _allowed_by(budget, nodes, now)
            for budget in _budgets(pool)
            if not budget.get("reasons") or reason in budget["reasons"]
        ),
        default=UNBOUNDED,
    )


def next_change(pool: Obj, now: datetime) -> datetime | None:
    """Return when the next of a pool's budgets begins or ends."""
    moments: list[datetime] = []
    for budget in _budgets(pool):
        span = _duration(budget)
        if budget.get("schedule") is None or span is None:
            continue
        cron = cron_from(budget["schedule"])
        begins, began = cron.next_after(now), cron.next_after(now - span)
        moments.extend(
            moment
            for moment in (begins, began and began + span)
            if moment is not None and moment > now
        )
    return min(moments, default=None)


def _budgets(pool: Obj) -> list[Obj]:
    budgets: list[Obj] = disruption_of(pool).get("budgets", [{"nodes": "10%"}])
    return budgets


def _allowed_by(budget: Obj, nodes: int, now: datetime) -> int:
    if not _is_active(budget, now):
        return UNBOUNDED
    text = str(budget.get("nodes", "10%"))
    if text.endswith("%"):
        # Rounded up, so that small pools aren't blocked for ever.
        return -(-nodes * int(text[:-1]) // _HUNDRED)
    return int(text)


def _is_active(budget: Obj, now: datetime) -> bool:
    span = _duration(budget)
    if budget.get("schedule") is None and span is None:
        return True
    hit = cron_from(budget.get("schedule") or "").next_after(now - (span or timedelta()))
    return hit is not None and hit <= now


def _duration(budget: Obj) -> timedelta | None:
    return span_of(budget.get("duration"))
