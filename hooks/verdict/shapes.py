"""Whether a history can be read at all: the shape of what the checks look at, and no holes.

Owns the refusal of garbage, so that the checks may trust what they read. What can't be read is a
breach like any other: a history with a hole would prove nothing. Fields that no check reads may hold
anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, NotRequired, Required
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from hooks.verdict.history import Change
from hooks.verdict.room import parse_amount
from hooks.verdict.times import parse_duration, parse_time
from hooks.verdict.windows import DAYS, parse_clock

FARTHEST = 10.0**10
"""Seconds on a history's own clock: three hundred years."""


def _time(text: str) -> str:
    parse_time(text)
    return text


def _duration(text: str) -> str:
    parse_duration(text)
    return text


def _clock(text: str) -> str:
    parse_clock(text)
    return text


def _day(text: str) -> str:
    if text not in DAYS:
        raise ValueError(f"{text!r} is no day")
    return text


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (OSError, LookupError, ValueError) as error:
        raise ValueError(f"{text!r} is no time zone") from error
    return text


def _quantity(text: int | str) -> int | str:
    parse_amount(text)
    return text


_Labels = dict[str, str]
_Name = Annotated[str, Field(min_length=1)]
_Time = Annotated[str, AfterValidator(_time)]
_Clock = Annotated[str, AfterValidator(_clock)]
_Quantity = Annotated[int | str, AfterValidator(_quantity)]
_Amount = Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=r"^[0-9]{1,9}%$")]


class _Owner(TypedDict):
    kind: str
    name: str
    controller: NotRequired[bool]


class _Identity(TypedDict, total=False):
    name: Required[_Name]
    namespace: str
    uid: str
    labels: _Labels
    annotations: _Labels
    ownerReferences: list[_Owner]


class _Metadata(_Identity, total=False):
    creationTimestamp: _Time


class _Object(TypedDict):
    metadata: _Metadata


class _Rule(TypedDict):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: NotRequired[list[str]]


class _Selector(TypedDict, total=False):
    matchLabels: _Labels
    matchExpressions: list[_Rule]


class _Condition(TypedDict):
    type: str
    status: str


class _Conditions(TypedDict, total=False):
    conditions: list[_Condition]


class _Taint(TypedDict):
    key: str


class _NodeSpec(TypedDict, total=False):
    unschedulable: bool
    taints: list[_Taint]


class _Node(_Object, total=False):
    spec: _NodeSpec
    status: _Conditions


class _Resources(TypedDict, total=False):
    requests: dict[str, _Quantity]


class _Container(TypedDict, total=False):
    resources: _Resources


class _PodSpec(TypedDict, total=False):
    nodeName: str
    containers: list[_Container]


class _PodStatus(_Conditions, total=False):
    phase: str


class _Pod(_Object, total=False):
    spec: _PodSpec
    status: _PodStatus


class _ClaimSpec(TypedDict, total=False):
    expireAfter: Annotated[str, AfterValidator(_duration)]


class _ClaimStatus(_Conditions, total=False):
    nodeName: str
    allocatable: dict[str, _Quantity]


class _ClaimMetadata(_Identity):
    creationTimestamp: _Time


class _Claim(TypedDict, total=False):
    metadata: Required[_ClaimMetadata]
    spec: _ClaimSpec
    status: _ClaimStatus


class _BudgetSpec(TypedDict, total=False):
    selector: _Selector | None
    minAvailable: _Amount
    maxUnavailable: _Amount


class _Budget(_Object, total=False):
    spec: _BudgetSpec


class _Template(TypedDict, total=False):
    metadata: _TemplateMetadata


class _TemplateMetadata(TypedDict, total=False):
    labels: _Labels


class _WorkloadSpec(TypedDict, total=False):
    replicas: Annotated[int, Field(ge=0)]
    template: _Template


class _Workload(_Object, total=False):
    spec: _WorkloadSpec


