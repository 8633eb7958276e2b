"""The Events of ours in a history.

Owns which they are and what they are about.
"""

from __future__ import annotations

from collections.abc import Sequence

from hooks.verdict.history import Change
from tests.scenarios.stage import Object

OURS = "noderotation.io/hooks"
"""Who reports our Events."""
ENDS = frozenset({"RotationCompleted", "RotationFailed", "RotationExpired"})
"""Reasons of the Events that end an attempt."""


def reports(changes: Sequence[Change], pool: str) -> list[tuple[str, str]]:
    """(reason, about what) of each Event that ends an attempt in a pool, in order.

    That a claim was rotated is told of the pool: the note names the claim, and so does this. What
    else is told on the way is the business of ``tests/scenarios/signals``.
    """
    found: list[tuple[str, str]] = []
    for change in sorted(changes, key=lambda one: one.revision):
        if is_report(change) and change.type == "ADDED" and change.object["reason"] in ENDS:
            whom = about(change.object)
            if whom == pool or whom.startswith(f"{pool}-"):
                found.append((change.object["reason"], whom))
    return found


def is_report(change: Change, reason: str | None = None) -> bool:
    """Whether a change is one of an Event of ours (with this reason)."""
    ours = change.kind == "Event" and change.object.get("reportingComponent") == OURS
    return ours and reason in {None, change.object.get("reason")}


def about(event: Object) -> str:
    """The object of an Event; of a pool's the claim that its note names."""
    note: str = event.get("message", "")
    if event["involvedObject"]["kind"] == "NodePool" and note.startswith("NodeClaim "):
        return note.split()[1]
    name: str = event["involvedObject"]["name"]
    return name
