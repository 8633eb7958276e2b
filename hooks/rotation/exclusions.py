"""What exclusions take away from nodes: are K chances left to each, from its creation on?

They aren't part of P, or one holiday would make A negative all year; so this is looked at apart.
Source: design/rotation.md section 5 (*Exclusions*).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from hooks.rotation.chances import Chances, chances, merged, open_time
from hooks.rotation.durations import format_people, format_stamp, shifted
from hooks.rotation.feasibility import listed
from hooks.rotation.finding import Code, Finding, warning
from hooks.rotation.model import Claim, Policy, Pool
from hooks.rotation.schedule import Schedule, known, t_rot
from hooks.rotation.windows import HORIZON, Occurrence


@dataclass(frozen=True, slots=True)
class _Life:
    """A node's time: that of a claim, or, without a name, of one that could be born then."""

    begin: datetime
    end: datetime
    bound: timedelta
    name: str = ""


def exclusion_findings(
    policy: Policy, pool: Pool, claims: tuple[Claim, ...], schedule: Schedule, now: datetime
) -> Iterator[Finding]:
    """Warn when an exclusion leaves a claim, or a node born now or as it begins, fewer than K chances."""
    ahead = tuple(span for span in merged(policy.exclusions) if span.end > now)
    lives = [
        life
        for life in (*_claims(policy, claims, schedule), *_births(policy, pool, ahead, now))
        if life.end > now and any(span.start < life.end and span.end > life.begin for span in ahead)
    ]
    if not lives:
        return
    line = chances(policy, min(life.begin for life in lives), max(life.end for life in lives))
    short = [
        (count, life)
        for life in lives
        if (count := _count(policy, schedule, line, life)) < policy.chances
    ]
    if short:
        yield warning(Code.EXCLUSION_SHORTENS_LEAD, _message(policy, short))


def _claims(policy: Policy, claims: tuple[Claim, ...], schedule: Schedule) -> Iterator[_Life]:
    for claim in claims:
        lifetime = known(claim.expire_after)
        bound = t_rot(policy, claim.termination_grace_period)
        # One whose own expireAfter is too short is told as ShortLead, exclusions or not.
        if claim.deleting or lifetime is None or lifetime <= schedule.window_lead + bound:
            continue
        yield _Life(claim.created, shifted(claim.created, lifetime), bound, claim.name)


def _births(
    policy: Policy, pool: Pool, ahead: tuple[Occurrence, ...], now: datetime
) -> Iterator[_Life]:
    lifetime = known(pool.expire_after)
    if lifetime is None:
        return
    bound = t_rot(policy, pool.termination_grace_period)
    for begin in (now, *(span.start for span in ahead)):
        if now <= begin <= now + HORIZON:
            yield _Life(begin, shifted(begin, lifetime), bound)


def _count(policy: Policy, schedule: Schedule, line: Chances, life: _Life) -> int:
    until = shifted(life.end, -life.bound)
    if schedule.continuous:
        return open_time(policy.exclusions, life.begin, until) // life.bound
    return line.count(life.begin, until)


def _message(policy: Policy, short: list[tuple[int, _Life]]) -> str:
    fewest, life = min(short, key=lambda entry: (entry[0], entry[1].begin, entry[1].name))
    named = sorted(entry.name for _, entry in short if entry.name)
    whom = f"NodeClaims {listed(named)}" if named else "new nodes"
    return (
        f"exclusions leave {whom} fewer than K = {policy.chances} chances; worst, a node of "
        f"{format_stamp(life.begin)} with deadline {format_stamp(life.end)} gets {fewest}: shorten "
        f"the exclusions, open a window between them, or raise expireAfter "
        f"({format_people(life.end - life.begin)})"
    )
