"""Conditions in a status: reading them, and writing them so that times change only with the state.

Owns the two shapes that there are, a Pod's and metav1.Condition. Seen in Kubernetes v1.36.3
``pkg/api/pod/util.go`` (UpdatePodCondition) and apimachinery ``pkg/api/meta/conditions.go``; a Pod's
``lastProbeTime: null`` in the recording rotation-with-pdb-blocked-drain.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from hooks.sandbox.store.identity import stamp

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj


def condition_of(obj: Obj, kind: str) -> Obj | None:
    """Return a condition of an object, if it has it."""
    conditions: list[Obj] = (obj.get("status") or {}).get("conditions") or []
    return next((one for one in conditions if one.get("type") == kind), None)


def is_true(obj: Obj, kind: str) -> bool:
    """Tell whether a condition is there and True."""
    condition = condition_of(obj, kind)
    return condition is not None and condition.get("status") == "True"


def set_condition(obj: Obj, now: datetime, condition: Obj) -> None:
    """Put a condition into an object that is being changed, beside or instead of an older one."""
    status: Obj = obj.setdefault("status", {})
    conditions: list[Obj] = status.setdefault("conditions", [])
    at = stamp(now)
    for index, one in enumerate(conditions):
        if one["type"] == condition["type"]:
            if one["status"] == condition["status"]:
                at = one.get("lastTransitionTime") or at
            conditions[index] = {**condition, "lastTransitionTime": at}
            return
    conditions.append({**condition, "lastTransitionTime": at})


def pod_condition(kind: str, status: str, reason: str = "", message: str = "") -> Obj:
    """Return a Pod's condition as it is stored: texts that are empty are left out."""
    texts = {"reason": reason, "message": message}
    return {
        "type": kind,
        "status": status,
        "lastProbeTime": None,
        **{key: text for key, text in texts.items() if text},
    }
