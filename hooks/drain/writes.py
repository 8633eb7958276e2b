"""What a decision of the drain wants written and told, as values.

Owns the shapes only; who sends them is :mod:`hooks.cluster`. Source: design/drain.md.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hooks import names
from hooks.drain.model import Deployment


@dataclass(frozen=True, slots=True)
class PatchDeployment:
    """One patch of a Deployment. *Take*: it lands on this resourceVersion, or not at all.

    ``annotations`` are set, or with None removed (removing what isn't there changes nothing);
    ``restarted_at`` goes into the Pod template, in the same patch; None leaves the template alone.
    """

    namespace: str
    name: str
    uid: str
    resource_version: str
    annotations: tuple[tuple[str, str | None], ...]
    restarted_at: str | None = None


@dataclass(frozen=True, slots=True)
class Announcement:
    """One Event on a Deployment, in its namespace, with a name that is the same for the same thing.

    ``reason`` is one of ``names.DRAIN_EVENTS``, which also gives the type. It is created after the
    write that it tells of has landed, and never waited for.
    """

    name: str
    reason: str
    note: str
    namespace: str
    regarding: str
    regarding_uid: str
    at: datetime


class Code(StrEnum):
    """What may be wrong with a Deployment's annotations: for the log, and warnings of an answer."""

    TIMEOUT_INVALID = "RolloutTimeoutInvalid"
    TRACKING_UNREADABLE = "TrackingUnreadable"
    TRACKING_AHEAD = "TrackingAhead"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something of an operator's that was found wrong, and what was done instead."""

    code: Code
    message: str


def patch(
    deployment: Deployment,
    *annotations: tuple[str, str | None],
    restarted_at: str | None = None,
) -> PatchDeployment:
    """A patch of the Deployment as it was seen."""
    return PatchDeployment(
        namespace=deployment.namespace,
        name=deployment.name,
        uid=deployment.uid,
        resource_version=deployment.resource_version,
        annotations=annotations,
        restarted_at=restarted_at,
    )


def announcement(
    deployment: Deployment, reason: str, key: str, note: str, at: datetime
) -> Announcement:
    """An Event on the Deployment; those of one reason and ``key`` are one."""
    digest = hashlib.sha256(f"{deployment.uid} {reason} {key}".encode()).hexdigest()
    return Announcement(
        name=f"{names.DRAIN_CONTROLLER}-{digest[:40]}",
        reason=reason,
        note=note,
        namespace=deployment.namespace,
        regarding=deployment.name,
        regarding_uid=deployment.uid,
        at=at,
    )
