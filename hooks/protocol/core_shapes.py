"""The wire shapes of Nodes, Pods and PodDisruptionBudgets, as far as a rotation needs them.

Owns which fields are read at all. Leaves the reading to :mod:`hooks.protocol.core`. The keys of a
checked annotation map are the field names here, not the keys on the wire. Source: Kubernetes' core
and policy APIs.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from hooks import names
from hooks.protocol.metadata import (
    ConditionDetail,
    ConditionShape,
    Name,
    OwnerShape,
    Quantities,
    RequirementShape,
    TaintShape,
)


class Marks(TypedDict, total=False):
    """Those annotations of a Node or Pod that mean something to us."""

    surge_for: Annotated[str, Field(alias=names.SURGE_FOR)]
    do_not_disrupt: Annotated[str, Field(alias=names.DO_NOT_DISRUPT)]
    owned: Annotated[str, Field(alias=names.DO_NOT_DISRUPT_OWNED)]
    cordoned: Annotated[str, Field(alias=names.CORDONED)]
    mirror: Annotated[str, Field(alias=names.MIRROR_ANNOTATION)]


class ObjectMeta(TypedDict):
    """Metadata of a Node, Pod or PodDisruptionBudget."""

    name: Name
    namespace: NotRequired[str | None]
    uid: NotRequired[str | None]
    resourceVersion: NotRequired[str | None]
    deletionTimestamp: NotRequired[str | None]
    annotations: NotRequired[Marks | None]
    labels: NotRequired[dict[str, str] | None]
    ownerReferences: NotRequired[list[OwnerShape] | None]


class NodeSpec(TypedDict, total=False):
    """The specification of a Node."""

    unschedulable: StrictBool | None
    taints: list[TaintShape] | None


class NodeStatus(TypedDict, total=False):
    """The status of a Node."""

    allocatable: Quantities | None
    conditions: list[ConditionShape] | None


class NodeShape(TypedDict):
    """A Node."""

    metadata: ObjectMeta
    spec: NotRequired[NodeSpec | None]
    status: NotRequired[NodeStatus | None]


class ResourcesShape(TypedDict, total=False):
    """Requests and limits of a container or of a whole Pod."""

    requests: Quantities | None
    limits: Quantities | None


class ContainerShape(TypedDict, total=False):
    """A container; ``restartPolicy`` occurs only on init containers."""

    resources: ResourcesShape | None
    restartPolicy: str | None


class NodeTerm(TypedDict, total=False):
    """One alternative of a node affinity; ``matchFields`` can only name the Node itself."""

    matchExpressions: list[RequirementShape] | None
    matchFields: list[RequirementShape] | None


class NodeTerms(TypedDict):
    """The alternatives of a required node affinity."""

    nodeSelectorTerms: list[NodeTerm]


class NodeAffinity(TypedDict, total=False):
    """What a Pod asks of its Node."""

    requiredDuringSchedulingIgnoredDuringExecution: NodeTerms | None


class Affinity(TypedDict, total=False):
    """What a Pod asks of its surroundings."""

    nodeAffinity: NodeAffinity | None


class TolerationShape(TypedDict, total=False):
    """A taint that a Pod puts up with; an absent effect or (with Exists) key means each."""

    key: str | None
    operator: str | None
    value: str | None
    effect: str | None


class PodSpec(TypedDict, total=False):
    """The specification of a Pod."""

    nodeName: str | None
    containers: list[ContainerShape] | None
    initContainers: list[ContainerShape] | None
    overhead: Quantities | None
    resources: ResourcesShape | None
    nodeSelector: dict[str, str] | None
    affinity: Affinity | None
    tolerations: list[TolerationShape] | None


class PodStatus(TypedDict, total=False):
    """The status of a Pod."""

    phase: str | None
    startTime: str | None
    conditions: list[ConditionDetail] | None


class PodShape(TypedDict):
    """A Pod."""

    metadata: ObjectMeta
    spec: NotRequired[PodSpec | None]
    status: NotRequired[PodStatus | None]


class SelectorShape(TypedDict, total=False):
    """A label selector; one without any constraint selects everything."""

    matchLabels: dict[str, str] | None
    matchExpressions: list[RequirementShape] | None


class BudgetSpec(TypedDict, total=False):
    """The specification of a PodDisruptionBudget."""

    selector: SelectorShape | None
    unhealthyPodEvictionPolicy: str | None


class BudgetStatus(TypedDict, total=False):
    """The status of a PodDisruptionBudget."""

    disruptionsAllowed: StrictInt | None
    currentHealthy: StrictInt | None
    desiredHealthy: StrictInt | None


class BudgetShape(TypedDict):
    """A PodDisruptionBudget."""

    metadata: ObjectMeta
    spec: NotRequired[BudgetSpec | None]
    status: NotRequired[BudgetStatus | None]
