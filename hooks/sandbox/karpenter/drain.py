"""A drain: which Pods it waits for, whom it evicts next, and whom it deletes because time runs out.

Owns the decisions, pure. Leaves the calls to :mod:`hooks.sandbox.karpenter.termination`. Seen in
``pkg/controllers/node/termination/terminator/terminator.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hooks.sandbox.karpenter.moments import deleted_at
from hooks.sandbox.karpenter.pods import (
    STUCK_AFTER,
    grace_of,
    holds_up_drain,
    is_critical,
    is_evictable,
    is_of_daemon_set,
    protected_until,
)
from hooks.sandbox.objects import is_terminating

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_A_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class DrainStep:
    """What to do with a Node's Pods now."""

    waiting: Sequence[Obj]
    """All that still hold the drain up."""
    evict: Sequence[Obj]
    """Those of the first group that isn't empty that may be evicted."""
    delete: Sequence[tuple[Obj, int]]
    """Those whose own grace would end after the Node's deadline, with the seconds that are left."""
    look_again: Sequence[datetime]
    """When one of these answers may change by itself."""


def drain_step(pods: Iterable[Obj], now: datetime, deadline: datetime | None) -> DrainStep:
    """Return the next step of a drain; ``deadline`` is when the Node goes in any case."""
    waiting = [pod for pod in pods if holds_up_drain(pod, now)]
    group = _first_group(waiting)
    return DrainStep(
        waiting=waiting,
        evict=[pod for pod in group if is_evictable(pod, now)],
        delete=[] if deadline is None else _expiring(waiting, now, deadline),
        look_again=[
            moment
            for pod in waiting
            for moment in (_unstuck(pod), protected_until(pod), _last_call(pod, deadline))
            if moment is not None
        ],
    )


def _first_group(pods: Sequence[Obj]) -> list[Obj]:
    """Return the Pods that go next: ordinary ones, their DaemonSets, then the critical ones."""
    groups: dict[tuple[bool, bool], list[Obj]] = {}
    for pod in pods:
        groups.setdefault((is_critical(pod), is_of_daemon_set(pod)), []).append(pod)
    return groups[min(groups)] if groups else []


def _expiring(pods: Iterable[Obj], now: datetime, deadline: datetime) -> list[tuple[Obj, int]]:
    left = max(int((deadline - now).total_seconds()), 1)
    return [
        (pod, left)
        for pod in pods
        if now >= deadline - grace_of(pod) and _can_be_hastened(pod, deadline)
    ]


def _can_be_hastened(pod: Obj, deadline: datetime) -> bool:
    ends = deleted_at(pod)
    return ends is None or ends > deadline


def _last_call(pod: Obj, deadline: datetime | None) -> datetime | None:
    if deadline is None or is_terminating(pod):
        return None
    return deadline - grace_of(pod)


def _unstuck(pod: Obj) -> datetime | None:
    ends = deleted_at(pod)
    return None if ends is None else ends + STUCK_AFTER + _A_SECOND
