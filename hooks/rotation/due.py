"""When a NodeClaim is due to be rotated, which one comes first, and when starts are gated by time.

Owns the trigger (deadline minus lead time, an explicit age, a request, exclusions ahead) and the
order. Leaves the figures to :mod:`hooks.rotation.schedule` and all other conditions of a candidate
to :mod:`hooks.rotation.candidates`. Source: seed 002 section 3.2, design/rotation.md section 5.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import datetime
from typing import TypeAlias

from hooks.rotation.chances import FARTHEST, few_left_from, merged
from hooks.rotation.durations import shifted
from hooks.rotation.model import Claim, Exclusion, Policy, Pool
from hooks.rotation.schedule import Schedule, deadline, lead_time, t_rot
from hooks.rotation.windows import Occurrence, is_continuous, next_opening, open_occurrence

OrderKey: TypeAlias = tuple[bool, datetime, datetime, str]


def is_due(policy: Policy, pool: Pool, claim: Claim, schedule: Schedule, now: datetime) -> bool:
    """Whether the claim is to be rotated as soon as the gates let it.

    So it is once its lead time has begun (strictly after that instant), when somebody asked for
    it, or when an exclusion lies ahead and leaves no more than K chances.
    """
    if is_requested(pool, claim):
        return True
    since = _ordinarily(policy, claim, schedule)
    if since is not None and now > since:
        return True
    if not policy.exclusions:
        return False
    since = _with_exclusions(policy, claim, schedule, now)
    return since is not None and since <= now


def due_at(
    policy: Policy, pool: Pool, claim: Claim, schedule: Schedule, now: datetime
) -> datetime | None:
    """The time from which the claim is due, as things look now; in the past or now: due already.

    None: never by itself (no deadline and no explicit ageThreshold).
    """
    if is_requested(pool, claim):
        return now
    since = _ordinarily(policy, claim, schedule)
    sooner = _with_exclusions(policy, claim, schedule, now) if policy.exclusions else None
    if since is None or sooner is None:
        return since
    return min(since, sooner)


def is_requested(pool: Pool, claim: Claim) -> bool:
    """Whether an operator asked for this claim, or for all that were created before some time."""
    before = pool.due_before
    return claim.due_requested or (isinstance(before, datetime) and claim.created < before)


def order_key(claim: Claim) -> OrderKey:
    """What claims are sorted by: deadline, then age, then name; those without a deadline come last."""
    end = deadline(claim)
    return (end is None, end or claim.created, claim.created, claim.name)


def is_excluded(policy: Policy, now: datetime) -> Exclusion | None:
    """The exclusion that gates starts now; of several the one that lasts longest."""
    active = [entry for entry in policy.exclusions if entry.start <= now < entry.end]
    return max(active, key=lambda entry: entry.end, default=None)


def next_gate_edge(policy: Policy, now: datetime) -> datetime | None:
    """When a window or an exclusion next begins or ends after now; None when neither ever does."""
    spans = merged(policy.exclusions)
    edges = (
        _window_edge(policy, now),
        *(edge for span in spans for edge in (span.start, span.end)),
    )
    return min((edge for edge in edges if edge is not None and edge > now), default=None)


def _window_edge(policy: Policy, now: datetime) -> datetime | None:
    if is_continuous(policy.windows, now):
        return None
    current = open_occurrence(policy.windows, now)
    return next_opening(policy.windows, now) if current is None else current.end


def _ordinarily(policy: Policy, claim: Claim, schedule: Schedule) -> datetime | None:
    """When the lead time begins; an explicit age holds for claims without a deadline as well."""
    if policy.age_threshold is not None:
        return shifted(claim.created, policy.age_threshold)
    end, lead = deadline(claim), lead_time(policy, schedule, claim)
    return None if end is None or lead is None else shifted(end, -lead)


def _with_exclusions(
    policy: Policy, claim: Claim, schedule: Schedule, now: datetime
) -> datetime | None:
    """When few chances are left while an exclusion still lies ahead; now when that holds already."""
    end = deadline(claim)
    ahead = None if end is None else _last_before(policy, end)
    if end is None or ahead is None or ahead.end <= now:
        return None
    bound = t_rot(policy, claim.termination_grace_period)
    until = shifted(end, -bound)
    # Beyond the last exclusion K + 1 chances take K + 1 periods at most, so these need no count.
    plenty = schedule.window_lead + 2 * schedule.period
    if not schedule.continuous and (until - ahead.end > plenty or until - now > FARTHEST):
        return None
    since = few_left_from(policy, now, until, bound)
    if since is None:
        return now
    return since if since < ahead.end else None


def _last_before(policy: Policy, end: datetime) -> Occurrence | None:
    spans = merged(policy.exclusions)
    at = bisect_left(spans, end, key=lambda span: span.start) - 1
    return spans[at] if at >= 0 else None
