"""The tracking value: whether it is there, can be read, holds, or is older than the timeout.

Owns what is compared with now, always as instants. Leaves the reading of text to
:mod:`hooks.protocol`. Source: design/drain.md, seed 004 *Where the state lives*.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from hooks import names
from hooks.drain.model import Deployment, Terms, Unreadable
from hooks.drain.writes import Code, Finding

AHEAD: Final = timedelta(minutes=5)
"""By how much another machine's clock may be ahead of ours."""

LONGEST_TIMEOUT: Final = timedelta(days=1)
"""What a Deployment may ask for itself, as the setting may."""
_LONGEST_QUOTE: Final = 64
"""Characters of an annotation that are repeated to people: one may be 256 KiB long."""


class State(Enum):
    """What a tracking value is good for."""

    NONE = "none"
    UNUSABLE = "unusable"
    """It can't be read, or lies too far ahead: it would never time out."""
    LIVE = "live"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class Tracking:
    """A tracking value at one moment; ``since`` and ``until`` are set in LIVE and TIMED_OUT only."""

    state: State
    since: datetime | None = None
    until: datetime | None = None
    """When the timeout is over; from that moment on nothing is denied."""


def tracking(deployment: Deployment, terms: Terms) -> Tracking:
    """Judge the Deployment's tracking value now. Total: whatever stands there has a state."""
    since = deployment.restarted_at
    if since is None:
        return Tracking(State.NONE)
    if isinstance(since, Unreadable) or since - terms.now > AHEAD:
        return Tracking(State.UNUSABLE)
    timeout = timeout_of(deployment, terms)
    is_over = terms.now - since >= timeout
    return Tracking(State.TIMED_OUT if is_over else State.LIVE, since, since + timeout)


def timeout_of(deployment: Deployment, terms: Terms) -> timedelta:
    """How long evictions are denied at most: the Deployment's own timeout if it is a positive one.

    One that is longer than the setting could be is cut to that.
    """
    own = deployment.rollout_timeout
    if isinstance(own, timedelta) and own > timedelta(0):
        return min(own, LONGEST_TIMEOUT)
    return terms.rollout_timeout


def findings(deployment: Deployment, terms: Terms) -> tuple[Finding, ...]:
    """All that is wrong with what stands on the Deployment; none of it ever stops a drain."""
    return tuple(
        found
        for found in (_about_timeout(deployment, terms), _about_tracking(deployment, terms))
        if found is not None
    )


def format_stamp(moment: datetime) -> str:
    """Write an instant as RFC 3339 in UTC, so that reading it gives the same instant again."""
    return f"{moment.replace(tzinfo=None).isoformat()}Z"


def format_span(span: timedelta) -> str:
    """Write a duration as Go does, for people: ``10m0s``, ``1.5s``, ``-1h0m0s``."""
    sign, rest = ("-", -span) if span < timedelta(0) else ("", span)
    minutes, seconds = divmod(rest, timedelta(minutes=1))
    hours, minutes = divmod(minutes, 60)
    whole = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{whole}{seconds.total_seconds():g}s"


def _about_timeout(deployment: Deployment, terms: Terms) -> Finding | None:
    own = deployment.rollout_timeout
    if own is None or own == timeout_of(deployment, terms):
        return None
    text = own.text if isinstance(own, Unreadable) else format_span(own)
    is_long = isinstance(own, timedelta) and own > LONGEST_TIMEOUT
    wrong = "longer than 24h" if is_long else "no positive duration such as 15m"
    counts = timeout_of(deployment, terms)
    return Finding(
        Code.TIMEOUT_INVALID,
        f"annotation {names.DRAIN_ROLLOUT_TIMEOUT} ({_quoted(text)}) is {wrong}:"
        f" {format_span(counts)} counts",
    )


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}...")


def _about_tracking(deployment: Deployment, terms: Terms) -> Finding | None:
    since = deployment.restarted_at
    if isinstance(since, Unreadable):
        return Finding(
            Code.TRACKING_UNREADABLE,
            f"annotation {names.DRAIN_RESTARTED_AT} ({_quoted(since.text)}) is no time: it is removed",
        )
    if since is not None and since - terms.now > AHEAD:
        return Finding(
            Code.TRACKING_AHEAD,
            f"annotation {names.DRAIN_RESTARTED_AT} ({format_stamp(since)}) lies too far ahead of"
            f" {format_stamp(terms.now)}: it is removed",
        )
    return None
