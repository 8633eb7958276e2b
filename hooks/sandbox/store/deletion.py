"""What a delete does: at once, after a grace period, or when the last finalizer is gone.

Owns preconditions, grace, the marks of a deletion, and the finalizers by which a deletion waits for
the garbage collector. Seen in: apiserver v0.36.3 pkg/registry/rest/delete.go and
generic/registry/store.go (deletionFinalizersForGarbageCollection), kubernetes v1.36.3
pkg/registry/core/pod/strategy.go (CheckGracefulDelete). A Pod's deletionTimestamp is when its grace
ends, not when it was deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import (
    Obj,
    is_terminating,
    metadata_of,
    name_of,
    resource_version_of,
    uid_of,
)
from hooks.sandbox.scheduling.layout import is_finished
from hooks.sandbox.store import kinds
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.namespaces import terminating
from hooks.sandbox.store.refusals import precondition_failed

FOREGROUND: Final = "Foreground"
ORPHAN: Final = "Orphan"
BACKGROUND: Final = "Background"
FOREGROUND_FINALIZER: Final = "foregroundDeletion"
"""What it owns is deleted before it goes."""
ORPHAN_FINALIZER: Final = "orphan"
"""What it owns is made free before it goes."""
_FINALIZERS: Final = {FOREGROUND: FOREGROUND_FINALIZER, ORPHAN: ORPHAN_FINALIZER}


def check_preconditions(resource: Resource, stored: Obj, uid: str, resource_version: str) -> None:
    """Raise 409 Conflict unless the object is the one that is meant; empty always holds."""
    asked, there = uid, uid_of(stored)
    if asked not in {"", there}:
        raise precondition_failed(
            resource,
            name_of(stored),
            f"the UID in the precondition ({asked}) does not match the UID in record ({there}). "
            "The object might have been deleted and then recreated",
        )
    asked, there = resource_version, resource_version_of(stored)
    if asked not in {"", there}:
        raise precondition_failed(
            resource,
            name_of(stored),
            f"the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion "
            f"in record ({there}). The object might have been modified",
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of the object: how it is stored first, and whether it then goes at once."""

    stored: Obj
    goes: bool


def outcome_of(
    resource: Resource, stored: Obj, asked: int | None, propagation: str, now: datetime
) -> Outcome:
    """Return what a delete does; the same object when it changes nothing.

    Only Pods have a grace period. They are marked even when they go at once, so that a watch sees
    two events.
    """
    if resource == kinds.NAMESPACES:
        # It goes when nothing is left in it.
        marked = stored if is_terminating(stored) else terminating(stored, now)
        return Outcome(marked, goes=False)
    held = _held(resource, stored, propagation)
    finalizers = metadata_of(held).get("finalizers")
    if resource == kinds.PODS and metadata_of(stored).get("deletionGracePeriodSeconds") != 0:
        left = _graceful(held, asked, now)
        if left is held:
            # A deletion that goes on already is held by nothing more than it was.
            return Outcome(stored, goes=False)
        over = metadata_of(left)["deletionGracePeriodSeconds"] == 0
        return Outcome(left, goes=over and not finalizers)
    if not finalizers:
        return Outcome(stored, goes=True)
    return Outcome(held if is_terminating(held) else _marked(held, now, 0), goes=False)


def is_over(obj: Obj) -> bool:
    """Tell whether an update has taken away the last thing that kept a deleted object."""
    metadata = metadata_of(obj)
    return obj.get("kind") != kinds.NAMESPACES.kind and (
        is_terminating(obj)
        and not metadata.get("finalizers")
        and not metadata.get("deletionGracePeriodSeconds")
    )


def _held(resource: Resource, stored: Obj, propagation: str) -> Obj:
    """Return the object with the finalizer that the garbage collector takes away in the end."""
    before: list[str] = metadata_of(stored).get("finalizers") or []
    if not propagation or resource == kinds.EVENTS:
        return stored
    wanted = _FINALIZERS.get(propagation)
    after = [one for one in before if one not in _FINALIZERS.values()]
    after += [wanted] if wanted else []
    if set(after) == set(before):
        return stored
    return stored | {"metadata": metadata_of(stored) | {"finalizers": after}}


def _graceful(stored: Obj, asked: int | None, now: datetime) -> Obj:
    if asked is not None and asked < 0:
        asked = 1
    if not is_terminating(stored):
        grace = _first_grace(stored, asked)
        return _marked(stored, now + timedelta(seconds=grace), grace)
    known: int = metadata_of(stored)["deletionGracePeriodSeconds"]
    if asked is None or asked >= known:
        # Grace can only become shorter.
        return stored
    grace = asked
    ends = datetime.fromisoformat(metadata_of(stored)["deletionTimestamp"])
    ends -= timedelta(seconds=known - grace)
    if ends < now:
        ends, grace = now, min(grace, 1)
    return _marked(stored, ends, grace)


def _first_grace(stored: Obj, asked: int | None) -> int:
    spec: Obj = stored.get("spec") or {}
    if not spec.get("nodeName") or is_finished(stored):
        return 0
    own: int = spec.get("terminationGracePeriodSeconds") or 0
    return own if asked is None else asked


def _marked(stored: Obj, ends: datetime, grace: int) -> Obj:
    before = metadata_of(stored)
    marks: Obj = {"deletionTimestamp": stamp(ends), "deletionGracePeriodSeconds": grace}
    if not is_terminating(stored) and before.get("generation"):
        marks["generation"] = before["generation"] + 1
    return stored | {"metadata": before | marks}
