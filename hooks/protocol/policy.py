"""RotationPolicies: how an object becomes a :class:`Policy`, or a list of what is wrong with it.

Owns the translation and the wording of the problems. A policy that can't be read is a value, never
an error: it still wins by its selector where that can be read, and other policies go on. Leaves
the shape to :mod:`hooks.protocol.policy_shapes`, findings about feasibility to
:mod:`hooks.rotation`. Source: seed 000 section 5.4, design/rotation.md sections 3 (row 17) and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from hooks.protocol.metadata import Name, instant
from hooks.protocol.policy_shapes import (
    ExclusionPart,
    MaintenanceWindow,
    NodePoolSelector,
    PolicySpec,
)
from hooks.protocol.policy_texts import AUTO
from hooks.protocol.validation import path
from hooks.rotation.durations import parse_duration
from hooks.rotation.model import BrokenPolicy, Exclusion, Policy, Requirement, Selector, Window

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MIDNIGHT: Final = 24 * 60
_TOP_LEVEL: Final = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})

_UNKNOWN: Final = "is not a known field: remove it, or check its spelling"
_ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "must be given",
        "extra_forbidden": _UNKNOWN,
        "string_type": "must be a text: put it in quotes",
        "bool_type": "must be true or false",
        "int_type": "must be a whole number",
        "literal_error": "must be {expected}",
        "greater_than_equal": "must be at least {ge}",
        "less_than_equal": "must be at most {le}",
        "too_short": "must not be empty",
        "too_long": "must not have more than {max_length} entries",
        "string_too_long": "must not be longer than {max_length} characters",
        "list_type": "must be a list",
        "dict_type": "must be an object with fields",
        "model_type": "must be an object with fields",
    }
)
"""By pydantic's kind of error, with what it knows about the case."""

Problem = tuple[str, str]
"""(path of the field, what to change)."""


class PolicyMeta(TypedDict):
    """Metadata of a RotationPolicy in a request."""

    name: Name
    uid: NotRequired[str | None]
    generation: NotRequired[Annotated[int, Field(strict=True)] | None]


class PolicyShape(TypedDict):
    """A RotationPolicy in a request: its spec is judged apart, for a bad one fails no request."""

    metadata: PolicyMeta
    spec: NotRequired[Any]


def policy_from(shape: PolicyShape) -> Policy | BrokenPolicy:
    """Read a RotationPolicy of a request."""
    meta = shape["metadata"]
    return _judged(
        meta["name"], meta.get("uid") or "", meta.get("generation") or 0, shape.get("spec")
    )


def policy_of(value: Mapping[str, Any]) -> Policy | BrokenPolicy:
    """Read a RotationPolicy from anywhere, for example a file; all its problems are collected."""
    meta = value.get("metadata")
    known: Mapping[str, Any] = meta if isinstance(meta, dict) else {}
    name, uid, generation = (known.get(key) for key in ("name", "uid", "generation"))
    around = [(str(key), _UNKNOWN) for key in value if key not in _TOP_LEVEL]
    if not isinstance(name, str) or not name:
        around.append(("metadata.name", "must be given"))
    judged = _judged(
        name if isinstance(name, str) else "",
        uid if isinstance(uid, str) else "",
        generation if isinstance(generation, int) else 0,
        value.get("spec"),
    )
    if not around:
        return judged
    problems = judged.problems if isinstance(judged, BrokenPolicy) else ()
    return BrokenPolicy(
        judged.name, (*around, *problems), judged.selector, judged.uid, judged.generation
    )


def _judged(name: str, uid: str, generation: int, spec: object) -> Policy | BrokenPolicy:
    if spec is None:
        return BrokenPolicy(name, (("spec", "must be given"),), None, uid, generation)
    try:
        read = PolicySpec.model_validate(spec)
    except ValidationError as error:
        problems = tuple(_problem(detail) for detail in error.errors(include_url=False))
        return BrokenPolicy(name, problems, _selector_alone(spec), uid, generation)
    surge = read.surge
    return Policy(
        name=name,
        selector=_selector(read.node_pool_selector),
        windows=tuple(_window(window) for window in read.maintenance_windows),
        uid=uid,
        generation=generation,
        age_threshold=None if read.age_threshold == AUTO else parse_duration(read.age_threshold),
        chances=read.min_rotation_chances,
        exclusions=tuple(_exclusion(part) for part in read.exclusions or ()),
        suspend=read.suspend,
        dry_run=read.dry_run,
        ready_timeout=parse_duration(surge.ready_timeout),
        cooldown_after=parse_duration(surge.cooldown_after),
        failure_pause=_optional(surge.failure_pause),
        drain_estimate=_optional(surge.drain_estimate),
        provisioning_estimate=_optional(surge.provisioning_estimate),
        retry_backoff=parse_duration(surge.retry_backoff),
        required=tuple(surge.match_node_requirements.required),
        preferred=tuple(surge.match_node_requirements.preferred),
        fallback=surge.forceful_fallback.enabled,
    )


def _selector_alone(spec: object) -> Selector | None:
    """The selector of a policy that is broken elsewhere; by it the policy still wins."""
    try:
        return _selector(
            NodePoolSelector.model_validate(
                spec.get("nodePoolSelector") if isinstance(spec, dict) else None
            )
        )
    except ValidationError:
        return None


def _selector(part: NodePoolSelector) -> Selector:
    return Selector(
        match_labels=tuple(sorted((part.match_labels or {}).items())),
        match_expressions=tuple(
            Requirement(entry.key, entry.operator, tuple(entry.values or ()))
            for entry in part.match_expressions or ()
        ),
    )


def _window(part: MaintenanceWindow) -> Window:
    return Window(
        timezone=part.timezone,
        days=frozenset(_DAYS.index(day) for day in part.days),
        start=_minutes(part.start),
        end=_minutes(part.end) or _MIDNIGHT,
    )


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _exclusion(part: ExclusionPart) -> Exclusion:
    return Exclusion(instant(part.start, "start"), instant(part.end, "end"), part.reason or "")


def _optional(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)


def _problem(detail: ErrorDetails) -> Problem:
    return path(("spec", *detail["loc"])), _advice(detail)


def _advice(detail: ErrorDetails) -> str:
    """What to change, for people who write YAML."""
    advice = _ADVICE.get(detail["type"])
    if advice is None:
        return detail["msg"]
    return advice.format(**detail.get("ctx", {}))
