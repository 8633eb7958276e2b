"""NodePools and NodeClaims (karpenter.sh/v1): how they become :class:`Pool` and :class:`Claim`.

Owns that reading. Leaves the shapes to :mod:`hooks.protocol.karpenter_shapes` and what the values
mean to :mod:`hooks.rotation`. An annotation that is there but can't be read becomes Malformed; a
part that the API server would never have let in is a :class:`ShapeError`. An empty annotation
names nothing, so of those that hold a name it counts as absent; everywhere else it is unreadable.
Source: seed 000 section 5.3, Karpenter's CRDs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Final

from pydantic import TypeAdapter

from hooks import names
from hooks.protocol.karpenter_shapes import (
    ClaimAnnotations,
    ClaimDetails,
    ClaimShape,
    PoolShape,
    PoolStatus,
    Template,
    TemplateSpec,
)
from hooks.protocol.metadata import HOLDS, READY, amounts, instant, requirements, taints
from hooks.protocol.validation import from_object
from hooks.rotation.durations import parse_span, parse_stamp
from hooks.rotation.model import Claim, ClaimState, Malformed, Mode, Pool, Requirement, Resources

_REGISTERED: Final = "Registered"
_NODES: Final = "nodes"
_IN: Final = "In"
_COUNT: Final = re.compile(r"[0-9]{1,9}")
_STATES: Final[dict[str, ClaimState]] = {state.value: state for state in ClaimState}

_ROTATION_SCOPED: Final = {
    "anchor": names.ACTIVE_ROTATION,
    "anchor_uid": names.ACTIVE_ROTATION_UID,
    "mirror": names.ACTIVE_ROTATION_STATE,
    "draining_at": names.DRAINING_AT,
    "surge_wait": names.SURGE_WAIT,
    "mode": names.ROTATION_MODE,
    "abort": names.ABORT,
}
"""Field of the shape to annotation key, for names.CLEARED_AT_THE_END."""


_POOL: Final = TypeAdapter(PoolShape)
_CLAIM: Final = TypeAdapter(ClaimShape)
_CLAIM_DETAILS: Final = TypeAdapter(ClaimDetails)


def pool_of(value: object) -> Pool:
    """Read a NodePool; raises ShapeError when it isn't one."""
    return pool_from(from_object(_POOL, value))


def claim_of(value: object) -> Claim:
    """Read a NodeClaim with all its details; raises ShapeError when it isn't one."""
    claim = claim_from(from_object(_CLAIM, value))
    details = from_object(_CLAIM_DETAILS, value)
    spec, status = details.get("spec") or {}, details.get("status") or {}
    allocatable = status.get("allocatable")
    return replace(
        claim,
        requirements=requirements(spec.get("requirements")),
        allocatable=None if allocatable is None else amounts(allocatable, "status.allocatable"),
        conditions=tuple(
            (entry["type"], entry["status"], entry.get("reason") or "")
            for entry in status.get("conditions") or ()
        ),
    )


def claim_from(shape: ClaimShape) -> Claim:
    """Read a NodeClaim of a request; runs a thousand times a pass, so it looks up each part once."""
    meta = shape["metadata"]
    spec, status = shape.get("spec") or {}, shape.get("status") or {}
    labels = meta.get("labels") or {}
    node_name = status.get("nodeName") or ""
    ready = registered = False
    for condition in status.get("conditions") or ():
        kind = condition["type"]
        if kind == READY:
            ready = condition["status"] == HOLDS
        elif kind == _REGISTERED:
            registered = condition["status"] == HOLDS
    deleted = meta.get("deletionTimestamp")
    claim = Claim(
        name=meta["name"],
        uid=meta["uid"],
        created=instant(meta["creationTimestamp"], "metadata.creationTimestamp"),
        resource_version=meta.get("resourceVersion") or "",
        deleting_since=instant(deleted, "metadata.deletionTimestamp") if deleted else None,
        ready=ready,
        registered=registered,
        node_name=node_name,
        hostname=labels.get("hostname") or node_name,
        pool=labels.get("pool", ""),
        expire_after=parse_span(spec.get("expireAfter")),
        termination_grace_period=parse_span(spec.get("terminationGracePeriod")),
    )
    annotations = meta.get("annotations")
    return _annotated(claim, annotations) if annotations else claim


def _annotated(claim: Claim, annotations: ClaimAnnotations) -> Claim:
    """Add what we wrote on it, which few claims have."""
    return replace(
        claim,
        state=_state(annotations.get("state")),
        started_at=parse_stamp(annotations.get("started_at")),
        failed_at=parse_stamp(annotations.get("failed_at")),
        retry_count=_count(annotations.get("retry_count")),
        surge_claim=annotations.get("surge_claim") or None,
        due_requested=annotations.get("due") == names.TRUE,
    )


def _state(text: str | None) -> ClaimState | Malformed | None:
    return None if text is None else _STATES.get(text) or Malformed(text)


def _count(text: str | None) -> int | Malformed:
    if text is None:
        return 0
    return int(text) if _COUNT.fullmatch(text) else Malformed(text)


def pool_from(shape: PoolShape) -> Pool:
    """Read a NodePool; raises ShapeError for a quantity that can't be read."""
    meta = shape["metadata"]
    spec, status = shape.get("spec") or {}, shape.get("status") or {}
    template = spec.get("template") or {}
    template_spec = template.get("spec") or {}
    annotations = meta.get("annotations") or {}
    return Pool(
        name=meta["name"],
        uid=meta.get("uid") or "",
        resource_version=meta.get("resourceVersion") or "",
        labels=meta.get("labels") or {},
        deleting=bool(meta.get("deletionTimestamp")),
        anchor=annotations.get("anchor") or None,
        anchor_uid=annotations.get("anchor_uid") or None,
        mirror=annotations.get("mirror") == names.DRAINING,
        draining_at=parse_stamp(annotations.get("draining_at")),
        surge_wait=annotations.get("surge_wait") or None,
        mode=_mode(annotations.get("mode")),
        abort=annotations.get("abort") or None,
        freeze=parse_stamp(annotations.get("freeze")),
        last_rotation_at=parse_stamp(annotations.get("last_rotation_at")),
        last_failure_at=parse_stamp(annotations.get("last_failure_at")),
        due_before=parse_stamp(annotations.get("due_before")),
        leftovers=frozenset(
            _ROTATION_SCOPED[field] for field in _ROTATION_SCOPED.keys() & annotations
        ),
        static=spec.get("replicas") is not None,
        expire_after=parse_span(template_spec.get("expireAfter")),
        termination_grace_period=parse_span(template_spec.get("terminationGracePeriod")),
        requirements=_template_requirements(template, template_spec),
        taints=taints(template_spec.get("taints")),
        limits=amounts(spec.get("limits"), "spec.limits"),
        used=_used(status),
    )


def _mode(text: str | None) -> Mode:
    return Mode.FALLBACK if text == names.FORCEFUL_FALLBACK else Mode.SURGE


def _template_requirements(template: Template, spec: TemplateSpec) -> tuple[Requirement, ...]:
    """The template's requirements; each of its labels says that the value is just that."""
    labels = (template.get("metadata") or {}).get("labels") or {}
    return requirements(spec.get("requirements")) + tuple(
        Requirement(key, _IN, (value,)) for key, value in sorted(labels.items())
    )


def _used(status: PoolStatus) -> Resources:
    """What the pool uses; the plain count of nodes is newer than the resource of that name."""
    used = amounts(status.get("resources"), "status.resources")
    count = status.get("nodes")
    return used if count is None else {**used, _NODES: Fraction(count)}
