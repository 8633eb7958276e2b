"""ResourceQuotas: whether a namespace has room for one more Pod.

Owns the sums and the message. Usage is counted afresh from the Pods that are there, where the real
server keeps it in the quota's status. Seen in: kubernetes v1.36.3
pkg/quota/v1/evaluator/core/pods.go, apiserver v0.36.3 pkg/admission/plugin/resourcequota.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from hooks.sandbox.objects import Obj, is_terminating, metadata_of, name_of
from hooks.sandbox.scheduling.layout import is_finished
from hooks.sandbox.scheduling.resources import (
    Amounts,
    amounts_of,
    format_quantity,
    requests_of,
    total_of,
)
from hooks.sandbox.store.kinds import PODS
from hooks.sandbox.store.pods import quality_of
from hooks.sandbox.store.refusals import forbidden

_REQUESTS: Final = "requests."
_LIMITS: Final = "limits."
_PLAIN: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_MUST_BE_SET: Final = frozenset(
    {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)


def check_quotas(pod: Obj, quotas: Iterable[Obj], others: list[Obj], now: datetime) -> None:
    """Raise ApiError 403 when a quota of the namespace has no room for a new Pod."""
    for quota in quotas:
        if not _covers(quota, pod):
            continue
        hard = amounts_of((quota.get("spec") or {}).get("hard"))
        _check_all_set(pod, quota, hard)
        asked = {key: amount for key, amount in _usage(pod, now).items() if key in hard}
        used = used_of(quota, others, now)
        _check_room(pod, quota, asked, used, hard)


def used_of(quota: Obj, pods: Iterable[Obj], now: datetime) -> dict[str, Decimal]:
    """Return what the Pods use of each thing that the quota limits and that Pods use."""
    hard = amounts_of((quota.get("spec") or {}).get("hard"))
    used = total_of(_usage(pod, now) for pod in pods if _covers(quota, pod))
    zero = Decimal(0)
    return {key: used.get(key, zero) for key in hard if key in used or _is_of_pods(key)}


def _check_room(pod: Obj, quota: Obj, asked: Amounts, used: Amounts, hard: Amounts) -> None:
    zero = Decimal(0)
    over = sorted(key for key in asked if asked[key] + used.get(key, zero) > hard[key])
    if over:
        written: Mapping[str, str] = quota["spec"]["hard"]
        why = (
            f"exceeded quota: {name_of(quota)}, "
            f"requested: {','.join(f'{key}={format_quantity(asked[key])}' for key in over)}, "
            f"used: {','.join(f'{key}={format_quantity(used.get(key, zero))}' for key in over)}, "
            f"limited: {','.join(f'{key}={written[key]}' for key in over)}"
        )
        raise forbidden(PODS, name_of(pod), why)


def _check_all_set(pod: Obj, quota: Obj, hard: Amounts) -> None:
    """Every container must say what a quota of CPU or memory counts."""
    missing: dict[str, set[str]] = {}
    for container in _containers(pod):
        there = _compute_usage(
            amounts_of((container.get("resources") or {}).get("requests")),
            amounts_of((container.get("resources") or {}).get("limits")),
        )
        for key in (hard.keys() & _MUST_BE_SET) - there.keys():
            missing.setdefault(key, set()).add(container.get("name") or "")
    if missing:
        said = [f"{key} for: {','.join(sorted(missing[key]))}" for key in sorted(missing)]
        why = f"failed quota: {name_of(quota)}: must specify {'; '.join(said)}"
        raise forbidden(PODS, name_of(pod), why)


def _usage(pod: Obj, now: datetime) -> dict[str, Decimal]:
    one = Decimal(1)
    if _is_over(pod, now):
        return {"count/pods": one}
    usage = _compute_usage(requests_of(pod), _limits_of(pod))
    return usage | {"pods": one, "count/pods": one}


def _compute_usage(requests: Amounts, limits: Amounts) -> dict[str, Decimal]:
    """Return the amounts under the names that quotas use for them."""
    usage: dict[str, Decimal] = {}
    for name, amount in requests.items():
        if name in _PLAIN or name.startswith("hugepages-"):
            usage[name] = usage[_REQUESTS + name] = amount
        elif "/" in name:
            usage[_REQUESTS + name] = amount
    usage.update({_LIMITS + name: amount for name, amount in limits.items() if name in _PLAIN})
    return usage


def _is_of_pods(key: str) -> bool:
    """Tell whether it is something that Pods may use."""
    plain = key.removeprefix(_REQUESTS).removeprefix(_LIMITS)
    counted = key in {"pods", "count/pods"} or plain in _PLAIN
    return counted or plain.startswith("hugepages-") or (plain != key and "/" in plain)


def _limits_of(pod: Obj) -> Amounts:
    """Return the limits, summed up in the way of requests."""
    spec: Obj = pod.get("spec") or {}
    groups = {
        group: [_limited(container) for container in spec.get(group) or ()]
        for group in ("containers", "initContainers")
    }
    return requests_of({"spec": groups | {"overhead": spec.get("overhead")}})


def _limited(container: Obj) -> Obj:
    limits = (container.get("resources") or {}).get("limits")
    return {"resources": {"requests": limits}, "restartPolicy": container.get("restartPolicy")}


def _containers(pod: Obj) -> list[Obj]:
    spec: Obj = pod.get("spec") or {}
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def _is_over(pod: Obj, now: datetime) -> bool:
    """Tell whether a Pod is no longer charged: it has ended, or should have by now."""
    if is_finished(pod):
        return True
    if not is_terminating(pod):
        return False
    metadata = metadata_of(pod)
    grace = timedelta(seconds=metadata.get("deletionGracePeriodSeconds") or 0)
    return now > datetime.fromisoformat(metadata["deletionTimestamp"]) + grace


def _covers(quota: Obj, pod: Obj) -> bool:
    spec: Obj = quota.get("spec") or {}
    plain = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    selector: Obj = spec.get("scopeSelector") or {}
    scopes = [*plain, *(selector.get("matchExpressions") or ())]
    return all(_in_scope(scope, pod) for scope in scopes)


def _in_scope(scope: Obj, pod: Obj) -> bool:
    spec: Obj = pod.get("spec") or {}
    match scope.get("scopeName"):
        case "Terminating":
            return spec.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return spec.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return quality_of(spec) == "BestEffort"
        case "NotBestEffort":
            return quality_of(spec) != "BestEffort"
        case "PriorityClass":
            return _class_matches(scope, spec.get("priorityClassName") or "")
        case _:
            return False


def _class_matches(scope: Obj, name: str) -> bool:
    values: list[str] = scope.get("values") or []
    match scope.get("operator"):
        case "In":
            return name in values
        case "NotIn":
            return name not in values
        case "DoesNotExist":
            return not name
        case _:
            return bool(name)
