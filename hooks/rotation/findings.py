"""All that is wrong with a pool's settings, collected: severity, code, figures, what to change.

Owns which checks apply when, and the order. Findings are data: a fatal one blocks starts, no
finding ever stops a rotation in flight. Source: seed 002 section 3.2, design/observability.md.
"""

from __future__ import annotations

from datetime import datetime

from hooks.rotation.exclusions import exclusion_findings
from hooks.rotation.feasibility import (
    blockers_of_policy,
    blockers_of_pool,
    short_lead,
    warnings_of_age,
    warnings_of_policy,
    warnings_of_pool,
)
from hooks.rotation.finding import Code, Finding, place
from hooks.rotation.model import Claim, Policy, Pool
from hooks.rotation.schedule import Schedule
from hooks.rotation.throughput import throughput_findings
from hooks.rotation.windows import window_figures

__all__ = ["Code", "Finding", "fatal_findings", "findings", "policy_findings", "short_lead"]


def findings(
    policy: Policy, pool: Pool, claims: tuple[Claim, ...], schedule: Schedule, now: datetime
) -> tuple[Finding, ...]:
    """Every finding about a governed pool, in the order of :class:`Code`, one for each code.

    What would follow from a fatal figure is left out: it would only hide the cause. Claims that
    come with a short lead are told one by one by :func:`short_lead`.
    """
    blocking = fatal_findings(policy, pool, schedule)
    found = [*blocking, *warnings_of_policy(policy), *warnings_of_pool(policy, pool, claims)]
    if not blocking:
        found += warnings_of_age(policy, schedule)
        found += throughput_findings(policy, pool, claims, schedule, now)
        found += exclusion_findings(policy, pool, claims, schedule, now)
    return tuple(sorted(found, key=place))


def fatal_findings(policy: Policy, pool: Pool, schedule: Schedule) -> tuple[Finding, ...]:
    """The findings that block starts, without a look at the claims; ``schedule`` is the pool's."""
    unusable = tuple(blockers_of_policy(policy, schedule.period))
    return unusable or tuple(blockers_of_pool(policy, pool, schedule))


def policy_findings(policy: Policy, now: datetime) -> tuple[Finding, ...]:
    """What can be told of a policy alone, as long as no pool is governed by it."""
    period = window_figures(policy.windows, now).period
    found = [*blockers_of_policy(policy, period), *warnings_of_policy(policy)]
    return tuple(sorted(found, key=place))
