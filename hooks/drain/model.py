"""What an eviction, or a sync of a tracked Deployment, sees of the cluster: small frozen values.

Owns the vocabulary of the drain. Leaves the wire shapes, and the reading of times, durations and
revisions from text, to :mod:`hooks.protocol`, and all decisions to the other modules here. Of each
annotation, *missing* (None), *unreadable* (:class:`Unreadable`) and *zero* are three different
things. Source: seed 004, design/drain.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that is there and can't be read; ``text`` is what stood there."""

    text: str


Stamp: TypeAlias = datetime | Unreadable | None
"""A time (aware, UTC), an unreadable one, or none."""
Span: TypeAlias = timedelta | Unreadable | None
"""A duration of any sign, an unreadable one, or none."""
Revision: TypeAlias = int | Unreadable | None
"""Annotation deployment.kubernetes.io/revision, see :func:`hooks.drain.owner.read_revision`."""
Share: TypeAlias = int | str | None
"""maxSurge or maxUnavailable as it stands there: a number, a percentage, or none (25% then)."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a decision rests on beside the cluster: ``now``, read once a request, and the settings."""

    now: datetime
    """Aware, UTC."""
    rollout_timeout: timedelta
    """Positive: for Deployments without a timeout of their own."""
    enabled_annotation: str = ""
    """Key that a Deployment must carry to be protected; empty: all are."""


@dataclass(frozen=True, slots=True)
class Review:
    """An eviction as the API server asks about it."""

    namespace: str
    pod: str
    """Name of the Pod."""
    is_eviction: bool = True
    """Whether it is about CREATE of a Pod's subresource eviction."""
    dry_run: bool = False
    """The review's own dryRun, or one in the Eviction's deleteOptions.dryRun."""
    uid_wanted: str | None = None
    """The Eviction's deleteOptions.preconditions.uid."""


@dataclass(frozen=True, slots=True)
class Owner:
    """One entry of metadata.ownerReferences."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False


@dataclass(frozen=True, slots=True)
class Pod:
    """A Pod that is to be evicted."""

    namespace: str
    name: str
    uid: str
    owners: tuple[Owner, ...] = ()
    phase: str = "Running"
    ready: bool = False
    """Condition Ready is True."""
    terminating: bool = False


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    """The ReplicaSet that controls a Pod."""

    namespace: str
    name: str
    uid: str
    owners: tuple[Owner, ...] = ()
    revision: Revision = None
    template: Mapping[str, object] = field(default_factory=dict)
    """spec.template as the Deployment's was when it was made, without the label of its hash."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a Deployment replaces its Pods (spec.strategy)."""

    type: str = "RollingUpdate"
    max_surge: Share = None
    max_unavailable: Share = None


@dataclass(frozen=True, slots=True)
class Deployment:
    """A Deployment: what is asked for, what its controller reports, and our annotations on it.

    Counts that the status doesn't show are 0, ``replicas`` is 1 when it is absent, as the API has it.
    """

    namespace: str
    name: str
    uid: str
    resource_version: str = ""
    generation: int = 0
    deleting: bool = False
    annotations: Mapping[str, str] = field(default_factory=dict)
    """All of them, for the one that opts in."""
    # spec
    replicas: int = 1
    paused: bool = False
    strategy: Strategy = Strategy()
    template: Mapping[str, object] = field(default_factory=dict)
    """spec.template: what Pods are made from now."""
    # status
    observed_generation: int = 0
    total: int = 0
    """status.replicas: Pods of all revisions that aren't terminating."""
    updated: int = 0
    """status.updatedReplicas."""
    ready: int = 0
    """status.readyReplicas."""
    unavailable: int = 0
    """status.unavailableReplicas."""
    # annotations
    revision: Revision = None
    restarted_at: Stamp = None
    """The tracking value."""
    rolled_for: Stamp = None
    """The tracking value that the rollout was begun, or adopted, for."""
    last_pod_uid: str | None = None
    """UID of the Pod that the last tracking was for; it stays when tracking is cleared."""
    rollout_timeout: Span = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """A live read that gave no answer: neither the object nor the word that it doesn't exist."""

    text: str


class Unread(Enum):
    """What hasn't been read yet."""

    UNREAD = "unread"


class Kind(Enum):
    """What an eviction may have to read live, in this order."""

    POD = "Pod"
    REPLICA_SET = "ReplicaSet"
    DEPLOYMENT = "Deployment"


@dataclass(frozen=True, slots=True)
class Read:
    """The next live read that a decision needs."""

    kind: Kind
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """What this process remembers of a Pod, should the annotations be taken away."""

    denied_since: datetime | None = None
    """Since when it has been denied, other than for the sake of another Pod; from the moment on
    that we began tracking for it, if we did."""
    recorded: bool = False
    """Whether we began tracking for it."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that is known of one eviction so far.

    Of each object: not read yet, no answer (:class:`Trouble`), it doesn't exist (None), or what it is.
    """

    review: Review
    terms: Terms
    pod: Pod | Trouble | Unread | None = Unread.UNREAD
    replica_set: ReplicaSet | Trouble | Unread | None = Unread.UNREAD
    deployment: Deployment | Trouble | Unread | None = Unread.UNREAD
    remembered: Remembered = Remembered()
