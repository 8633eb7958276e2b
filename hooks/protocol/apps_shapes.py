"""The wire shapes of Pods, ReplicaSets and Deployments, as far as a graceful drain needs them.

Owns which fields are read at all. Leaves the reading to :mod:`hooks.protocol.apps`. Source:
Kubernetes' core and apps APIs.
"""

from __future__ import annotations

from typing import NotRequired

from pydantic import ConfigDict, StrictBool, StrictInt, with_config
from typing_extensions import TypedDict

from hooks.protocol.metadata import ConditionShape, Name


class OwnerDetail(TypedDict):
    """One entry of ``metadata.ownerReferences``, with what tells namesakes apart."""

    apiVersion: str
    kind: str
    name: str
    uid: str
    controller: NotRequired[bool | None]


class OwnedMeta(TypedDict):
    """Metadata of a Pod, ReplicaSet or Deployment."""

    name: Name
    namespace: Name
    uid: Name
    resourceVersion: NotRequired[str | None]
    generation: NotRequired[StrictInt | None]
    deletionTimestamp: NotRequired[str | None]
    annotations: NotRequired[dict[str, str] | None]
    ownerReferences: NotRequired[list[OwnerDetail] | None]


class EvictedStatus(TypedDict, total=False):
    """The status of a Pod."""

    phase: str | None
    conditions: list[ConditionShape] | None


class EvictedShape(TypedDict):
    """A Pod that is to be evicted."""

    metadata: OwnedMeta
    status: NotRequired[EvictedStatus | None]


@with_config(ConfigDict(extra="allow"))
class TemplateMeta(TypedDict, total=False):
    """Metadata of a Pod template, where a restart is written."""

    labels: dict[str, str] | None
    annotations: dict[str, str] | None


@with_config(ConfigDict(extra="allow"))
class TemplateShape(TypedDict, total=False):
    """What Pods are made from; all of it is kept."""

    metadata: TemplateMeta | None


class ReplicaSetSpec(TypedDict, total=False):
    """The specification of a ReplicaSet."""

    template: TemplateShape | None


class ReplicaSetShape(TypedDict):
    """A ReplicaSet."""

    metadata: OwnedMeta
    spec: NotRequired[ReplicaSetSpec | None]


class RollingShape(TypedDict, total=False):
    """How a rolling update goes: numbers, or percentages of the replicas."""

    maxSurge: StrictInt | str | None
    maxUnavailable: StrictInt | str | None


class StrategyShape(TypedDict, total=False):
    """How a Deployment replaces its Pods."""

    type: str | None
    rollingUpdate: RollingShape | None


class DeploymentSpec(TypedDict, total=False):
    """The specification of a Deployment."""

    replicas: StrictInt | None
    paused: StrictBool | None
    strategy: StrategyShape | None
    template: TemplateShape | None


class DeploymentStatus(TypedDict, total=False):
    """The status of a Deployment; a count that is missing is zero."""

    observedGeneration: StrictInt | None
    replicas: StrictInt | None
    updatedReplicas: StrictInt | None
    readyReplicas: StrictInt | None
    unavailableReplicas: StrictInt | None


class DeploymentShape(TypedDict):
    """A Deployment."""

    metadata: OwnedMeta
    spec: NotRequired[DeploymentSpec | None]
    status: NotRequired[DeploymentStatus | None]
