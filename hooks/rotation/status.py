"""What the status of a RotationPolicy says: the pools that it governs, its windows, its Ready condition.

Made from policies and NodePools alone, so that a fleet of NodeClaims isn't sent at every change.
Nothing is ever decided on it. What depends on the clock changes at edges only: when a window or an
exclusion begins or ends. Source: seed 000 section 5.4, design/product.md *Beyond the seeds*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from hooks.rotation.due import next_gate_edge
from hooks.rotation.findings import findings
from hooks.rotation.model import BrokenPolicy, Policy, Pool
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import Schedule, derive
from hooks.rotation.status_ready import Ready, Shown, Standing, ready, standing
from hooks.rotation.windows import next_opening, open_occurrence

MOST_POOLS: Final = 50
"""How many pools are told one by one; the counts are of all."""
LONGEST_WAIT: Final = timedelta(hours=1)
"""Metacontroller counts nanoseconds in 64 bits: an edge in a far century would overflow to now."""
_LONGEST_NAME: Final = 253
"""An anchor may be any text; the CRD takes no longer one, nor would it be a NodeClaim's name."""


class Phase(StrEnum):
    """Where a pool's rotation is, as far as its annotations tell."""

    IDLE = "Idle"
    SURGING = "Surging"
    DRAINING = "Draining"


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """One governed pool; what can't be known is None, as all figures under a broken policy."""

    name: str
    phase: Phase
    node_claim: str | None = None
    age_threshold: timedelta | None = None
    """A, which may be negative."""
    capacity: int | None = None
    """C."""
    last_rotation_at: datetime | None = None
    findings: tuple[str, ...] = ()
    """Codes, and StaticNodePool for a pool that only a fallback could rotate."""


@dataclass(frozen=True, slots=True)
class PolicyStatus:
    """The whole status, and when it may next change by the clock."""

    generation: int
    matched: int
    rotating: int
    window_open: bool | None
    """None: the windows can't be read."""
    next_window: datetime | None
    pools: tuple[PoolStatus, ...]
    ready: Ready
    look_again: timedelta


def status_of(
    policy: Policy | BrokenPolicy,
    policies: tuple[Policy | BrokenPolicy, ...],
    pools: tuple[Pool, ...],
    shown: Shown | None,
    now: datetime,
) -> PolicyStatus:
    """The status of a policy among ``policies`` (itself one of them); ``shown`` is its condition so far.

    ``pools`` may lack those that the policy doesn't select. Their order doesn't matter.
    """
    stands = standing(policy, policies, pools)
    window_open, next_window, edge = None, None, None
    schedules: tuple[Schedule, ...] = ()
    if isinstance(policy, Policy):
        schedules = tuple(derive(policy, pool, now) for pool in stands.governed)
        window_open = open_occurrence(policy.windows, now) is not None
        next_window = next_opening(policy.windows, now)
        edge = next_gate_edge(policy, now)
    return PolicyStatus(
        generation=policy.generation,
        matched=len(stands.governed),
        rotating=sum(pool.anchor is not None for pool in stands.governed),
        window_open=window_open,
        next_window=next_window,
        pools=_pools(stands, schedules, now),
        ready=ready(stands, schedules, shown, now),
        look_again=LONGEST_WAIT if edge is None else min(edge - now, LONGEST_WAIT),
    )


def phase_of(pool: Pool) -> Phase:
    """Where the pool's rotation is: draining as soon as its mirror says so."""
    if pool.anchor is None:
        return Phase.IDLE
    return Phase.DRAINING if pool.mirror else Phase.SURGING


def _pools(
    stands: Standing, schedules: tuple[Schedule, ...], now: datetime
) -> tuple[PoolStatus, ...]:
    governed = stands.governed[:MOST_POOLS]
    policy = stands.policy
    if isinstance(policy, BrokenPolicy):
        return tuple(_bare(pool) for pool in governed)
    return tuple(
        _with_figures(policy, pool, schedule, now)
        for pool, schedule in zip(governed, schedules[:MOST_POOLS], strict=True)
    )


def _bare(pool: Pool) -> PoolStatus:
    last = pool.last_rotation_at
    return PoolStatus(
        name=pool.name,
        phase=phase_of(pool),
        node_claim=pool.anchor[:_LONGEST_NAME] if pool.anchor else None,
        last_rotation_at=last if isinstance(last, datetime) else None,
    )


def _with_figures(policy: Policy, pool: Pool, schedule: Schedule, now: datetime) -> PoolStatus:
    codes = [found.code for found in findings(policy, pool, (), schedule, now)]
    if pool.static and not policy.fallback:
        codes.append(Reason.STATIC_NODE_POOL.value)
    return replace(
        _bare(pool),
        age_threshold=schedule.age_threshold,
        capacity=schedule.capacity,
        findings=tuple(codes),
    )
