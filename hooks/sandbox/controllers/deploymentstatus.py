"""What a Deployment tells about its rollout.

Owns the status and its conditions; pure. Seen in Kubernetes v1.36.3
``pkg/controller/deployment/sync.go`` (calculateStatus), ``progress.go`` (syncRolloutStatus),
``util/deployment_util.go``; the fields in the recording deployment-rollout.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from hooks.sandbox.controllers.conditions import condition_of
from hooks.sandbox.controllers.rollout import Family, count_of, size_of
from hooks.sandbox.objects import generation_of, name_of
from hooks.sandbox.store.identity import stamp

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

PROGRESSING: Final = "Progressing"
CREATED: Final = "NewReplicaSetCreated"
FOUND: Final = "FoundNewReplicaSet"
PAUSED: Final = "DeploymentPaused"
RESUMED: Final = "DeploymentResumed"
_COMPLETE: Final = "NewReplicaSetAvailable"
_TIMED_OUT: Final = "ProgressDeadlineExceeded"


def report(deployment: Obj, family: Family, now: datetime, *, is_rollout: bool) -> None:
    """Give a Deployment another status; ``is_rollout`` judges its progress.

    Nothing inside the present status is changed.
    """
    before: Obj = deployment.get("status") or {}
    counts = _counts(family)
    status: Obj = {
        "observedGeneration": generation_of(deployment),
        "terminatingReplicas": sum(count_of(one, "terminatingReplicas") for one in family.all),
        # Zeros aren't written.
        **{key: count for key, count in counts.items() if count},
        "conditions": list(before.get("conditions") or []),
    }
    if "collisionCount" in before:
        status["collisionCount"] = before["collisionCount"]
    deployment["status"] = status
    _set_available(deployment, family, counts["availableReplicas"], now)
    if is_rollout:
        _set_progress(deployment, family, before, counts, now)
    _set_failure(deployment, family)


def note(deployment: Obj, condition: Obj, now: datetime) -> None:
    """Put a condition last, unless it says nothing new."""
    known = condition_of(deployment, condition["type"])
    same_status = known is not None and known["status"] == condition["status"]
    if known is not None and same_status and known["reason"] == condition["reason"]:
        return
    since = known["lastTransitionTime"] if known is not None and same_status else stamp(now)
    _put(deployment, {**condition, "lastUpdateTime": stamp(now), "lastTransitionTime": since})


def progress(status: str, reason: str, message: str) -> Obj:
    """Return a condition Progressing."""
    return {"type": PROGRESSING, "status": status, "reason": reason, "message": message}


def is_complete(family: Family, status: Obj) -> bool:
    """Tell whether a status says that all Pods are of the present template and available."""
    fields = ("updatedReplicas", "replicas", "availableReplicas")
    return all(int(status.get(field) or 0) == family.desired for field in fields) and (
        int(status.get("observedGeneration") or 0) >= generation_of(family.deployment)
    )


def deadline_of(deployment: Obj) -> timedelta | None:
    """Return within what time there must be progress, None for any."""
    seconds: int | None = deployment["spec"].get("progressDeadlineSeconds", 600)
    return None if seconds is None or seconds >= 2**31 - 1 else timedelta(seconds=seconds)


def times_out_at(deployment: Obj) -> datetime | None:
    """Return when a rollout that is under way counts as stuck, None when none is."""
    deadline, condition = deadline_of(deployment), condition_of(deployment, PROGRESSING)
    if deadline is None or condition is None or condition["reason"] in {_COMPLETE, _TIMED_OUT}:
        return None
    # The server keeps whole seconds, and it must be later than this.
    return datetime.fromisoformat(condition["lastUpdateTime"]) + deadline + timedelta(seconds=1)


def _counts(family: Family) -> dict[str, int]:
    def total(field: str) -> int:
        return sum(count_of(one, field) for one in family.all)

    available = total("availableReplicas")
    wanted = sum(size_of(one) for one in family.all)
    return {
        "replicas": total("replicas"),
        "updatedReplicas": 0 if family.new is None else count_of(family.new, "replicas"),
        "readyReplicas": total("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, wanted - available),
    }


def _set_available(deployment: Obj, family: Family, available: int, now: datetime) -> None:
    enough = available >= family.desired - family.bounds.unavailable
    condition = {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        "message": "Deployment has minimum availability."
        if enough
        else "Deployment does not have minimum availability.",
    }
    note(deployment, condition, now)


def _set_progress(
    deployment: Obj, family: Family, before: Obj, counts: dict[str, int], now: datetime
) -> None:
    known = condition_of(deployment, PROGRESSING)
    if deadline_of(deployment) is None:
        _drop(deployment, PROGRESSING)
        return
    is_old_news = known is not None and known["reason"] == _COMPLETE
    if is_old_news and counts["replicas"] == counts["updatedReplicas"]:
        return
    who = (
        f'Deployment "{name_of(deployment)}"'
        if family.new is None
        else f'ReplicaSet "{name_of(family.new)}"'
    )
    timeout = times_out_at(deployment)
    if is_complete(family, deployment["status"]):
        note(deployment, progress("True", _COMPLETE, f"{who} has successfully progressed."), now)
    elif _has_progressed(before, counts):
        since = known["lastTransitionTime"] if known and known["status"] == "True" else stamp(now)
        condition = progress("True", "ReplicaSetUpdated", f"{who} is progressing.")
        _put(deployment, {**condition, "lastUpdateTime": stamp(now), "lastTransitionTime": since})
    elif timeout is not None and timeout <= now:
        note(deployment, progress("False", _TIMED_OUT, f"{who} has timed out progressing."), now)


def _has_progressed(before: Obj, counts: dict[str, int]) -> bool:
    def was(field: str) -> int:
        return int(before.get(field) or 0)

    return (
        counts["updatedReplicas"] > was("updatedReplicas")
        or counts["replicas"] - counts["updatedReplicas"] < was("replicas") - was("updatedReplicas")
        or counts["readyReplicas"] > was("readyReplicas")
        or counts["availableReplicas"] > was("availableReplicas")
    )


def _set_failure(deployment: Obj, family: Family) -> None:
    newest_first = family.all[::-1]
    failures = (condition_of(one, "ReplicaFailure") for one in newest_first)
    failure = next((one for one in failures if one is not None), None)
    if failure is None:
        _drop(deployment, "ReplicaFailure")
    elif condition_of(deployment, "ReplicaFailure") is None:
        _put(deployment, {**failure, "lastUpdateTime": failure["lastTransitionTime"]})


def _put(deployment: Obj, condition: Obj) -> None:
    _drop(deployment, condition["type"])
    deployment["status"]["conditions"].append(condition)


def _drop(deployment: Obj, kind: str) -> None:
    status: Obj = deployment.setdefault("status", {})
    conditions: list[Obj] = status.get("conditions") or []
    status["conditions"] = [one for one in conditions if one["type"] != kind]