class _RollingUpdate(TypedDict, total=False):
    maxSurge: _Amount
    maxUnavailable: _Amount


class _Strategy(TypedDict, total=False):
    type: str
    rollingUpdate: _RollingUpdate


class _DeploymentSpec(_WorkloadSpec, total=False):
    strategy: _Strategy
    paused: bool


class _Deployment(_Object, total=False):
    spec: _DeploymentSpec


class _Reference(TypedDict):
    name: str


class _EndpointConditions(TypedDict, total=False):
    ready: bool | None


class _Endpoint(TypedDict, total=False):
    conditions: _EndpointConditions
    targetRef: _Reference


class _EndpointSlice(_Object, total=False):
    endpoints: list[_Endpoint] | None


class _Window(TypedDict):
    timezone: Annotated[str, AfterValidator(_zone)]
    days: list[Annotated[str, AfterValidator(_day)]]
    start: _Clock
    end: _Clock


class _Surge(TypedDict, total=False):
    cooldownAfter: Annotated[str, AfterValidator(_duration)]


class _PolicySpec(TypedDict, total=False):
    nodePoolSelector: _Selector
    maintenanceWindows: list[_Window]
    surge: _Surge


class _Policy(_Object):
    spec: _PolicySpec


SHAPES: Mapping[str, TypeAdapter[Any]] = MappingProxyType(
    {
        "Node": TypeAdapter(_Node),
        "Pod": TypeAdapter(_Pod),
        "NodeClaim": TypeAdapter(_Claim),
        "PodDisruptionBudget": TypeAdapter(_Budget),
        "Deployment": TypeAdapter(_Deployment),
        "EndpointSlice": TypeAdapter(_EndpointSlice),
        "StatefulSet": TypeAdapter(_Workload),
        "RotationPolicy": TypeAdapter(_Policy),
    }
)
"""What is read of each kind; of all others only the metadata."""
_ANY_OTHER = TypeAdapter(_Object)


def readable(changes: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """The changes that can be read, and what is wrong with the others or missing between them."""
    understood: list[Change] = []
    problems: list[str] = []
    for change in changes:
        problem = _misshapen(change)
        if problem is None:
            understood.append(change)
        else:
            problems.append(f"a change can't be read: {problem}")
    return understood, problems + _holes(understood)


def _misshapen(change: Change) -> str | None:
    # What came out of a file may be anything, whatever the types say.
    at: object = change.at
    revision: object = change.revision
    kind: object = change.kind
    if not isinstance(at, int | float) or not math.isfinite(at) or abs(at) > FARTHEST:
        return f"its time is {at!r:.40}"
    if not isinstance(revision, int) or revision < 1:
        return f"its revision is {revision!r:.40}"
    if change.type not in ("ADDED", "MODIFIED", "DELETED") or not isinstance(kind, str):
        return f"revision {revision} is {change.type!r:.40} of {kind!r:.40}"
    try:
        SHAPES.get(kind, _ANY_OTHER).validate_python(change.object, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "".join(f"{part}." for part in first["loc"]).rstrip(".") or "the object"
        return f"revision {revision}, {kind}: {where}: {first['msg']}"
    return None


def _holes(changes: Sequence[Change]) -> list[str]:
    """Changes of things that weren't there, and additions of things that were."""
    there: set[tuple[str, str, str]] = set()
    problems: list[str] = []
    for change in sorted(changes, key=lambda one: one.revision):
        metadata = change.object["metadata"]
        key = (change.kind, metadata.get("namespace", ""), metadata["name"])
        if (change.type == "ADDED") == (key in there):
            what = f"{change.kind} {change.name} is {change.type}"
            known = "it was there already" if key in there else "it wasn't there"
            problems.append(
                f"something is missing before revision {change.revision}: {what}, though {known}"
            )
        if change.type == "DELETED":
            there.discard(key)
        else:
            there.add(key)
    return problems
