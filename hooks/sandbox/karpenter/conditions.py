"""Status conditions with a root that follows from the ones it depends on.

Owns the rules of github.com/awslabs/operatorpkg ``status/condition_set.go``: what an absent
condition is, when a transition counts, in which order they stand, and what Ready says meanwhile.
Works on a copy of the object, whoever calls it writes the status.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.moments import moment_of
from hooks.sandbox.objects import generation_of, is_terminating, metadata_of
from hooks.sandbox.store.identity import stamp

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

OF_CLAIMS: Final = (words.LAUNCHED, words.REGISTERED, words.INITIALIZED)
OF_POOLS: Final = ("ValidationSucceeded", "NodeClassReady")
_UNHEALTHY: Final = frozenset({"False", "Unknown"})


def condition_of(obj: Obj, kind: str) -> Obj | None:
    """Return the condition of this type, None when there is none."""
    conditions: list[Obj] = (obj.get("status") or {}).get("conditions") or []
    return next((one for one in conditions if one.get("type") == kind), None)


def is_true(obj: Obj, kind: str) -> bool:
    """Tell whether the condition is there and True."""
    return (condition_of(obj, kind) or {}).get("status") == "True"


def changed_at(obj: Obj, kind: str) -> datetime | None:
    """Return the condition's last transition, None when it isn't there."""
    condition = condition_of(obj, kind)
    return None if condition is None else moment_of(condition["lastTransitionTime"])


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of one object that may be changed in place, at one moment."""

    obj: Obj
    dependents: tuple[str, ...]
    now: datetime

    def begin(self) -> None:
        """Add those that must be there, as Unknown: Ready first, then what it depends on."""
        for kind in (words.READY, *self.dependents):
            if condition_of(self.obj, kind) is None:
                self.set_unknown(
                    kind, "AwaitingReconciliation", "object is awaiting reconciliation"
                )

    def set_true(self, kind: str, reason: str = "", message: str = "") -> None:
        """Set a condition to True; its reason is its type unless said otherwise."""
        self._set(kind, "True", reason or kind, message)

    def set_unknown(self, kind: str, reason: str, message: str) -> None:
        """Set a condition to Unknown."""
        self._set(kind, "Unknown", reason, message)

    def set_false(self, kind: str, reason: str, message: str) -> None:
        """Set a condition to False."""
        self._set(kind, "False", reason, message)

    def clear(self, kind: str) -> None:
        """Remove a condition that Ready doesn't depend on; the others are then sorted by type."""
        kept = [one for one in self._all() if one["type"] != kind]
        if len(kept) != len(self._all()):
            self._status()["conditions"] = sorted(kept, key=lambda one: str(one["type"]))

    def _set(self, kind: str, status: str, reason: str, message: str) -> None:
        old = condition_of(self.obj, kind)
        generation = generation_of(self.obj)
        new = {
            "lastTransitionTime": self._transition(kind, status, old),
            "message": message,
            "observedGeneration": generation,
            "reason": reason,
            "status": status,
            "type": kind,
        }
        if new == old:
            return
        others = [one for one in self._all() if one["type"] != kind]
        if is_terminating(self.obj):
            others = [{**one, "observedGeneration": generation} for one in others]
        self._status()["conditions"] = sorted([*others, new], key=_place)
        if kind != words.READY:
            self._follow()

    def _transition(self, kind: str, status: str, old: Obj | None) -> str:
        if old is not None and old["status"] == status:
            return str(old["lastTransitionTime"])
        if old is None and kind in (words.READY, *self.dependents):
            return str(metadata_of(self.obj)["creationTimestamp"])
        return stamp(self.now)

    def _follow(self) -> None:
        """Let Ready say what the others say together."""
        generation = generation_of(self.obj)
        unhealthy = [
            one
            for one in self._all()
            if one["type"] in self.dependents
            and (one["status"] in _UNHEALTHY or one["observedGeneration"] != generation)
        ]
        if not unhealthy:
            self.set_true(words.READY)
            return
        unhealthy.sort(key=lambda one: str(one["lastTransitionTime"]), reverse=True)
        said = ", ".join(f"{one['type']}={one['status']}" for one in unhealthy)
        is_false = any(
            one["status"] == "False" and one["observedGeneration"] == generation
            for one in unhealthy
        )
        if is_false:
            self.set_false(words.READY, "UnhealthyDependents", said)
        else:
            self.set_unknown(words.READY, "ReconcilingDependents", said)

    def _all(self) -> list[Obj]:
        conditions: list[Obj] = self._status().get("conditions") or []
        return conditions

    def _status(self) -> Obj:
        status: Obj = self.obj.setdefault("status", {})
        return status


def _place(condition: Obj) -> tuple[bool, str]:
    return condition["type"] == words.READY, str(condition["lastTransitionTime"])
