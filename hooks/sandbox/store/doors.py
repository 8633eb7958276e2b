"""Events through their two doors: ``v1`` and ``events.k8s.io/v1`` show the same objects.

Owns the translation of fields. Stored is the form of ``v1``. Seen in: kubernetes v1.36.3
pkg/apis/events/v1/conversion.go, pkg/apis/core/validation/events.go.
"""

from __future__ import annotations

from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, name_of, namespace_of
from hooks.sandbox.store.kinds import EVENTS
from hooks.sandbox.store.refusals import FieldProblem, invalid

NEW_EVENTS: Final = Resource("events.k8s.io/v1", "events", "Event", namespaced=True)
"""The second door; nothing is stored under it."""

_STORED_AS: Final = {
    "note": "message",
    "regarding": "involvedObject",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
_SHOWN_AS: Final = {stored: shown for shown, stored in _STORED_AS.items()}
_NEEDED: Final = ("reportingController", "reportingInstance", "action", "reason", "type")


def with_second_doors(served: tuple[Resource, ...]) -> tuple[Resource, ...]:
    """Return the kinds that discovery tells: those that are stored, and the second door."""
    return (*served, NEW_EVENTS) if EVENTS in served else served


def stored_kind(resource: Resource) -> Resource:
    """Return the kind under which a kind's objects are stored."""
    return EVENTS if resource == NEW_EVENTS else resource


def inwards(resource: Resource, obj: Obj) -> Obj:
    """Return an object as it is stored; raises ApiError 422 for an Event that lacks a part."""
    if resource != NEW_EVENTS:
        return obj
    _check_parts(obj)
    stored = {_STORED_AS.get(key, key): value for key, value in obj.items()}
    return stored | {"apiVersion": EVENTS.api_version}


def outwards(resource: Resource, obj: Obj) -> Obj:
    """Return a stored object as this door shows it."""
    if resource != NEW_EVENTS:
        return obj
    shown = {_SHOWN_AS.get(key, key): value for key, value in obj.items()}
    return shown | {"apiVersion": NEW_EVENTS.api_version}


def check_event(event: Obj) -> None:
    """Raise ApiError 422 unless an Event lives where what it is about lives.

    What has no namespace has its Events in ``default``.
    """
    about: str = (event.get("involvedObject") or {}).get("namespace") or ""
    if (about or "default") != namespace_of(event):
        message = f'Invalid value: "{about}": does not match event.namespace'
        problem = FieldProblem("involvedObject.namespace", "FieldValueInvalid", message)
        raise invalid(EVENTS, name_of(event), problem)


def _check_parts(event: Obj) -> None:
    if not event.get("eventTime"):
        if event.get("deprecatedFirstTimestamp"):
            # One that came in through the old door.
            return
        problem = FieldProblem("eventTime", "FieldValueRequired", "Required value")
        raise invalid(EVENTS, name_of(event), problem)
    problems = [
        FieldProblem(key, "FieldValueRequired", "Required value")
        for key in _NEEDED
        if not event.get(key)
    ]
    if problems:
        raise invalid(EVENTS, name_of(event), *problems)
