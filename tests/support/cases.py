"""What a case of the catalogue is: a world, and by hand what the design says must follow.

Nothing here comes from running the code: rows, reasons and writes are written by people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hooks.rotation.reasons import Reason
from tests.support.live import Json
from tests.support.world import NOW, World

KEPT, CREATED, NONE = "kept", "created", "none"


@dataclass(frozen=True)
class Trouble:
    """Something that happens when a call is made: an error, or a change to the cluster before it.

    ``verb`` and ``name`` select the calls (an empty name: all), ``nth`` the one of them that is
    hit (0: each). ``error`` is Conflict, Unavailable, NotFound or Lost (the call lands, its answer
    does not); ``change`` replaces live objects by kind and name, None takes one away.
    """

    verb: str
    name: str = ""
    nth: int = 1
    error: str = ""
    change: Mapping[str, Mapping[str, Json | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One pass.

    ``live`` is the cluster as it is when the hook looks, ``world`` as the request shows it.
    ``annotations`` are those of the answer, ours without their prefix. ``log`` are the messages of
    the lines written. ``look_again`` in seconds, where the design fixes it. ``raises``: the class
    of the error, when there is no answer. ``unusual`` are the checks of tests/support/plausible.py
    that the case breaks on purpose.
    """

    name: str
    why: str
    world: World
    row: str
    reason: Reason | None
    writes: tuple[str, ...] = ()
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    listed: str = NONE
    look_again: float | None = None
    live: World | None = None
    now: str = NOW
    settings: Mapping[str, Any] = field(default_factory=dict)
    troubles: tuple[Trouble, ...] = ()
    events: tuple[str, ...] = ()
    """Names of Events that are there already."""
    log: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    """Reasons of the Events after the writes, beyond those of the lines and findings."""
    findings: tuple[str, ...] = ()
    detail: str | None = None
    census: Mapping[str, int] | None = None
    raises: str = ""
    unusual: frozenset[str] = frozenset()


EVENTS_OF_LINES = {
    "malformed state": "MalformedState",
    "placeholder unschedulable": "SurgeUnschedulable",
    "placeholder not created": "SurgeNotCreated",
    "drain stuck": "DrainStuck",
}
"""Lines that always come with an Event."""
BEGINNINGS = {"3", "4", "14"}
"""Rows in which the line ``candidate selected`` comes with one."""
AMONG_WRITES = {"RotationCompleted", "RotationExpired", "RotationFailed", "GovernanceLost"}
"""Reasons of the Events that have their place among the writes."""
FATAL = {"ANonPositive", "OverrideGBelowOne"}
"""Findings that come without an Event: they block, and are told as the reason why."""


def events_of(case: Case) -> list[str]:
    """The reasons of the Events that follow the writes, sorted."""
    found = [*case.told, *(code for code in case.findings if code not in FATAL)]
    found += [EVENTS_OF_LINES[line] for line in case.log if line in EVENTS_OF_LINES]
    if case.row in BEGINNINGS:
        found += ["RotationStarted" for line in case.log if line == "candidate selected"]
    return sorted(found)


SELECTED = ("candidate selected",)
"""The lines of a pass that can't know whether the beginning of the attempt was told."""
CLEAR = {
    "active-rotation": None,
    "active-rotation-uid": None,
}
"""What ends a rotation that has written its anchor only."""
CLEAR_MIRRORED = CLEAR | {"active-rotation-state": None, "draining-at": None, "surge-wait": None}
"""What ends a surge that was mirrored."""
UNMIRROR = {"active-rotation-state": None, "draining-at": None, "surge-wait": None}
"""What takes the mirror back."""
