"""Layer 1: can the settings guarantee K chances before each deadline, and do they fit together?

Owns the checks of single settings and of A and G. Leaves numbers of nodes to
:mod:`hooks.rotation.throughput`. Each message tells the figures and what to change.
Source: seed 002 section 3.2 *Layer 1*, design/observability.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from hooks import names
from hooks.rotation.durations import ZERO, format_people
from hooks.rotation.finding import Code, Finding, fatal, warning
from hooks.rotation.model import Claim, Policy, Pool, Span
from hooks.rotation.schedule import Schedule, known, t_rot

HARD_CAP: Final = timedelta(days=21)
"""EKS Auto Mode ends every node at that age, its drain included."""
_NODES: Final = "nodes"
_OF_EVERY_NODE: Final = frozenset({"cpu", "memory"})


def blockers_of_policy(policy: Policy, period: timedelta) -> Iterator[Finding]:
    """What makes a policy unusable for every pool; ``period`` is its P, zero for no occurrence."""
    if period <= ZERO:
        yield fatal(
            Code.NO_WINDOWS,
            "the maintenance windows never open (P = 0): "
            "give maintenanceWindows an entry with at least one day",
        )
    if policy.chances < 1:
        yield fatal(
            Code.K_BELOW_ONE,
            f"minRotationChances K = {policy.chances}: set it to 1 or more, better 2",
        )
    if policy.age_threshold is not None and policy.age_threshold <= ZERO:
        yield fatal(
            Code.OVERRIDE_NON_POSITIVE,
            f"ageThreshold A = {format_people(policy.age_threshold)}: "
            "set it to a positive duration, or to auto",
        )


def blockers_of_pool(policy: Policy, pool: Pool, schedule: Schedule) -> Iterator[Finding]:
    """Whether A and G, of a policy that is usable as such, let the pool be rotated in time."""
    lifetime, age = schedule.expire_after, schedule.age_threshold
    if lifetime is None or age is None:
        return
    if policy.age_threshold is None and age <= ZERO:
        yield fatal(Code.A_NON_POSITIVE, _no_age(policy, pool, schedule, lifetime, age))
    if policy.age_threshold is not None and schedule.chances is not None and schedule.chances < 1:
        yield fatal(
            Code.OVERRIDE_G_BELOW_ONE,
            f"ageThreshold A = {format_people(age)} leaves no complete window (G = "
            f"{schedule.chances}) before expireAfter E = {format_people(lifetime)} of NodePool "
            f"{pool.name}: " + _lower_age(schedule, lifetime, 1),
        )


def warnings_of_policy(policy: Policy) -> Iterator[Finding]:
    """What is questionable in a policy whatever pool it governs."""
    if policy.chances == 1:
        yield warning(
            Code.K_BELOW_TWO,
            "minRotationChances K = 1 leaves no second window when one is missed: set it to 2",
        )
    if policy.retry_backoff < policy.ready_timeout:
        yield warning(
            Code.RETRY_BACKOFF_SHORT,
            f"retryBackoff {format_people(policy.retry_backoff)} is shorter than readyTimeout "
            f"{format_people(policy.ready_timeout)}, so a failing node is retried more often than "
            "one attempt takes: raise retryBackoff, or lower readyTimeout",
        )
    estimate = policy.provisioning_estimate
    if estimate is not None and estimate > policy.ready_timeout:
        yield warning(
            Code.PROVISIONING_ESTIMATE_ABOVE_READY_TIMEOUT,
            f"provisioningEstimate {format_people(estimate)} is longer than readyTimeout "
            f"{format_people(policy.ready_timeout)}, so attempts are expected to time out: "
            "raise readyTimeout, or lower provisioningEstimate",
        )
    if names.ZONE_LABEL not in policy.required:
        yield warning(
            Code.ZONE_NOT_REPLICATED,
            f"matchNodeRequirements.required lacks {names.ZONE_LABEL}: a successor may come up in "
            "another zone, where Pods with zonal volumes can't start; add it",
        )


def warnings_of_pool(policy: Policy, pool: Pool, claims: tuple[Claim, ...]) -> Iterator[Finding]:
    """What is questionable in a pool's own settings, whatever the windows are."""
    grace = known(pool.termination_grace_period)
    if grace is None:
        yield warning(
            Code.TGP_UNSET,
            "terminationGracePeriod is unset, so nothing bounds a drain and t_rot counts 1h for "
            "it: set it in the NodePool's template",
        )
    elif policy.drain_estimate is not None and policy.drain_estimate > grace:
        yield warning(
            Code.DRAIN_ESTIMATE_ABOVE_TGP,
            f"drainEstimate {format_people(policy.drain_estimate)} is longer than "
            f"terminationGracePeriod {format_people(grace)}, which ends every drain: "
            "lower drainEstimate, or raise terminationGracePeriod",
        )
    over = _over_the_cap(pool, claims)
    if over:
        yield warning(
            Code.HARD_CAP_EXCEEDED,
            f"expireAfter + terminationGracePeriod is over the 21d that EKS Auto Mode allows: "
            f"{over}; lower either of them",
        )
    full = sorted(_exhausted(pool))
    if full:
        yield warning(
            Code.NO_HEADROOM,
            f"limits leave no room for a successor: {', '.join(full)}; raise spec.limits",
        )


