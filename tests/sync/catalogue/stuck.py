"""Row 8 when the drain takes too long, or can't end: who blocks it is told, and never fails a pass.

What the lines say is held by hand in tests/sync/test_stuck.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from hooks import names
from hooks.rotation.reasons import Reason
from tests.support.cases import Case, Trouble
from tests.support.live import BUDGET, Json
from tests.support.scene import deleted, named, where
from tests.support.world import DUE, World, uid_of, workload

LATE = "2026-11-29T20:03:11Z"
"""A second after the claim's grace of 2m and the buffer of 2m."""
AN_HOUR_LATE = "2026-11-29T21:01:11Z"
"""The same for a claim without a grace period, which counts as 1h."""
STUCK: dict[str, Any] = {"now": AN_HOUR_LATE, "log": ("drain stuck",)}
Change = Callable[[World], object]


@dataclass
class Guarded(World):
    """A cluster with PodDisruptionBudgets, which no request shows."""

    budgets: list[Json] = field(default_factory=list)

    @override
    def live(self) -> dict[str, dict[str, Json]]:
        return super().live() | {
            BUDGET: {f"default/{b['metadata']['name']}": b for b in self.budgets}
        }


def budget(name: str, labels: dict[str, str] | None, allowed: int = 0) -> Json:
    """A budget of the namespace that the workloads live in."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid_of(f"budget-{name}"),
            "resourceVersion": "901",
            "creationTimestamp": DUE,
        },
        "spec": {
            "minAvailable": 1,
            "selector": None if labels is None else {"matchLabels": labels},
        },
        "status": {
            "disruptionsAllowed": allowed,
            "currentHealthy": 1 + allowed,
            "desiredHealthy": 1,
            "expectedPods": 1 + allowed,
        },
    }


def _guarded(*budgets: Json, changes: tuple[Change, ...] = ()) -> World:
    """Karpenter drains ``old``, which has no grace period; web-1 runs on it and is ready."""
    scene = where(deleted(), *changes)
    world = Guarded(scene.pool, scene.policies, scene.claims, scene.nodes, scene.pods, [*budgets])
    named(world.claims, "old")["spec"].pop("terminationGracePeriod")
    web = named(world.pods, "web-1")
    web["metadata"]["labels"] = {"app": "web"}
    web["status"] |= {"startTime": DUE, "conditions": [{"type": "Ready", "status": "True"}]}
    _told(world, Drained="Unknown")
    return world


def _told(world: World, **conditions: str) -> None:
    """Sets conditions of the claim; the reasons are Karpenter's."""
    reasons = {"Unknown": "Draining", "True": ""}
    named(world.claims, "old")["status"]["conditions"] += [
        {"type": kind, "status": status, "reason": reasons[status] or kind}
        for kind, status in conditions.items()
    ]


def _kept(value: str = "true") -> Change:
    """The workload's Pod says that it must not be disrupted."""
    note = {names.DO_NOT_DISRUPT: value}
    return lambda world: named(world.pods, "web-1")["metadata"].update(annotations=note)


def _graced(world: World) -> None:
    named(world.claims, "old")["spec"]["terminationGracePeriod"] = "2m"


def _dying(world: World) -> None:
    named(world.pods, "web-1")["metadata"] |= {
        "deletionTimestamp": "2026-11-29T20:01:00Z",
        "deletionGracePeriodSeconds": 30,
    }


def _crowd(world: World) -> None:
    """Twelve more Pods, all of them held."""
    for at in range(12):
        pod = workload(f"job-{at:02}", "old", "10m", "10Mi")
        pod["metadata"]["annotations"] = {names.DO_NOT_DISRUPT: "true"}
        world.pods.append(pod)


def _nearly_gone(world: World) -> None:
    world.pods.remove(named(world.pods, "web-1"))
    conditions = named(world.claims, "old")["status"]["conditions"]
    conditions[:] = [each for each in conditions if each["type"] != "Drained"]
    _told(world, Drained="True", VolumesDetached="True")


def _unread(verb: str, name: str = "", **trouble: Any) -> dict[str, Any]:
    return {"troubles": (Trouble(verb, name, **({"error": "Unavailable"} | trouble)),)}


def _stuck(name: str, why: str, world: World, **more: Any) -> Case:
    return Case(name, why, world, "8", Reason.DRAIN_STUCK, **(STUCK | more))


WEB = {"app": "web"}
NAMED = (
    _stuck("stuck-behind-a-budget", "the Pod and its budget are named; other budgets aren't",
           _guarded(budget("web", WEB), budget("api", {"app": "api"}), budget("none", None))),
    _stuck("stuck-behind-two-budgets", "the eviction API takes no Pod with more than one",
           _guarded(budget("web", WEB, 1), budget("all", {}, 5))),
    _stuck("stuck-behind-do-not-disrupt", "no grace period: nothing ever evicts it",
           _guarded(changes=(_kept(),))),
    _stuck("stuck-on-a-pod-that-does-not-die", "its own grace is over; the budget let it go",
           where(_guarded(budget("web", WEB)), _graced, _dying), now=LATE),
    _stuck("stuck-behind-a-crowd", "the first ten are named",
           where(_guarded(budget("web", WEB)), _crowd)),
    _stuck("stuck-after-the-drain", "no Pod is left; the conditions tell where it hangs",
           where(_guarded(budget("web", WEB)), _nearly_gone)),
    _stuck("stuck-behind-a-budget-that-allows", "Karpenter will evict it at its next try",
           _guarded(budget("web", WEB, 1))),
)  # fmt: skip

UNREAD = (
    _stuck("stuck-and-the-budgets-are-not-read", "said; what else holds a Pod is told all the same",
           _guarded(budget("web", WEB), changes=(_kept(),)), **_unread("list poddisruptionbudgets")),
    _stuck("stuck-and-budgets-are-not-served", "whatever goes wrong there, it fails no pass",
           _guarded(budget("web", WEB)),
           **_unread("list poddisruptionbudgets", error="NotServed")),
    _stuck("stuck-and-the-pods-are-not-read", "said", _guarded(budget("web", WEB)),
           **_unread("list pods")),
    _stuck("stuck-and-the-claim-is-not-read", "said", _guarded(budget("web", WEB)),
           **_unread("get nodeclaims", "old")),
    _stuck("stuck-until-a-moment-ago", "gone when it is read", _guarded(budget("web", WEB)), log=(),
           **_unread("get nodeclaims", "old", error="", change={"nodeclaims": {"old": None}})),
)  # fmt: skip


def _drains(name: str, why: str, world: World, *log: str, **more: Any) -> Case:
    return Case(name, why, world, "8", Reason.DRAINING, log=log, **more)


ENDLESS = (
    _drains("drain-can-not-end", "no grace period, and a Pod that nothing evicts: said at once",
            _guarded(changes=(_kept(),)), "drain can't end"),
    _drains("drain-can-end-in-time", "a grace period ends it",
            where(_guarded(changes=(_kept(),)), _graced)),
    _drains("drain-can-end-when-a-duration-is-over", "do-not-disrupt for some time only",
            _guarded(changes=(_kept("24h"),))),
    _drains("drain-behind-a-budget-can-end", "a budget may allow it in a moment",
            _guarded(budget("web", WEB))),
    _drains("drain-without-a-grace-period-and-the-pods-are-not-read", "nothing is known, so nothing is told",
            _guarded(changes=(_kept(),)), **_unread("list pods")),
)  # fmt: skip

CASES = NAMED + UNREAD + ENDLESS
