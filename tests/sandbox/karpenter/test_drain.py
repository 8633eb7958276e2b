"""Whom a drain evicts, deletes and waits for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from hooks.sandbox.karpenter.drain import drain_step
from hooks.sandbox.objects import Obj, name_of

NOW = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)


def pod(name: str, *, owner: str = "", critical: bool = False, grace: int = 30, **more: Obj) -> Obj:
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": "x"}] if owner else []
    return {
        "metadata": {"name": name, "ownerReferences": owners, **more.get("metadata", {})},
        "spec": {
            "priorityClassName": "system-node-critical" if critical else "",
            "terminationGracePeriodSeconds": grace,
            **more.get("spec", {}),
        },
        "status": {"phase": "Running", **more.get("status", {})},
    }


def names(pods: Iterable[Obj]) -> list[str]:
    return [name_of(one) for one in pods]


ORDINARY = pod("ordinary")
DAEMON = pod("daemon", owner="DaemonSet")
CRITICAL = pod("critical", critical=True)
CRITICAL_DAEMON = pod("critical-daemon", owner="DaemonSet", critical=True)


def test_groups_go_one_after_the_other() -> None:
    left = [CRITICAL_DAEMON, CRITICAL, DAEMON, ORDINARY]
    order = []
    while left:
        step = drain_step(left, NOW, None)
        assert names(step.waiting) == names(left)
        order.append(names(step.evict))
        left = [one for one in left if name_of(one) not in order[-1]]
    assert order == [["ordinary"], ["daemon"], ["critical"], ["critical-daemon"]]


def test_pods_that_a_drain_has_nothing_to_do_with_are_left_alone() -> None:
    everything = [{"operator": "Exists"}]
    mirror = [{"apiVersion": "v1", "kind": "Node", "name": "n"}]
    stuck = (NOW - timedelta(seconds=61)).isoformat()
    left = [
        pod("tolerant", spec={"tolerations": everything}),
        pod("static", metadata={"ownerReferences": mirror}),
        pod("finished", status={"phase": "Succeeded"}),
        pod("stuck", metadata={"deletionTimestamp": stuck}),
    ]
    step = drain_step(left, NOW, NOW)
    assert (step.waiting, step.evict, step.delete) == ([], [], [])


def test_a_protected_pod_holds_the_drain_up_and_is_never_evicted() -> None:
    protected = pod("p", metadata={"annotations": {"karpenter.sh/do-not-disrupt": "true"}})
    step = drain_step([protected, DAEMON], NOW, None)
    assert names(step.waiting) == ["p", "daemon"]
    assert names(step.evict) == []


def test_a_protection_for_a_time_ends() -> None:
    guarded = pod(
        "p",
        metadata={"annotations": {"karpenter.sh/do-not-disrupt": "10m"}},
        status={"startTime": "2026-11-29T19:55:00Z"},
    )
    ends = datetime(2026, 11, 29, 20, 5, tzinfo=UTC)
    step = drain_step([guarded], NOW, None)
    assert (names(step.evict), list(step.look_again)) == ([], [ends])
    assert names(drain_step([guarded], ends, None).evict) == ["p"]


def test_a_pod_is_deleted_when_its_grace_would_end_after_the_deadline() -> None:
    deadline = NOW + timedelta(seconds=40)
    quick, slow = pod("quick", grace=30), pod("slow", grace=60)
    protected = pod(
        "p", grace=90, metadata={"annotations": {"karpenter.sh/do-not-disrupt": "true"}}
    )
    step = drain_step([quick, slow, protected], NOW, deadline)
    assert [(name_of(one), left) for one, left in step.delete] == [("slow", 40), ("p", 40)]
    assert NOW + timedelta(seconds=10) in step.look_again


def test_after_the_deadline_a_pod_still_gets_a_second() -> None:
    step = drain_step([ORDINARY], NOW, NOW - timedelta(minutes=1))
    assert [(name_of(one), left) for one, left in step.delete] == [("ordinary", 1)]


def test_a_terminating_pod_is_hastened_only_when_it_would_outlast_the_node() -> None:
    deadline = NOW + timedelta(seconds=20)
    soon = pod("soon", metadata={"deletionTimestamp": (NOW + timedelta(seconds=5)).isoformat()})
    late = pod("late", metadata={"deletionTimestamp": (NOW + timedelta(seconds=50)).isoformat()})
    step = drain_step([soon, late], NOW, deadline)
    assert names(step.waiting) == ["soon", "late"]
    assert names(step.evict) == []
    assert [(name_of(one), left) for one, left in step.delete] == [("late", 20)]
