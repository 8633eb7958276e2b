"""Whether rotations began inside the maintenance windows of the pool's policy.

Owns an evaluation of windows of its own: the wall time in the window's zone, plainly compared. It
knows neither which of several policies wins (any that selects the pool will do) nor exclusions, and
in the two nights of a year in which clocks change it may be an hour off.
"""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from hooks.verdict.case import Case
from hooks.verdict.history import Object
from hooks.verdict.questions import ANCHOR, annotation, policies_of
from hooks.verdict.times import SLACK, UNTIMED

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00")


def parse_clock(text: str) -> timedelta:
    """A time of day as the time since midnight; raises ValueError for anything else."""
    if not _CLOCK.fullmatch(text):
        raise ValueError(f"{text!r} is no time of day")
    hours, minutes = text.split(":")
    return timedelta(hours=int(hours), minutes=int(minutes))


def inside_the_windows(case: Case) -> list[str]:
    """Each rotation begins while a window of a policy that selects the pool is open."""
    if case.clock is None:
        return [UNTIMED] if case.rotations else []
    found: list[str] = []
    for moment in case.moments():
        change = moment.change
        anchor = annotation(change.object, ANCHOR)
        begins = anchor is not None and anchor != annotation(moment.before, ANCHOR)
        if change.kind != "NodePool" or change.name != case.pool or not begins:
            continue
        policies = policies_of(moment.world, change.object)
        at = case.clock.of(change)
        if not policies:
            found.append(f"the rotation of {anchor} began though no policy selects the pool")
        elif not any(is_open(policy, at) for policy in policies):
            found.append(f"the rotation of {anchor} began at {at:%a %Y-%m-%d %H:%M:%S} UTC")
    return found


def is_open(policy: Object, at: datetime) -> bool:
    """Whether one of the policy's windows is open, give or take the whole seconds of the clock."""
    windows = policy["spec"].get("maintenanceWindows", ())
    return any(_is_open(window, at) or _is_open(window, at + SLACK) for window in windows)


def _is_open(window: Object, at: datetime) -> bool:
    local = at.astimezone(ZoneInfo(window["timezone"])).replace(tzinfo=None)
    start, end = parse_clock(window["start"]), parse_clock(window["end"])
    if end <= start:
        end += timedelta(days=1)
    for days_ago in (0, 1):
        day = local.date() - timedelta(days=days_ago)
        midnight = datetime.combine(day, time())
        is_listed = DAYS[day.weekday()] in window["days"]
        if is_listed and midnight + start <= local < midnight + end:
            return True
    return False
