"""What the API server does to Pods alone.

Owns priority, default tolerations, quality of service, the check of requests against limits, and
which parts of a Pod can change. Seen in: kubernetes v1.36.3 plugin/pkg/admission/priority,
plugin/pkg/admission/defaulttolerationseconds, pkg/apis/core/validation/validation.go
(validateResourceRequirements, ValidatePodUpdate), pkg/apis/core/v1/helper/qos.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hooks.sandbox.objects import Obj, name_of
from hooks.sandbox.scheduling.resources import parse_quantity
from hooks.sandbox.store.kinds import PODS
from hooks.sandbox.store.refusals import FieldProblem, forbidden, invalid

_FIVE_MINUTES: Final = 300
_SYSTEM_CLASSES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
_DEFAULT_PRIORITY: Final[Obj] = {"value": 0, "preemptionPolicy": "PreemptLowerPriority"}
_COMPUTE: Final = ("cpu", "memory")
_MAY_CHANGE: Final = (
    "nodeName",
    "activeDeadlineSeconds",
    "terminationGracePeriodSeconds",
    "tolerations",
    "schedulingGates",
    "ephemeralContainers",
)


def admit_pod(pod: Obj, classes: list[Obj]) -> None:
    """Complete a new Pod in place; raises ApiError 403 or 422 when it can't be."""
    spec: Obj = pod["spec"]
    _set_priority(pod, spec, classes)
    _add_tolerations(spec)
    problems = list(_resource_problems(spec))
    if problems:
        raise invalid(PODS, name_of(pod), *problems)
    pod["status"] = {"phase": "Pending", "qosClass": quality_of(spec)}


def check_pod_update(stored: Obj, wanted: Obj) -> None:
    """Raise ApiError 422 when a part of the spec changes that can't."""
    if stored.get("spec") == wanted.get("spec") or _fixed(stored) == _fixed(wanted):
        return
    message = (
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
        "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
        "(allow it to be set to 1 if it was previously negative)"
    )
    raise invalid(PODS, name_of(stored), FieldProblem("spec", "FieldValueForbidden", message))


def quality_of(spec: Obj) -> str:
    """Return the Pod's QoS class."""
    pairs = [
        (resources.get("requests") or {}, resources.get("limits") or {})
        for _, resources in _resources(spec)
    ]
    if not any(of.get(name) for pair in pairs for of in pair for name in _COMPUTE):
        return "BestEffort"
    guaranteed = all(
        limits.get(name) is not None
        and parse_quantity(requests.get(name, limits[name])) == parse_quantity(limits[name])
        for requests, limits in pairs
        for name in _COMPUTE
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _set_priority(pod: Obj, spec: Obj, classes: list[Obj]) -> None:
    wanted: str = spec.get("priorityClassName") or ""
    chosen = _priority_class(wanted, classes)
    if chosen is None:
        raise forbidden(PODS, name_of(pod), f"no PriorityClass with name {wanted} was found")
    value: int = chosen["value"]
    if spec.get("priority") not in {None, value}:
        why = (
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"priority admission controller computed {value} from the given PriorityClass name"
        )
        raise forbidden(PODS, name_of(pod), why)
    spec["priority"] = value
    spec["preemptionPolicy"] = chosen.get("preemptionPolicy") or "PreemptLowerPriority"
    if name_of(chosen):
        spec["priorityClassName"] = name_of(chosen)


def _priority_class(wanted: str, classes: list[Obj]) -> Obj | None:
    if wanted in _SYSTEM_CLASSES:
        return _DEFAULT_PRIORITY | {
            "value": _SYSTEM_CLASSES[wanted],
            "metadata": {"name": wanted},
        }
    if wanted:
        return next((each for each in classes if name_of(each) == wanted), None)
    usual = [each for each in classes if each.get("globalDefault")]
    return min(usual, key=lambda each: each["value"], default=_DEFAULT_PRIORITY)


def _add_tolerations(spec: Obj) -> None:
    tolerations: list[Obj] = list(spec.get("tolerations") or ())
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_covers(each, key) for each in tolerations):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": _FIVE_MINUTES,
                }
            )
    spec["tolerations"] = tolerations


def _covers(toleration: Obj, key: str) -> bool:
    effects = {None, "", "NoExecute"}
    return toleration.get("key") in {None, "", key} and toleration.get("effect") in effects


def _resources(spec: Obj) -> Iterator[tuple[str, Obj]]:
    for group in ("containers", "initContainers"):
        for at, container in enumerate(spec.get(group) or ()):
            yield f"spec.{group}[{at}].resources", container.get("resources") or {}


def _resource_problems(spec: Obj) -> Iterator[FieldProblem]:
    for field, resources in _resources(spec):
        requests: dict[str, str] = resources.get("requests") or {}
        limits: dict[str, str] = resources.get("limits") or {}
        for name, text in requests.items():
            yield from _request_problems(field, name, text, limits.get(name))
        named = requests.keys() | limits.keys()
        if any(_is_huge_pages(name) for name in named) and named.isdisjoint(_COMPUTE):
            message = "Forbidden: HugePages require cpu or memory"
            yield FieldProblem(field, "FieldValueForbidden", message)


def _request_problems(
    field: str, name: str, text: object, limit: object | None
) -> Iterator[FieldProblem]:
    whole = _is_extended(name) or _is_huge_pages(name)
    if limit is None:
        if whole:
            message = "Required value: Limit must be set for non overcommitable resources"
            yield FieldProblem(f"{field}.limits", "FieldValueRequired", message)
        return
    asked, most = parse_quantity(text), parse_quantity(limit)
    if asked == most or (asked < most and not whole):
        return
    must = "equal to" if whole else "less than or equal to"
    message = f'Invalid value: "{text}": must be {must} {name} limit of {limit}'
    yield FieldProblem(f"{field}.requests", "FieldValueInvalid", message)


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def _is_huge_pages(name: str) -> bool:
    return name.startswith("hugepages-")


def _fixed(pod: Obj) -> Obj:
    """Return the part of the spec that never changes."""
    spec: Obj = {
        key: value for key, value in (pod.get("spec") or {}).items() if key not in _MAY_CHANGE
    }
    for group in ("containers", "initContainers"):
        spec[group] = [
            {key: value for key, value in container.items() if key != "image"}
            for container in spec.get(group) or ()
        ]
    return spec
