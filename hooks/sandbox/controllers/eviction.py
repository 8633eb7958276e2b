"""The eviction of one Pod: granted or refused by the budget that covers it.

Owns the decision and the Pod's deletion; admission webhooks come before it and are the caller's. Seen
in Kubernetes v1.36.3 ``pkg/registry/core/pod/storage/eviction.go``.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from hooks.sandbox.controllers.budgets import SYNC_FAILED, covered, set_allowed
from hooks.sandbox.controllers.conditions import condition_of, pod_condition, set_condition
from hooks.sandbox.controllers.podfacts import is_active, is_ready, phase_of
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import generation_of, name_of, uid_of
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.kinds import PODDISRUPTIONBUDGETS, PODS
from hooks.sandbox.store.refusals import RefusedError

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

REFUSAL: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_MOST_DISRUPTED: Final = 2000


class BudgetRefusal(RefusedError):
    """A budget doesn't allow the eviction; ``cause`` says why, as in the Status' details."""

    def __init__(self, cause: str, retry_after: int) -> None:
        """Take the text of the cause DisruptionBudget, and the seconds to wait, 0 for none."""
        details: Obj = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
        if retry_after:
            details["retryAfterSeconds"] = retry_after
        super().__init__(HTTPStatus.TOO_MANY_REQUESTS, "TooManyRequests", REFUSAL, details)
        self.cause = cause
        self.retry_after = retry_after


def evict(
    store: ObjectStore,
    clock: VirtualClock,
    namespace: str,
    name: str,
    *,
    uid: str = "",
    grace_seconds: int | None = None,
    dry_run: bool = False,
) -> None:
    """Evict a Pod.

    Raises ApiError: 404, 409 when it isn't of this UID, 429 (:class:`BudgetRefusal`) when its
    budget doesn't allow it, 500 when two budgets cover it.
    """
    pod = store.get(PODS, namespace, name)
    if is_active(pod) and phase_of(pod) != "Pending":
        budgets = [one for one in store.all(PODDISRUPTIONBUDGETS, namespace) if covered(one, [pod])]
        if len(budgets) > 1:
            message = (
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support."
            )
            raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "", message)
        for budget in budgets:
            if not _harms_nobody(budget, pod):
                _grant(store, clock, budget, name, dry_run=dry_run)
    _check_uid(pod, uid)
    if dry_run:
        return
    _mark(store, clock, pod)
    store.delete(PODS, namespace, name, uid=uid, grace_seconds=grace_seconds)


def _harms_nobody(budget: Obj, pod: Obj) -> bool:
    """Tell whether a Pod that isn't ready may go without being counted."""
    if is_ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status: Obj = budget.get("status") or {}
    desired = int(status.get("desiredHealthy") or 0)
    return 0 < desired <= int(status.get("currentHealthy") or 0)


def _grant(
    store: ObjectStore, clock: VirtualClock, budget: Obj, pod_name: str, *, dry_run: bool
) -> None:
    """Take one disruption from a budget, so that nobody else gets it too."""
    status: Obj = budget.get("status") or {}
    if int(status.get("observedGeneration") or 0) < generation_of(budget):
        still = f"The disruption budget {name_of(budget)} is still being processed by the server."
        raise BudgetRefusal(still, retry_after=10)
    if len(status.get("disruptedPods") or {}) > _MOST_DISRUPTED:
        message = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise ApiError(HTTPStatus.FORBIDDEN, "Forbidden", message)
    if int(status.get("disruptionsAllowed") or 0) <= 0:
        raise BudgetRefusal(_why(budget, status), retry_after=0)
    if dry_run:
        return

    def granted(it: Obj) -> None:
        it["status"]["disruptionsAllowed"] -= 1
        if it["status"]["disruptionsAllowed"] == 0:
            set_allowed(it, clock.now())
        it["status"].setdefault("disruptedPods", {})[pod_name] = stamp(clock.now())

    where = (PODDISRUPTIONBUDGETS, budget["metadata"]["namespace"], name_of(budget))
    store.modify(*where, granted, "status")


def _why(budget: Obj, status: Obj) -> str:
    name = name_of(budget)
    desired = int(status.get("desiredHealthy") or 0)
    healthy = int(status.get("currentHealthy") or 0)
    condition = condition_of(budget, "DisruptionAllowed") or {}
    told = condition.get("status") == "False" and condition.get("message")
    if told and condition.get("reason") == SYNC_FAILED:
        return (
            f"The disruption budget {name} does not allow evicting pods currently "
            f"because it failed sync: {told}"
        )
    if healthy <= desired:
        return (
            f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
        )
    return f"The disruption budget {name} does not allow evicting pods currently"


def _check_uid(pod: Obj, uid: str) -> None:
    if uid not in {"", uid_of(pod)}:
        message = (
            f'Operation cannot be fulfilled on Pod "{name_of(pod)}": the UID in the precondition '
            f"({uid}) does not match the UID in record ({uid_of(pod)}). "
            "The object might have been deleted and then recreated"
        )
        raise ApiError(HTTPStatus.CONFLICT, "Conflict", message)


def _mark(store: ObjectStore, clock: VirtualClock, pod: Obj) -> None:
    condition = pod_condition(
        "DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"
    )

    def marked(it: Obj) -> None:
        set_condition(it, clock.now(), condition)

    store.modify(PODS, pod["metadata"]["namespace"], name_of(pod), marked, "status")
