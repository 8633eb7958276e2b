"""Nodes, Pods (core/v1) and PodDisruptionBudgets (policy/v1) become values of the rotation.

Leaves the shapes to :mod:`hooks.protocol.core_shapes` and what the values mean to
:mod:`hooks.rotation`. A part that the API server would never have let in is a
:class:`ShapeError`; annotations are kept as they stand. Source: seed 000 section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pydantic import TypeAdapter

from hooks import names
from hooks.protocol.core_shapes import (
    Affinity,
    BudgetShape,
    ContainerShape,
    NodeShape,
    PodShape,
    SelectorShape,
    TolerationShape,
)
from hooks.protocol.metadata import READY, OwnerShape, amounts, holds, requirements, taints
from hooks.protocol.validation import from_object
from hooks.rotation.durations import parse_stamp
from hooks.rotation.model import Budget, Container, Node, Pod, Requirement, Selector

_ALWAYS: Final = "Always"
_ALWAYS_ALLOW: Final = "AlwaysAllow"
_EXISTS: Final = "Exists"
_NO_SCHEDULE: Final = "NoSchedule"
_NODECLAIM: Final = "NodeClaim"


_NODE: Final = TypeAdapter(NodeShape)
_POD: Final = TypeAdapter(PodShape)
_BUDGET: Final = TypeAdapter(BudgetShape)


def node_of(value: object) -> Node:
    """Read a Node; raises ShapeError when it isn't one."""
    return node_from(from_object(_NODE, value))


def pod_of(value: object) -> Pod:
    """Read a Pod; raises ShapeError when it isn't one."""
    return pod_from(from_object(_POD, value))


def budget_of(value: object) -> Budget:
    """Read a PodDisruptionBudget; raises ShapeError when it isn't one."""
    shape = from_object(_BUDGET, value)
    meta = shape["metadata"]
    spec, status = shape.get("spec") or {}, shape.get("status") or {}
    wanted = status.get("desiredHealthy") or 0
    return Budget(
        name=meta["name"],
        namespace=meta.get("namespace") or "",
        selector=_selector(spec.get("selector")),
        allowed=status.get("disruptionsAllowed") or 0,
        enough_healthy=(status.get("currentHealthy") or 0) >= wanted > 0,
        always_evicts_unhealthy=spec.get("unhealthyPodEvictionPolicy") == _ALWAYS_ALLOW,
    )


def node_from(shape: NodeShape) -> Node:
    """Read a Node whose shape was checked; raises ShapeError for an unreadable quantity."""
    meta = shape["metadata"]
    spec, status = shape.get("spec") or {}, shape.get("status") or {}
    marks, labels = meta.get("annotations") or {}, meta.get("labels") or {}
    allocatable = status.get("allocatable")
    return Node(
        name=meta["name"],
        uid=meta.get("uid") or "",
        resource_version=meta.get("resourceVersion") or "",
        owner_claim=_owner_claim(meta.get("ownerReferences")),
        labels=labels,
        surge_for=marks.get("surge_for"),
        surge_for_label=labels.get(names.SURGE_FOR),
        do_not_disrupt=marks.get("do_not_disrupt"),
        do_not_disrupt_owned=marks.get("owned") == names.TRUE,
        cordoned_by_us=marks.get("cordoned") == names.TRUE,
        unschedulable=bool(spec.get("unschedulable")),
        ready=holds(status.get("conditions"), READY),
        deleting=bool(meta.get("deletionTimestamp")),
        taints=taints(spec.get("taints")),
        allocatable=None if allocatable is None else amounts(allocatable, "status.allocatable"),
    )


def pod_from(shape: PodShape) -> Pod:
    """Read a Pod whose shape was checked; raises ShapeError for an unreadable quantity."""
    meta = shape["metadata"]
    spec, status = shape.get("spec") or {}, shape.get("status") or {}
    marks = meta.get("annotations") or {}
    pod_level = spec.get("resources") or {}
    return Pod(
        name=meta["name"],
        namespace=meta.get("namespace") or "",
        uid=meta.get("uid") or "",
        labels=meta.get("labels") or {},
        phase=status.get("phase") or "",
        started=parse_stamp(status.get("startTime")),
        deleting=bool(meta.get("deletionTimestamp")),
        ends_by=parse_stamp(meta.get("deletionTimestamp")),
        node_name=spec.get("nodeName") or "",
        controller_kind=_controller_kind(meta.get("ownerReferences")),
        mirror="mirror" in marks,
        surge_for=marks.get("surge_for"),
        containers=_containers(spec.get("containers"), "spec.containers"),
        init_containers=_containers(spec.get("initContainers"), "spec.initContainers"),
        overhead=amounts(spec.get("overhead"), "spec.overhead"),
        pod_requests=amounts(pod_level.get("requests"), "spec.resources.requests"),
        node_selector=spec.get("nodeSelector") or {},
        required_node_terms=_node_terms(spec.get("affinity")),
        do_not_disrupt=marks.get("do_not_disrupt"),
        outlives_drain=any(map(_bears_the_drain, spec.get("tolerations") or ())),
        conditions=tuple(
            (entry["type"], entry["status"], entry.get("message") or "")
            for entry in status.get("conditions") or ()
        ),
    )


def _owner_claim(owners: Iterable[OwnerShape] | None) -> str | None:
    return next((owner["name"] for owner in owners or () if owner["kind"] == _NODECLAIM), None)


def _controller_kind(owners: Iterable[OwnerShape] | None) -> str:
    return next((owner["kind"] for owner in owners or () if owner.get("controller")), "")


def _containers(shapes: Iterable[ContainerShape] | None, field: str) -> tuple[Container, ...]:
    return tuple(_container(shape, f"{field}[{i}]") for i, shape in enumerate(shapes or ()))


def _container(shape: ContainerShape, field: str) -> Container:
    resources = shape.get("resources") or {}
    return Container(
        requests=amounts(resources.get("requests"), f"{field}.resources.requests"),
        limits=amounts(resources.get("limits"), f"{field}.resources.limits"),
        restartable=shape.get("restartPolicy") == _ALWAYS,
    )


def _bears_the_drain(toleration: TolerationShape) -> bool:
    """Whether it tolerates the taint that Karpenter drains under, which has no value."""
    if toleration.get("effect") not in {None, "", _NO_SCHEDULE}:
        return False
    key, anything = toleration.get("key"), toleration.get("operator") == _EXISTS
    if not key:
        return anything
    return key == names.DISRUPTED_TAINT and (anything or not toleration.get("value"))


def _selector(shape: SelectorShape | None) -> Selector | None:
    """Null selects nothing, and empty everything, as policy/v1 has it."""
    if shape is None:
        return None
    labels = shape.get("matchLabels") or {}
    return Selector(tuple(sorted(labels.items())), requirements(shape.get("matchExpressions")))


def _node_terms(affinity: Affinity | None) -> tuple[tuple[Requirement, ...], ...]:
    """Each alternative as one tuple; a field requirement keeps its key, ``metadata.name``."""
    required = ((affinity or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return tuple(
        requirements(term.get("matchExpressions")) + requirements(term.get("matchFields"))
        for term in (required["nodeSelectorTerms"] if required else ())
    )
