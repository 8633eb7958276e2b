"""The derived figures: when nodes come due, how many chances they have, how many fit a window.

Owns the formulas and their symbols (P, D, K, E, A, G, C, t_rot, t_rot_est). Leaves the judgement
on them to :mod:`hooks.rotation.findings`. ``t_rot`` bounds one rotation and guards deadlines;
``t_rot_est`` is what one is expected to take and only measures throughput.
Source: seed 002 section 3.2, design/rotation.md section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hooks.rotation.durations import ZERO, shifted
from hooks.rotation.model import Claim, Malformed, Policy, Pool, Span
from hooks.rotation.windows import window_figures

BUFFER: Final = timedelta(minutes=2)
"""Slack on the side of deadlines: four of the seed's short requeues."""
UNSET_GRACE: Final = timedelta(hours=1)
"""What an absent terminationGracePeriod counts as, because nothing bounds such a drain."""
_USUAL_FAILURE_PAUSE: Final = timedelta(minutes=10)

_USUAL_PROVISIONING: Final = timedelta(minutes=5)
_USUAL_DRAIN: Final = timedelta(minutes=10)
_SHORTEST_SERVICE: Final = timedelta(seconds=1)
_BACKOFF_CAP: Final = 8
_DOUBLINGS: Final = 3
_FOREVER: Final = timedelta(days=365_000)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The figures of one pool under one policy, its template standing for its nodes."""

    period: timedelta
    """P; zero when the windows never open."""
    shortest: timedelta
    """D, the shortest occurrence."""
    gap: timedelta
    """The shortest closed time between two occurrences."""
    continuous: bool
    """Whether the union of the windows never closes."""
    window_lead: timedelta
    """K times P."""
    t_rot: timedelta
    """Upper bound of one rotation."""
    t_rot_est: timedelta
    """Expected duration of one rotation."""
    service: timedelta
    """From one start to the next: t_rot_est and cooldownAfter."""
    expire_after: timedelta | None
    """E of the template; None for Never, absent and unreadable."""
    age_threshold: timedelta | None
    """A, which may be negative; None when there is neither E nor an explicit one."""
    chances: int | None
    """G, the window occurrences that each node is sure to get; None without E or windows."""
    capacity: int
    """C, the starts that fit the shortest occurrence (or 24 hours of a union that never closes)."""


def derive(policy: Policy, pool: Pool, now: datetime) -> Schedule:
    """All figures of a pool under its policy, from the UTC date of ``now`` on."""
    figures = window_figures(policy.windows, now)
    bound = t_rot(policy, pool.termination_grace_period)
    expected = t_rot_est(policy, pool.termination_grace_period)
    service = max(expected + policy.cooldown_after, _SHORTEST_SERVICE)
    expire_after = known(pool.expire_after)
    window_lead = times(policy.chances, figures.period)
    threshold = policy.age_threshold
    if threshold is None and expire_after is not None:
        threshold = expire_after - (window_lead + bound)
    return Schedule(
        period=figures.period,
        shortest=figures.shortest,
        gap=figures.gap,
        continuous=figures.continuous,
        window_lead=window_lead,
        t_rot=bound,
        t_rot_est=expected,
        service=service,
        expire_after=expire_after,
        age_threshold=threshold,
        chances=_chances(policy, expire_after, threshold, bound, figures.period),
        capacity=-(-figures.shortest // service),
    )


def t_rot(policy: Policy, grace: Span) -> timedelta:
    """The bound of one rotation: readyTimeout, terminationGracePeriod (1h when unset), 2 minutes."""
    known_grace = known(grace)
    return policy.ready_timeout + (UNSET_GRACE if known_grace is None else known_grace) + BUFFER


def t_rot_est(policy: Policy, grace: Span) -> timedelta:
    """What one rotation is expected to take: the estimates for provisioning and drain.

    Unset, they are the usual 5 and 10 minutes, or the limits readyTimeout and
    terminationGracePeriod where those are shorter.
    """
    provisioning, drain = policy.provisioning_estimate, policy.drain_estimate
    if provisioning is None:
        provisioning = min(policy.ready_timeout, _USUAL_PROVISIONING)
    if drain is None:
        known_grace = known(grace)
        drain = _USUAL_DRAIN if known_grace is None else min(known_grace, _USUAL_DRAIN)
    return provisioning + drain


def deadline(claim: Claim) -> datetime | None:
    """When Karpenter expires the claim by force; None when it never does or that can't be read."""
    lifetime = known(claim.expire_after)
    return None if lifetime is None else shifted(claim.created, lifetime)


def lead_time(policy: Policy, schedule: Schedule, claim: Claim) -> timedelta | None:
    """How long before its deadline the claim comes due, by its own E and tGP; None without a deadline.

    With an explicit ageThreshold that is E - A, otherwise K times P and one t_rot.
    """
    lifetime = known(claim.expire_after)
    if lifetime is None:
        return None
    if policy.age_threshold is not None:
        return lifetime - policy.age_threshold
    return schedule.window_lead + t_rot(policy, claim.termination_grace_period)


def failure_pause(policy: Policy) -> timedelta:
    """Gate B: failurePause, or when unset 10 minutes and never less than cooldownAfter."""
    if policy.failure_pause is not None:
        return policy.failure_pause
    return max(_USUAL_FAILURE_PAUSE, policy.cooldown_after)


def backoff(policy: Policy, retry_count: int | Malformed) -> timedelta:
    """How long a failed claim waits: retryBackoff, doubled with each further failure, to 8 times at most.

    An unreadable count waits longest.
    """
    if isinstance(retry_count, Malformed):
        return policy.retry_backoff * _BACKOFF_CAP
    return policy.retry_backoff * (1 << min(max(retry_count - 1, 0), _DOUBLINGS))


def known(span: Span) -> timedelta | None:
    """The duration, if there is one that can be read."""
    return span if isinstance(span, timedelta) else None


def times(count: int, span: timedelta) -> timedelta:
    """Multiply without overflow, up to a thousand years."""
    return span * max(0, min(count, _FOREVER // span)) if span > ZERO else ZERO


def _chances(
    policy: Policy,
    expire_after: timedelta | None,
    threshold: timedelta | None,
    bound: timedelta,
    period: timedelta,
) -> int | None:
    if expire_after is None or threshold is None or period <= ZERO:
        return None
    # A derived A below zero can't make a node due before it exists; an explicit one is refused.
    age = threshold if policy.age_threshold is not None else max(threshold, ZERO)
    return (expire_after - age - bound) // period
