"""Pods, ReplicaSets and Deployments become values of the graceful drain.

Leaves the shapes to :mod:`hooks.protocol.apps_shapes` and what the values mean to
:mod:`hooks.drain`. An annotation that can't be read is a value, a part that the API server would
never have let in is a :class:`ShapeError`. Source: design/drain.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from hooks import names
from hooks.drain.model import (
    Deployment,
    Owner,
    Pod,
    ReplicaSet,
    Span,
    Stamp,
    Strategy,
    Unreadable,
)
from hooks.drain.owner import read_revision
from hooks.protocol.apps_shapes import (
    DeploymentShape,
    EvictedShape,
    OwnerDetail,
    ReplicaSetShape,
    StrategyShape,
    TemplateShape,
)
from hooks.protocol.metadata import READY, holds
from hooks.protocol.validation import from_object
from hooks.rotation.durations import parse_duration, parse_stamp

_ROLLING: Final = "RollingUpdate"
_HASH: Final = "pod-template-hash"

_POD: Final = TypeAdapter(EvictedShape)
_REPLICA_SET: Final = TypeAdapter(ReplicaSetShape)
_DEPLOYMENT: Final = TypeAdapter(DeploymentShape)


def pod_of(value: object) -> Pod:
    """Read a Pod; raises ShapeError when it isn't one."""
    shape = from_object(_POD, value)
    meta, status = shape["metadata"], shape.get("status") or {}
    return Pod(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        owners=_owners(meta.get("ownerReferences")),
        phase=status.get("phase") or "",
        ready=holds(status.get("conditions"), READY),
        terminating=bool(meta.get("deletionTimestamp")),
    )


def replica_set_of(value: object) -> ReplicaSet:
    """Read a ReplicaSet; raises ShapeError when it isn't one."""
    shape = from_object(_REPLICA_SET, value)
    meta, spec = shape["metadata"], shape.get("spec") or {}
    return ReplicaSet(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        owners=_owners(meta.get("ownerReferences")),
        revision=read_revision((meta.get("annotations") or {}).get(names.REVISION)),
        template=_without_hash(spec.get("template") or {}),
    )


def deployment_of(value: object) -> Deployment:
    """Read a Deployment; raises ShapeError when it isn't one."""
    return deployment_from(from_object(_DEPLOYMENT, value))


def deployment_from(shape: DeploymentShape) -> Deployment:
    """Read a Deployment whose shape was checked."""
    meta = shape["metadata"]
    spec, status = shape.get("spec") or {}, shape.get("status") or {}
    notes, replicas = meta.get("annotations") or {}, spec.get("replicas")
    return Deployment(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        resource_version=meta.get("resourceVersion") or "",
        generation=meta.get("generation") or 0,
        deleting=bool(meta.get("deletionTimestamp")),
        annotations=notes,
        replicas=1 if replicas is None else replicas,
        paused=bool(spec.get("paused")),
        strategy=_strategy(spec.get("strategy")),
        template=_without_hash(spec.get("template") or {}),
        observed_generation=status.get("observedGeneration") or 0,
        total=status.get("replicas") or 0,
        updated=status.get("updatedReplicas") or 0,
        ready=status.get("readyReplicas") or 0,
        unavailable=status.get("unavailableReplicas") or 0,
        revision=read_revision(notes.get(names.REVISION)),
        restarted_at=_stamp(notes.get(names.DRAIN_RESTARTED_AT)),
        rolled_for=_stamp(notes.get(names.DRAIN_ROLLED_FOR)),
        last_pod_uid=notes.get(names.DRAIN_LAST_POD_UID),
        rollout_timeout=_span(notes.get(names.DRAIN_ROLLOUT_TIMEOUT)),
    )


def _owners(shapes: Iterable[OwnerDetail] | None) -> tuple[Owner, ...]:
    return tuple(
        Owner(
            api_version=shape["apiVersion"],
            kind=shape["kind"],
            name=shape["name"],
            uid=shape["uid"],
            controller=bool(shape.get("controller")),
        )
        for shape in shapes or ()
    )


def _without_hash(template: TemplateShape) -> Mapping[str, object]:
    """What the Deployment controller compares: it adds a label that tells its ReplicaSets apart."""
    meta = template.get("metadata") or {}
    labels = meta.get("labels") or {}
    rest = {key: value for key, value in labels.items() if key != _HASH}
    return {**template, "metadata": {**meta, "labels": rest}}


def _strategy(shape: StrategyShape | None) -> Strategy:
    given = shape or {}
    rolling = given.get("rollingUpdate") or {}
    return Strategy(
        type=given.get("type") or _ROLLING,
        max_surge=rolling.get("maxSurge"),
        max_unavailable=rolling.get("maxUnavailable"),
    )


def _stamp(text: str | None) -> Stamp:
    read = parse_stamp(text)
    return read if read is None or isinstance(read, datetime) else Unreadable(read.text)


def _span(text: str | None) -> Span:
    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError:
        return Unreadable(text)
