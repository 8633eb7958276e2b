"""What one pass sees of the cluster: small frozen values, every string already parsed.

Owns the vocabulary of the core. Leaves the wire shapes to :mod:`hooks.protocol` and all decisions
to the other modules here. Of each annotation, *missing* (None), *unreadable* (:class:`Malformed`)
and *zero* are three different things. It passes 300 lines because a vocabulary is read, and searched,
in one place. Source: seed 000 section 5.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Malformed:
    """A value that is there and can't be read; ``text`` is what stood there."""

    text: str


Stamp: TypeAlias = datetime | Malformed | None
"""A time (aware, UTC), an unreadable one, or none."""
Span: TypeAlias = timedelta | Malformed | None
"""A duration, an unreadable one, or none ("Never" and absent are both none)."""
Quantity: TypeAlias = Fraction
"""An exact amount of a resource in its base unit (cores, bytes, pieces)."""
Resources: TypeAlias = Mapping[str, Quantity]
"""Resource name to amount."""


class ClaimState(StrEnum):
    """Where a NodeClaim's rotation is (annotation ``state``); none is ``None``."""

    PENDING = "pending"
    DRAINING = "draining"
    FAILED = "failed"
    EXPIRED = "expired"


class Mode(StrEnum):
    """How a rotation replaces its node."""

    SURGE = "surge"
    FALLBACK = "forceful-fallback"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One scheduling requirement: ``operator`` is In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a Node or of a NodePool's template; ``value`` may be empty."""

    key: str
    effect: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A NodeClaim. ``requirements``, ``allocatable`` and ``conditions`` are filled by live reads only."""

    name: str
    uid: str
    created: datetime
    resource_version: str = ""
    deleting_since: datetime | None = None
    ready: bool = False
    registered: bool = False
    node_name: str = ""
    hostname: str = ""
    """Label kubernetes.io/hostname of the claim, else its Node's name."""
    pool: str = ""
    """Label karpenter.sh/nodepool."""
    expire_after: Span = None
    termination_grace_period: Span = None
    state: ClaimState | Malformed | None = None
    started_at: Stamp = None
    failed_at: Stamp = None
    retry_count: int | Malformed = 0
    surge_claim: str | None = None
    due_requested: bool = False
    requirements: tuple[Requirement, ...] = ()
    allocatable: Resources | None = None
    conditions: tuple[tuple[str, str, str], ...] = ()

    @property
    def deleting(self) -> bool:
        """Whether somebody has asked for its deletion."""
        return self.deleting_since is not None


@dataclass(frozen=True, slots=True)
class Node:
    """A Node, with our marks on it read apart from an operator's."""

    name: str
    uid: str = ""
    resource_version: str = ""
    owner_claim: str | None = None
    """Name in the ownerReference of kind NodeClaim, which Karpenter sets at registration."""
    labels: Mapping[str, str] = field(default_factory=dict)
    surge_for: str | None = None
    surge_for_label: str | None = None
    do_not_disrupt: str | None = None
    do_not_disrupt_owned: bool = False
    cordoned_by_us: bool = False
    unschedulable: bool = False
    ready: bool = False
    deleting: bool = False
    taints: tuple[Taint, ...] = ()
    allocatable: Resources | None = None

    @property
    def opted_out(self) -> bool:
        """Whether an operator's own do-not-disrupt keeps it from proactive rotation."""
        return self.do_not_disrupt == "true" and not self.do_not_disrupt_owned

    @property
    def marked(self) -> bool:
        """Whether it carries any mark of ours."""
        return (
            self.surge_for is not None
            or self.surge_for_label is not None
            or self.do_not_disrupt_owned
            or self.cordoned_by_us
        )


@dataclass(frozen=True, slots=True)
class Container:
    """A container's requests and limits; ``restartable`` marks a sidecar among the init containers."""

    requests: Resources = field(default_factory=dict)
    limits: Resources = field(default_factory=dict)
    restartable: bool = False


