"""Which taints a Pod puts up with.

Owns tolerations. Seen in k8s.io/api v0.36.3 ``core/v1/toleration.go`` and component-helpers
``scheduling/corev1/helpers.go``; the operators Lt and Gt are an alpha feature, off by default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
HARD: Final = ("NoSchedule", "NoExecute")
"""The effects that keep a Pod away; PreferNoSchedule is only a score."""


def tolerates(pod: Obj, taints: Iterable[Obj], effects: Collection[str] = HARD) -> bool:
    """Tell whether a Pod puts up with all taints of these effects."""
    return untolerated(pod, taints, effects) is None


def untolerated(pod: Obj, taints: Iterable[Obj], effects: Collection[str] = HARD) -> Obj | None:
    """Return the first taint of these effects that a Pod doesn't put up with."""
    for taint in taints:
        if taint.get("effect") in effects and not tolerations_for(pod, taint):
            return taint
    return None


def tolerations_for(pod: Obj, taint: Obj) -> list[Obj]:
    """Return the tolerations of a Pod that cover a taint."""
    tolerations: list[Obj] = (pod.get("spec") or {}).get("tolerations") or []
    return [one for one in tolerations if _covers(one, taint)]


def tolerates_unschedulable(pod: Obj) -> bool:
    """Tell whether a cordon doesn't keep a Pod away, as with those of a DaemonSet."""
    return tolerates(pod, ({"key": UNSCHEDULABLE, "effect": "NoSchedule"},))


def _covers(toleration: Obj, taint: Obj) -> bool:
    effect, key = toleration.get("effect"), toleration.get("key")
    if (effect and effect != taint.get("effect")) or (key and key != taint.get("key")):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(operator == "Exists")
