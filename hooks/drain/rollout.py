"""What a rollout of a single replica would do, and how far one is.

Owns the arithmetic of maxSurge and maxUnavailable, as the Deployment controller rounds them, and
what complete means. Seen in Kubernetes v1.36.3 ``pkg/controller/deployment/util/deployment_util.go``
(ResolveFenceposts, DeploymentComplete) and ``rolling.go``. Source: design/drain.md.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from hooks.drain.model import Deployment, Share, Strategy

_ROLLING: Final = "RollingUpdate"
_BY_DEFAULT: Final = "25%"
_PERCENTAGE: Final = re.compile(r"([0-9]{1,9})%")


class Obstacle(StrEnum):
    """The field that keeps a successor from coming first."""

    PAUSED = "spec.paused"
    TYPE = "spec.strategy.type"
    SURGE = "spec.strategy.rollingUpdate.maxSurge"
    UNAVAILABLE = "spec.strategy.rollingUpdate.maxUnavailable"


ADVICE: Final = {
    Obstacle.PAUSED: "resume it",
    Obstacle.TYPE: "set it to RollingUpdate",
    Obstacle.SURGE: "set it to 1 or more",
    Obstacle.UNAVAILABLE: "set it to 0",
}


class Bounds(NamedTuple):
    """How many Pods there may be too many, and how many too few, during a rollout."""

    surge: int
    unavailable: int


def bounds(strategy: Strategy, replicas: int) -> Bounds | None:
    """Resolve both as the Deployment controller does; None when either can't be read.

    Percentages of ``replicas`` round up for surge and down for unavailable. When both come out as 0
    nothing could ever move, so one Pod may be unavailable then.
    """
    surge = _resolve(strategy.max_surge, replicas, up=True)
    unavailable = _resolve(strategy.max_unavailable, replicas, up=False)
    if surge is None or unavailable is None:
        return None
    return Bounds(surge, 1 if surge == unavailable == 0 else unavailable)


def obstacle(deployment: Deployment) -> Obstacle | None:
    """What keeps a ready successor from coming before the old Pod goes; None when nothing does.

    With maxUnavailable of 1 or more (at one replica: a number, or 100%) the Deployment controller
    takes the only Pod down as soon as the new one is created: a rollout would make the very gap.
    """
    if deployment.paused:
        return Obstacle.PAUSED
    strategy = deployment.strategy
    if strategy.type != _ROLLING:
        return Obstacle.TYPE
    surge = _resolve(strategy.max_surge, deployment.replicas, up=True)
    if not surge:
        return Obstacle.SURGE
    limits = bounds(strategy, deployment.replicas)
    return Obstacle.UNAVAILABLE if limits is None or limits.unavailable else None


def is_observed(deployment: Deployment) -> bool:
    """Whether the status already speaks of the present spec."""
    return deployment.observed_generation >= deployment.generation


def is_settled(deployment: Deployment) -> bool:
    """Whether all Pods there are have the present template: no rollout is under way."""
    return is_observed(deployment) and deployment.updated == deployment.total


def has_ready_update(deployment: Deployment) -> bool:
    """Whether one of the ready Pods must have the present template: more are than have an older one."""
    return deployment.ready > deployment.total - deployment.updated


def is_complete(deployment: Deployment) -> bool:
    """Whether the rollout is over: every Pod is updated and ready, and none is too many."""
    counts = {deployment.updated, deployment.ready, deployment.total}
    return (
        is_observed(deployment) and counts == {deployment.replicas} and deployment.unavailable == 0
    )


def _resolve(share: Share, total: int, *, up: bool) -> int | None:
    share = _BY_DEFAULT if share is None else share
    if isinstance(share, int):
        return share if share >= 0 else None
    match = _PERCENTAGE.fullmatch(share)
    if match is None:
        return None
    parts = int(match.group(1)) * total
    return -(-parts // 100) if up else parts // 100
