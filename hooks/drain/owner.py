"""Whose Pod it is: Pod -> ReplicaSet -> Deployment, and whether the ReplicaSet is the current one.

Owns what counts as an owner: the controller's reference, group ``apps`` and kind exact (an Argo
Rollout also has ReplicaSets), and the UID, so that a namesake is nobody. Source: seed 004.
"""

from __future__ import annotations

from typing import Final

from hooks.drain.model import (
    Deployment,
    Kind,
    Owner,
    Pod,
    ReplicaSet,
    Revision,
    Unreadable,
)

_GROUP: Final = "apps"
_LONGEST: Final = 18
"""Digits: a revision is a signed 64-bit number."""


def owner_of(thing: Pod | ReplicaSet, kind: Kind) -> Owner | None:
    """The controller of a Pod or ReplicaSet, if it is of this kind of group apps; else None."""
    for owner in thing.owners:
        group, _, version = owner.api_version.partition("/")
        if owner.controller and version and group == _GROUP and owner.kind == kind.value:
            return owner
    return None


def read_revision(text: str | None) -> Revision:
    """Read annotation deployment.kubernetes.io/revision; absent is None."""
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > _LONGEST:
        return Unreadable(text)
    return int(text)


def is_older(replica_set: ReplicaSet, deployment: Deployment) -> bool:
    """Whether a rollout is known to be replacing the ReplicaSet's Pods.

    One of the Deployment's own template isn't replaced, whatever its number: a rollout was undone, and
    the number is of the time before, in the cluster or as it was read.
    A higher revision than the Deployment's is current: its controller numbers the ReplicaSet first.
    Where either is missing or can't be read nothing is known of a rollout; one that there is all
    the same holds ours up (:mod:`hooks.drain.progress`), so at worst it is followed by another.
    """
    own, newest = replica_set.revision, deployment.revision
    has_lower = isinstance(own, int) and isinstance(newest, int) and own < newest
    return has_lower and is_left_behind(replica_set, deployment)


def is_left_behind(replica_set: ReplicaSet, deployment: Deployment) -> bool:
    """Whether the Deployment has another template than the ReplicaSet was made from.

    While its controller hasn't observed that yet, both have the same revision, for a moment in which
    the ReplicaSet of the new template, and its Pod, may be there already.
    """
    return replica_set.template != deployment.template


def is_current(replica_set: ReplicaSet, deployment: Deployment) -> bool:
    """Whether the ReplicaSet is known to be the one that its Deployment wants now."""
    own, newest = replica_set.revision, deployment.revision
    return isinstance(own, int) and isinstance(newest, int) and own >= newest
