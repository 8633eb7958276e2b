"""Numbers that may be percentages: maxSurge, maxUnavailable, minAvailable.

Owns the rounding. Seen in apimachinery v0.36.3 ``pkg/util/intstr/intstr.go``
(GetScaledValueFromIntOrPercent) and Kubernetes v1.36.3
``pkg/controller/deployment/util/deployment_util.go`` (ResolveFenceposts).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

IntOrPercent: TypeAlias = int | str


def scaled(share: IntOrPercent, total: int, *, round_up: bool) -> int:
    """Return a number as it is, or a percentage of a total."""
    if isinstance(share, int):
        return share
    percent = int(share.removesuffix("%"))
    return -(-percent * total // 100) if round_up else percent * total // 100


class Fenceposts(NamedTuple):
    """How many Pods there may be too many, and how many too few, during a rollout."""

    surge: int
    unavailable: int


def fenceposts(surge: IntOrPercent, unavailable: IntOrPercent, desired: int) -> Fenceposts:
    """Round surge up and unavailable down; both zero would never move, so one may be missing."""
    most = scaled(surge, desired, round_up=True)
    missing = scaled(unavailable, desired, round_up=False)
    return Fenceposts(most, 1 if most == 0 and missing == 0 else missing)