@dataclass(frozen=True, slots=True)
class Pod:
    """A Pod, as far as sizing, readiness and the reap guards need it."""

    name: str
    namespace: str = ""
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    phase: str = ""
    started: Stamp = None
    """When the kubelet took it up (status.startTime)."""
    deleting: bool = False
    ends_by: Stamp = None
    """Of a deleting one: when its grace is over, which is what its deletionTimestamp says."""
    node_name: str = ""
    controller_kind: str = ""
    mirror: bool = False
    surge_for: str | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Resources = field(default_factory=dict)
    pod_requests: Resources = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    required_node_terms: tuple[tuple[Requirement, ...], ...] = ()
    do_not_disrupt: str | None = None
    outlives_drain: bool = False
    """It tolerates Karpenter's taint karpenter.sh/disrupted, so a drain doesn't wait for it."""
    conditions: tuple[tuple[str, str, str], ...] = ()
    """(type, status, message) of each condition."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A NodePool: its rotation state, and what of its spec and status rotation needs."""

    name: str
    uid: str = ""
    resource_version: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    deleting: bool = False
    anchor: str | None = None
    anchor_uid: str | None = None
    mirror: bool = False
    draining_at: Stamp = None
    surge_wait: str | None = None
    mode: Mode = Mode.SURGE
    abort: str | None = None
    freeze: Stamp = None
    last_rotation_at: Stamp = None
    last_failure_at: Stamp = None
    due_before: Stamp = None
    leftovers: frozenset[str] = frozenset()
    """Which of the rotation-scoped annotation keys (names.CLEARED_AT_THE_END) are present at all."""
    static: bool = False
    expire_after: Span = None
    termination_grace_period: Span = None
    requirements: tuple[Requirement, ...] = ()
    """Of the template, its labels included as ``In`` requirements."""
    taints: tuple[Taint, ...] = ()
    limits: Resources = field(default_factory=dict)
    used: Resources = field(default_factory=dict)
    """status.resources, with the count of nodes under ``nodes``."""


@dataclass(frozen=True, slots=True)
class Window:
    """One entry of maintenanceWindows: minutes are since local midnight; ``end`` may be up to 1440.

    ``end <= start`` means that it closes on the next day; ``days`` are 0 (Monday) to 6 (Sunday).
    """

    timezone: str
    days: frozenset[int]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A span of time in which nothing starts: ``[start, end)``."""

    start: datetime
    end: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector; its specificity is the number of its constraints."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget, as far as it decides on an eviction; no selector selects no Pod."""

    name: str
    namespace: str = ""
    selector: Selector | None = None
    allowed: int = 0
    """status.disruptionsAllowed."""
    enough_healthy: bool = False
    """At least as many Pods are healthy as it wants, and it wants some."""
    always_evicts_unhealthy: bool = False
    """spec.unhealthyPodEvictionPolicy is AlwaysAllow."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A readable RotationPolicy, defaults applied. ``age_threshold`` None means ``auto``."""

    name: str
    selector: Selector
    windows: tuple[Window, ...]
    uid: str = ""
    generation: int = 0
    age_threshold: timedelta | None = None
    chances: int = 2
    exclusions: tuple[Exclusion, ...] = ()
    suspend: bool = False
    dry_run: bool = False
    ready_timeout: timedelta = timedelta(minutes=15)
    cooldown_after: timedelta = timedelta(minutes=10)
    failure_pause: timedelta | None = None
    drain_estimate: timedelta | None = None
    provisioning_estimate: timedelta | None = None
    retry_backoff: timedelta = timedelta(minutes=30)
    required: tuple[str, ...] = (
        "topology.kubernetes.io/zone",
        "kubernetes.io/arch",
        "karpenter.sh/capacity-type",
    )
    preferred: tuple[str, ...] = ()
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class BrokenPolicy:
    """A RotationPolicy that can't be read, with every problem as (field path, message).

    ``selector`` is None when not even that can be read; otherwise it still wins by its selector.
    """

    name: str
    problems: tuple[tuple[str, str], ...]
    selector: Selector | None = None
    uid: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that one pass rests on, the policy and the clock included."""

    now: datetime
    pool: Pool
    policies: tuple[Policy | BrokenPolicy, ...] = ()
    claims: tuple[Claim, ...] = ()
    nodes: tuple[Node, ...] = ()
    """The related Nodes: those with our label."""
    placeholders: tuple[Pod, ...] = ()
    suspended: bool = False
    """The setting NODEROTATION_SUSPEND."""
    namespace: str = "node-rotation-system"
    image: str = "registry.k8s.io/pause:3.10"
    opted_out: frozenset[str] = field(default_factory=frozenset)
    """UIDs of claims whose Nodes were seen opted out within the last 60 s."""
    unlisted_at: datetime | None = None
    """When this pool was last answered without a placeholder, as far as this process remembers."""
