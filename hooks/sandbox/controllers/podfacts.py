"""What controllers ask about a Pod.

Owns the words. Seen in Kubernetes v1.36.3 ``pkg/controller/controller_utils.go`` (IsPodActive),
``pkg/api/v1/pod/util.go`` (IsPodReady, IsPodAvailable).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hooks.sandbox.controllers.conditions import condition_of, is_true
from hooks.sandbox.objects import controller_ref, is_terminating
from hooks.sandbox.scheduling.layout import is_finished

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj


def priority_of(pod: Obj) -> int:
    """Return the priority that admission has given; 0 without one."""
    return int((pod.get("spec") or {}).get("priority") or 0)


def phase_of(pod: Obj) -> str:
    """Return the phase; a new Pod is Pending."""
    phase: str = (pod.get("status") or {}).get("phase") or "Pending"
    return phase


def is_ready(pod: Obj) -> bool:
    """Tell whether the Pod's condition Ready is True."""
    return is_true(pod, "Ready")


def is_active(pod: Obj) -> bool:
    """Tell whether the Pod runs or will run: neither finished nor being deleted."""
    return not is_finished(pod) and not is_terminating(pod)


def is_owned_by(pod: Obj, uid: str) -> bool:
    """Tell whether this is the controller that the Pod belongs to."""
    owner = controller_ref(pod)
    return owner is not None and bool(owner["uid"] == uid)


def available_at(pod: Obj, min_ready: timedelta) -> datetime | None:
    """Return since or from when the Pod is available; None while it isn't ready."""
    condition = condition_of(pod, "Ready")
    if condition is None or condition.get("status") != "True":
        return None
    return datetime.fromisoformat(condition["lastTransitionTime"]) + min_ready
