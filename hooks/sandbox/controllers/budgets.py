"""PodDisruptionBudgets: how many Pods may be evicted now.

Owns their status. Leaves the decision about one eviction to
:mod:`hooks.sandbox.controllers.eviction`. Seen in Kubernetes v1.36.3
``pkg/controller/disruption/disruption.go`` (trySync, getExpectedPodCount, buildDisruptedPodMap,
updatePdbStatus, failSafe) and component-helpers ``apps/poddisruptionbudget/helpers.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.conditions import set_condition
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.controllers.podfacts import is_ready
from hooks.sandbox.controllers.shares import scaled
from hooks.sandbox.objects import (
    controller_ref,
    generation_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.podselector import pod_selector
from hooks.sandbox.store.kinds import (
    DEPLOYMENTS,
    PODDISRUPTIONBUDGETS,
    PODS,
    REPLICASETS,
    STATEFULSETS,
)

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

ALLOWED: Final = "DisruptionAllowed"
SYNC_FAILED: Final = "SyncFailed"
_EXPECTED_WITHIN: Final = timedelta(minutes=2)
"""A Pod whose eviction was granted and that isn't deleted by then counts as staying."""
_SCALABLE: Final = {
    "ReplicaSet": REPLICASETS,
    "Deployment": DEPLOYMENTS,
    "StatefulSet": STATEFULSETS,
}


class Budgets(LevelController):
    """Counts the Pods of each budget."""

    watches: ClassVar[frozenset[Resource]] = frozenset(
        {PODDISRUPTIONBUDGETS, PODS, *_SCALABLE.values()}
    )

    @override
    def reconcile(self, now: datetime) -> None:
        for budget in self.store.all(PODDISRUPTIONBUDGETS):
            pods = covered(budget, self.store.all(PODS, namespace_of(budget)))
            try:
                expected, desired = _expected(self.store, budget, pods)
            except ValueError as error:
                self._fail(budget, str(error), now)
            else:
                self._report(budget, pods, expected, desired, now)

    def _report(
        self, budget: Obj, pods: Sequence[Obj], expected: int, desired: int, now: datetime
    ) -> None:
        disrupted = _disrupted(budget, pods, now)
        for text in disrupted.values():
            self.wake_at(_until(text))
        healthy = sum(
            1
            for pod in pods
            if is_ready(pod) and not is_terminating(pod) and name_of(pod) not in disrupted
        )
        allowed = max(0, healthy - desired) if expected > 0 else 0
        conditions: list[Obj] = (budget.get("status") or {}).get("conditions") or []
        status = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": generation_of(budget),
            "conditions": list(conditions),
            **({"disruptedPods": disrupted} if disrupted else {}),
        }
        set_allowed({"status": status}, now)
        self.put_status(PODDISRUPTIONBUDGETS, budget, status)

    def _fail(self, budget: Obj, message: str, now: datetime) -> None:
        """Allow nothing when the Pods can't be counted."""

        def failed(it: Obj) -> None:
            status: Obj = it.setdefault("status", {})
            status["disruptionsAllowed"] = 0
            condition = {"type": ALLOWED, "status": "False", "reason": SYNC_FAILED}
            observed = int(status.get("observedGeneration") or 0)
            set_condition(
                it, now, {**condition, "message": message, "observedGeneration": observed}
            )

        self.store.modify(
            PODDISRUPTIONBUDGETS, namespace_of(budget), name_of(budget), failed, "status"
        )


def covered(budget: Obj, pods: Sequence[Obj]) -> list[Obj]:
    """Return the Pods, of the budget's namespace, that a budget is about."""
    selector = pod_selector({"labelSelector": budget["spec"].get("selector")}, {})
    if selector is None:
        return []
    namespace = namespace_of(budget)
    return [
        pod for pod in pods if namespace_of(pod) == namespace and selector.matches(labels_of(pod))
    ]


def set_allowed(budget: Obj, now: datetime) -> None:
    """Put the condition in line with the number of disruptions allowed."""
    status: Obj = budget["status"]
    allowed = status["disruptionsAllowed"] > 0
    condition = {
        "type": ALLOWED,
        "status": "True" if allowed else "False",
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
        "observedGeneration": status["observedGeneration"],
    }
    set_condition(budget, now, condition)


def _expected(store: ObjectStore, budget: Obj, pods: Sequence[Obj]) -> tuple[int, int]:
    """Return how many Pods there are to be, and how many of them must be healthy."""
    spec: Obj = budget["spec"]
    if spec.get("maxUnavailable") is not None:
        expected = _scale(store, pods)
        most = scaled(spec["maxUnavailable"], expected, round_up=True)
        return expected, max(0, expected - most)
    least = spec.get("minAvailable", 1)
    if isinstance(least, int):
        return len(pods), least
    expected = _scale(store, pods)
    return expected, scaled(least, expected, round_up=True)


def _scale(store: ObjectStore, pods: Sequence[Obj]) -> int:
    """Add up what the Pods' workloads ask for; Pods without one don't count."""
    scales: dict[str, int] = {}
    for pod in pods:
        owner = controller_ref(pod)
        if owner is None:
            continue
        workload = _workload(store, namespace_of(pod), owner)
        if workload is None:
            raise ValueError(f'found no controllers for pod "{name_of(pod)}"')
        scales[uid_of(workload)] = int(workload["spec"].get("replicas", 1))
    return sum(scales.values())


def _workload(store: ObjectStore, namespace: str, reference: Obj) -> Obj | None:
    resource = _SCALABLE.get(reference["kind"])
    if resource is None:
        kind = f"{reference['apiVersion']}/{reference['kind']}"
        raise ValueError(f"{kind} does not implement the scale subresource")
    found = store.find(resource, namespace, reference["name"])
    if found is None or uid_of(found) != reference["uid"]:
        return None
    above = controller_ref(found)
    return found if above is None else _workload(store, namespace, above)


def _disrupted(budget: Obj, pods: Sequence[Obj], now: datetime) -> dict[str, str]:
    """Return the Pods that are about to be deleted, with the time when that was granted."""
    granted: dict[str, str] = (budget.get("status") or {}).get("disruptedPods") or {}
    staying = {name_of(pod) for pod in pods if not is_terminating(pod)}
    return {name: at for name, at in granted.items() if name in staying and _until(at) > now}


def _until(granted: str) -> datetime:
    return datetime.fromisoformat(granted) + _EXPECTED_WITHIN
