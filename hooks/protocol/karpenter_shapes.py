"""The wire shapes of NodePools and NodeClaims (karpenter.sh/v1), as far as a rotation needs them.

Owns which fields are read at all: what isn't named here never becomes a Python object, which is
most of a request. Leaves the reading to :mod:`hooks.protocol.karpenter`. The keys of a checked
annotation map are the field names here, not the keys on the wire. Source: Karpenter's CRDs.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field, StrictInt
from typing_extensions import TypedDict

from hooks import names
from hooks.protocol.metadata import (
    ConditionDetail,
    ConditionShape,
    Name,
    Quantities,
    RequirementShape,
    TaintShape,
)


class ClaimAnnotations(TypedDict, total=False):
    """Those annotations of a NodeClaim that are ours."""

    state: Annotated[str, Field(alias=names.STATE)]
    started_at: Annotated[str, Field(alias=names.STARTED_AT)]
    failed_at: Annotated[str, Field(alias=names.FAILED_AT)]
    retry_count: Annotated[str, Field(alias=names.RETRY_COUNT)]
    surge_claim: Annotated[str, Field(alias=names.SURGE_CLAIM)]
    due: Annotated[str, Field(alias=names.DUE)]


class ClaimLabels(TypedDict, total=False):
    """Those labels of a NodeClaim that say where it belongs and on which host it is."""

    pool: Annotated[str, Field(alias=names.NODEPOOL_LABEL)]
    hostname: Annotated[str, Field(alias=names.HOSTNAME_LABEL)]


class ClaimMeta(TypedDict):
    """Metadata of a NodeClaim."""

    name: Name
    uid: Name
    creationTimestamp: str
    resourceVersion: NotRequired[str | None]
    deletionTimestamp: NotRequired[str | None]
    annotations: NotRequired[ClaimAnnotations | None]
    labels: NotRequired[ClaimLabels | None]


class ClaimSpec(TypedDict, total=False):
    """What a NodeClaim says about its own end."""

    expireAfter: str | None
    terminationGracePeriod: str | None


class ClaimStatus(TypedDict, total=False):
    """How far a NodeClaim is."""

    nodeName: str | None
    conditions: list[ConditionShape] | None


class ClaimShape(TypedDict):
    """A NodeClaim in a request, which holds a thousand of them: only what every pass needs."""

    metadata: ClaimMeta
    spec: NotRequired[ClaimSpec | None]
    status: NotRequired[ClaimStatus | None]


class ClaimDetailSpec(TypedDict, total=False):
    """What only a live read fills."""

    requirements: list[RequirementShape] | None


class ClaimDetailStatus(TypedDict, total=False):
    """What only a live read fills."""

    allocatable: Quantities | None
    conditions: list[ConditionDetail] | None


class ClaimDetails(TypedDict):
    """The rest of a NodeClaim, of which a decision needs one or two at most."""

    spec: NotRequired[ClaimDetailSpec | None]
    status: NotRequired[ClaimDetailStatus | None]


class PoolAnnotations(TypedDict, total=False):
    """Those annotations of a NodePool that are ours."""

    anchor: Annotated[str, Field(alias=names.ACTIVE_ROTATION)]
    anchor_uid: Annotated[str, Field(alias=names.ACTIVE_ROTATION_UID)]
    mirror: Annotated[str, Field(alias=names.ACTIVE_ROTATION_STATE)]
    draining_at: Annotated[str, Field(alias=names.DRAINING_AT)]
    surge_wait: Annotated[str, Field(alias=names.SURGE_WAIT)]
    mode: Annotated[str, Field(alias=names.ROTATION_MODE)]
    abort: Annotated[str, Field(alias=names.ABORT)]
    freeze: Annotated[str, Field(alias=names.FREEZE)]
    last_rotation_at: Annotated[str, Field(alias=names.LAST_ROTATION_AT)]
    last_failure_at: Annotated[str, Field(alias=names.LAST_FAILURE_AT)]
    due_before: Annotated[str, Field(alias=names.DUE_BEFORE)]


class PoolMeta(TypedDict):
    """Metadata of a NodePool; one from a file has no UID yet."""

    name: Name
    uid: NotRequired[str | None]
    resourceVersion: NotRequired[str | None]
    deletionTimestamp: NotRequired[str | None]
    labels: NotRequired[dict[str, str] | None]
    annotations: NotRequired[PoolAnnotations | None]


class TemplateMeta(TypedDict, total=False):
    """What the pool's nodes are labelled with."""

    labels: dict[str, str] | None


class TemplateSpec(TypedDict, total=False):
    """What the pool's nodes are made of."""

    expireAfter: str | None
    terminationGracePeriod: str | None
    requirements: list[RequirementShape] | None
    taints: list[TaintShape] | None


class Template(TypedDict, total=False):
    """The template of the pool's NodeClaims."""

    metadata: TemplateMeta | None
    spec: TemplateSpec | None


class PoolSpec(TypedDict, total=False):
    """The specification of a NodePool."""

    replicas: StrictInt | None
    limits: Quantities | None
    template: Template | None


class PoolStatus(TypedDict, total=False):
    """What a NodePool uses."""

    resources: Quantities | None
    nodes: StrictInt | None


class PoolShape(TypedDict):
    """A NodePool."""

    metadata: PoolMeta
    spec: NotRequired[PoolSpec | None]
    status: NotRequired[PoolStatus | None]