def warnings_of_age(policy: Policy, schedule: Schedule) -> Iterator[Finding]:
    """Whether A and G, which are feasible, are wise."""
    lifetime, age, chances = schedule.expire_after, schedule.age_threshold, schedule.chances
    if age is not None and age < schedule.period:
        raised = "expireAfter" if policy.age_threshold is None else "ageThreshold"
        levers = f"raise {raised}, or add windows"
        if policy.age_threshold is None and policy.chances > 1:
            levers = "raise expireAfter, add windows, or lower minRotationChances"
        yield warning(
            Code.A_VERY_AGGRESSIVE,
            f"ageThreshold A = {format_people(age)} is shorter than the window period P = "
            f"{format_people(schedule.period)}, so nodes are renewed at almost every window: "
            f"{levers}",
        )
    if policy.age_threshold is None or lifetime is None or chances is None:
        return
    if chances < policy.chances:
        yield warning(
            Code.OVERRIDE_G_BELOW_K,
            f"ageThreshold A = {format_people(policy.age_threshold)} leaves G = {chances} windows "
            f"before expireAfter E = {format_people(lifetime)}, fewer than minRotationChances K = "
            f"{policy.chances}: " + _lower_age(schedule, lifetime, policy.chances),
        )


def short_lead(policy: Policy, schedule: Schedule, claim: Claim) -> Finding | None:
    """Layer 3: a claim whose own expireAfter doesn't leave it K windows, or with an explicit A one."""
    lifetime = known(claim.expire_after)
    if lifetime is None or not is_short_of_lead(policy, schedule, claim):
        return None
    formula, needed = "K*P + t_rot", _lead(policy, schedule, claim)
    prospect = "it is rotated at the first opportunity and may be expired by force"
    one = _until_one(policy, schedule, claim)
    if one is not None and lifetime < one:
        formula, needed = "A + P + t_rot", one
    elif one is not None:
        prospect = f"it can't be sure of K = {policy.chances} windows, whatever its ageThreshold"
    return warning(
        Code.SHORT_LEAD,
        f"NodeClaim {claim.name} lives {format_people(lifetime)} (its own expireAfter), but "
        f"{formula} = {format_people(needed)}: {prospect}; raise expireAfter in the NodePool for its "
        "successors, or add windows",
    )


def is_short_of_lead(policy: Policy, schedule: Schedule, claim: Claim) -> bool:
    """Whether :func:`short_lead` has something to tell; this alone is cheap."""
    lifetime = known(claim.expire_after)
    if lifetime is None or claim.deleting or schedule.period <= ZERO:
        return False
    one = _until_one(policy, schedule, claim)
    return lifetime <= _lead(policy, schedule, claim) or (one is not None and lifetime < one)


def _lead(policy: Policy, schedule: Schedule, claim: Claim) -> timedelta:
    """What K windows before its deadline take of a claim's life."""
    return schedule.window_lead + t_rot(policy, claim.termination_grace_period)


def _until_one(policy: Policy, schedule: Schedule, claim: Claim) -> timedelta | None:
    """How long a claim must live to be sure of one window; None: an automatic A sees to it."""
    if policy.age_threshold is None:
        return None
    bound = t_rot(policy, claim.termination_grace_period)
    return policy.age_threshold + schedule.period + bound


def _no_age(
    policy: Policy, pool: Pool, schedule: Schedule, lifetime: timedelta, age: timedelta
) -> str:
    period, count = schedule.period, policy.chances
    needed = format_people(schedule.window_lead + schedule.t_rot)
    advice = [f"raise expireAfter of NodePool {pool.name} above {needed}"]
    spare = lifetime - schedule.t_rot
    if spare > ZERO and not schedule.continuous:
        advice.append(f"add windows until P is below {format_people(spare / count)}")
    feasible = -(-spare // period) - 1
    if 1 <= feasible < count:
        advice.append(f"lower minRotationChances to {feasible}")
    return (
        f"ageThreshold A {format_people(age)} isn't positive: A = E - (K*P + t_rot) = "
        f"{format_people(lifetime)} - ({count}*{format_people(period)} + "
        f"{format_people(schedule.t_rot)}), so {count} windows before each deadline can't be "
        "guaranteed; " + ", or ".join(advice)
    )


def _lower_age(schedule: Schedule, lifetime: timedelta, count: int) -> str:
    highest = lifetime - schedule.t_rot - count * schedule.period
    if highest > ZERO:
        return f"lower ageThreshold to {format_people(highest)} or less, or set it to auto"
    needed = lifetime - highest
    return f"raise expireAfter above {format_people(needed)}, or add windows"


def _over_the_cap(pool: Pool, claims: tuple[Claim, ...]) -> str:
    """Who lives too long, in words; the pool's template goes before the claims it no longer shapes."""
    total = _lifetime(pool.expire_after, pool.termination_grace_period)
    if total > HARD_CAP:
        return f"{format_people(total)} in the NodePool's template"
    long = sorted(
        claim.name
        for claim in claims
        if _lifetime(claim.expire_after, claim.termination_grace_period) > HARD_CAP
    )
    return f"existing NodeClaims {listed(long)}" if long else ""


def _lifetime(expire_after: Span, grace: Span) -> timedelta:
    lifetime = known(expire_after)
    return ZERO if lifetime is None else lifetime + (known(grace) or ZERO)


def _exhausted(pool: Pool) -> Iterator[str]:
    for resource, limit in pool.limits.items():
        used = pool.used.get(resource, 0)
        # A limit of zero on what no node here has bars other nodes, and takes no room from these.
        counts = used > 0 or resource in _OF_EVERY_NODE
        if used + 1 > limit if resource == _NODES else counts and used >= limit:
            yield resource


def listed(items: list[str], most: int = 5) -> str:
    """Names for people: the first few, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
