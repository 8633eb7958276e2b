"""What a pass decides: a value, to be applied, answered and reported by others.

Owns the shape. :mod:`hooks.rotation.phases` makes it. Source: design/rotation.md section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, TypeAlias

from hooks.rotation.durations import ZERO
from hooks.rotation.findings import Finding
from hooks.rotation.model import Policy, Stamp
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import Announce, Write

RESYNC: Final = timedelta(seconds=60)
"""The longest time to the next look."""
SOON: Final = timedelta(seconds=2)
"""How soon a pass that stopped, or that is only the first part of something, is followed by another."""


class Listing(Enum):
    """What becomes of the placeholder in the answer."""

    NONE = "none"
    KEEP = "keep"
    CREATE = "create"


@dataclass(frozen=True, slots=True)
class Creation:
    """What the placeholder is made from, once the writes of the pass have landed."""

    claim: str
    uid: str
    policy: Policy
    near_deadline_hosts: tuple[str, ...] = ()


Census: TypeAlias = tuple[tuple[str, int], ...]
"""(why a claim was passed over, how many), sorted by name."""
Value: TypeAlias = str | int | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """One log line, written only after all writes of the pass have landed.

    ``once``: the name of the Event that makes it count; the line, also one that is written on change,
    is left out when that Event was there already. ``on_change``: the line depends on a level, and is
    written when it differs from the last one of this event and pool. ``about``: of which thing in the
    pool the level is, where one pass may tell of several; such a line stands for itself, whatever the
    pass decided. Fields named ``nodeclaim`` or ``reason`` go before those of the decision. ``level``:
    what is compared on change, where the fields also hold a text that others reword all the time.
    ``warning``: something for people to look at, which stays in the log when it is set to warnings
    alone.
    """

    event: str
    fields: tuple[tuple[str, Value], ...] = ()
    once: str | None = None
    on_change: bool = False
    about: str = ""
    level: str = ""
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """What the gauges of a pool show; all zero where there is nothing to tell."""

    candidates: int = 0
    """Due and fit by what the NodeClaims tell, less those whose Nodes are known to be opted out."""
    in_progress: bool = False
    window_active: bool = False
    conflict: bool = False
    """Policies tie, or the governing one is invalid."""
    freeze_until: Stamp = None
    age_threshold: timedelta = ZERO
    chances: int = 0
    capacity: int = 0
    t_rot_est: timedelta = ZERO
    t_rot: timedelta = ZERO
    period: timedelta = ZERO
    short_lead: int = 0
    drain_stuck: bool = False
    retry_count: int = 0
    """The highest of the pool's claims."""
    next_window: datetime | None = None
    slack: timedelta = ZERO
    """Until the nearest deadline; negative when that is over, zero when there is none."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The row that matched, why, and everything that follows from it.

    ``announcements`` are Events that tell of the pass once its writes have landed, the most
    important ones first; no write waits for them.
    """

    row: str
    reason: Reason
    detail: str = ""
    claim: str | None = None
    writes: tuple[Write, ...] = ()
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    listing: Listing = Listing.NONE
    creation: Creation | None = None
    look_again: timedelta = RESYNC
    reports: tuple[Report, ...] = ()
    announcements: tuple[Announce, ...] = ()
    census: Census = ()
    opted_out: frozenset[str] = field(default_factory=frozenset)
    eligible: int | None = None
    """How many claims could be rotated, where that has been counted to choose one."""
    findings: tuple[Finding, ...] = ()
    figures: Figures = Figures()


STOP_ROW: Final = "stop"


def stop(reason: Reason, claim: str | None = None) -> Decision:
    """No further write, no annotation change, the placeholder kept, none created, back soon."""
    return Decision(STOP_ROW, reason, claim=claim, listing=Listing.KEEP, look_again=SOON)
