"""Layer 2: do enough starts fit into the windows for all the nodes there are?

Owns arrival against capacity, nodes that come due together, and windows that lie too close.
Leaves single nodes to :mod:`hooks.rotation.feasibility`. It only warns and never changes A.
Source: seed 002 section 3.2 *Layer 2*, design/rotation.md section 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hooks.rotation.chances import ENOUGH, chances
from hooks.rotation.due import order_key
from hooks.rotation.durations import ZERO, format_people, format_stamp, shifted
from hooks.rotation.finding import Code, Finding, warning
from hooks.rotation.model import Claim, Policy, Pool
from hooks.rotation.schedule import Schedule, deadline, lead_time, t_rot, times
from hooks.rotation.windows import DAY, HORIZON

_MOST_NODES: Final = 10**6
"""Beyond what any cluster holds; a status may claim any number."""


@dataclass(frozen=True, slots=True)
class _Life:
    """The end of a claim's life: its deadline, when it comes due, its last start in time."""

    end: datetime
    due: datetime
    latest: datetime


def throughput_findings(
    policy: Policy, pool: Pool, claims: tuple[Claim, ...], schedule: Schedule, now: datetime
) -> Iterator[Finding]:
    """The findings of layer 2 for a pool whose A is feasible."""
    yield from _arrival(pool, claims, schedule)
    yield from _burst(policy, claims, schedule, now)
    yield from _spillover(schedule)


def _arrival(pool: Pool, claims: tuple[Claim, ...], schedule: Schedule) -> Iterator[Finding]:
    """C < N*P/A: more nodes come due in a period than can be started in its window."""
    count = sum(not claim.deleting for claim in claims)
    if not claims:
        count = int(min(pool.used.get("nodes", 0), _MOST_NODES))
    age = schedule.age_threshold
    if age is None or age <= ZERO:
        return
    period = DAY if schedule.continuous else schedule.period
    needed = -(-count * period // age)
    if needed > schedule.capacity:
        yield warning(
            Code.THROUGHPUT_BELOW_ARRIVAL,
            f"{count} nodes come due within A = {format_people(age)}, which is up to {needed} in "
            f"each {format_people(period)}, but only C = {schedule.capacity} starts fit: "
            + _more_room(schedule, needed),
        )


def _burst(
    policy: Policy, claims: tuple[Claim, ...], schedule: Schedule, now: datetime
) -> Iterator[Finding]:
    """More nodes with one deadline than can be started in all the chances that they share."""
    lives = _lives(policy, claims, schedule, now)
    if schedule.continuous:
        yield from _burst_without_pauses(lives, schedule, now)
        return
    line = chances(policy, now, shifted(now, HORIZON))
    groups = Counter(line.before(life.latest) for life in lives)
    turns = policy.chances if schedule.chances is None else schedule.chances
    # Whether a batch is too large is a matter of all its windows; who is late, of those still left.
    room = {
        last: min(turns, max(0, last - line.gone(now))) * schedule.capacity
        for last, size in groups.items()
        if size > turns * schedule.capacity
    }
    late = {last: groups[last] - fit for last, fit in room.items()}
    if not late:
        return
    last = max(late, key=lambda last: (late[last], -last))
    who, count = f"{groups[last]} NodeClaims have", sum(late.values())
    if not room[last]:
        text = (
            f"{who} no window left in which they could make it before their deadlines, so {count} "
            "can't: add a window before then"
        )
    else:
        text = (
            f"{who} the window of {format_stamp(line.usable[last - 1] - ENOUGH)} as their last "
            f"chance, but only {room[last]} starts fit till then "
            f"({room[last] // schedule.capacity}*C, C = {schedule.capacity}): {count} can't make "
            "it before their deadlines; "
            + _more_room(schedule, -(-groups[last] // turns))
            + ", or renew some of them earlier (noderotation rotate)"
        )
    yield warning(Code.THROUGHPUT_BURST_SHORTFALL, text)


def _burst_without_pauses(
    lives: list[_Life], schedule: Schedule, now: datetime
) -> Iterator[Finding]:
    """Of a union that never closes: serve all in order, one after the other, and see who is late.

    K*P is minutes there, so K*C, a figure of days, would tell nothing about nodes of one deadline.
    """
    free, late = now, 0
    for life in lives:
        start = max(free, life.due)
        if shifted(start, schedule.t_rot_est) > life.end:
            late += 1
        else:
            free = shifted(start, schedule.service)
    if late:
        yield warning(
            Code.THROUGHPUT_BURST_SHORTFALL,
            f"{len(lives)} NodeClaims come due so close together, one every "
            f"{format_people(schedule.service)}, that {late} can't make it before their deadlines: "
            "set an explicit ageThreshold that is lower, shorten cooldownAfter, or renew some of "
            "them earlier (noderotation rotate)",
        )


def _spillover(schedule: Schedule) -> Iterator[Finding]:
    """A rotation that starts late in one window is still running when the next one opens."""
    if schedule.continuous or schedule.service <= schedule.gap:
        return
    yield warning(
        Code.ROTATION_SPANS_NEXT_WINDOW,
        f"a rotation that starts late in a window (t_rot_est + cooldownAfter = "
        f"{format_people(schedule.service)}) reaches into the next one, "
        f"{format_people(schedule.gap)} later, so not each of them gives C = {schedule.capacity} "
        "starts: leave more time between the windows, or join them",
    )


def _lives(
    policy: Policy, claims: tuple[Claim, ...], schedule: Schedule, now: datetime
) -> list[_Life]:
    """Those whose last possible start lies in the coming 54 weeks, in order; what is later may wait."""
    lives = []
    for claim in sorted(claims, key=order_key):
        end, lead = deadline(claim), lead_time(policy, schedule, claim)
        if claim.deleting or end is None or lead is None:
            continue
        latest = shifted(end, -t_rot(policy, claim.termination_grace_period))
        if now < latest <= shifted(now, HORIZON):
            lives.append(_Life(end, shifted(end, -lead), latest))
    return lives


def _more_room(schedule: Schedule, starts: int) -> str:
    if schedule.continuous:
        return "raise expireAfter, or shorten cooldownAfter"
    longer = times(starts - 1, schedule.service)
    return (
        f"make each window longer than {format_people(longer)}, add windows, "
        "or shorten cooldownAfter"
    )
