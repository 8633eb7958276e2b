"""The writes of a pass, as values: what to change, and what must hold when it is sent.

Owns the shapes only; :mod:`hooks.rotation.guards` says when each may go ahead and
:mod:`hooks.cluster.apply` sends it. A write whose guard refuses ends the pass (*stop*).
Source: design/rotation.md sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from hooks.rotation.model import ClaimState, Malformed, Mode, Policy, Stamp


@dataclass(frozen=True, slots=True)
class ClaimGuard:
    """What a patch of a claim rested on; it is read live again before the patch goes out.

    ``anchored`` True: the live NodePool's anchor must name the claim; False: it must not (row 18).
    """

    pool: str
    anchored: bool
    state: ClaimState | Malformed | None
    started_at: Stamp
    deleting: bool


@dataclass(frozen=True, slots=True)
class PatchClaim:
    """Sets (or with None removes) annotations of one NodeClaim. *Take*: loses on a conflict."""

    claim: str
    uid: str
    changes: tuple[tuple[str, str | None], ...]
    guard: ClaimGuard


@dataclass(frozen=True, slots=True)
class Freeze:
    """Puts our marks on a Node for ``claim``, and cordons it when asked. *Assert*: idempotent."""

    node: str
    claim: str
    cordon: bool


@dataclass(frozen=True, slots=True)
class Unfreeze:
    """Removes from a Node the marks that we put there for ``claim``, and only ours. *Assert*."""

    node: str
    claim: str


@dataclass(frozen=True, slots=True)
class DeleteCandidate:
    """Deletes the anchored NodeClaim, if the delete guard, read live, lets it."""

    pool: str
    claim: str
    uid: str
    mode: Mode
    policy: Policy
    suspended: bool
    now: datetime


@dataclass(frozen=True, slots=True)
class Reap:
    """Deletes the NodeClaim that a failed surge brought, if the reap guards let it; else nothing.

    ``unregistered`` are the claims of the pool in the request without a registered Node: the
    fallback when the candidate names no surge-claim. Never ends the pass: in doubt, don't reap.
    """

    pool: str
    claim: str
    uid: str
    policy: Policy
    unregistered: tuple[str, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class Announce:
    """Creates one Event with a deterministic ``name``; who creates it first counts what it stands for.

    That is one ``outcome`` (empty: nothing is counted) and the ``durations`` by phase. As a write of
    its own it has its place among them; those of a decision's ``announcements`` follow all writes.
    """

    name: str
    reason: str
    outcome: str
    warning: bool
    kind: str
    regarding: str
    regarding_uid: str
    note: str
    at: datetime
    durations: tuple[tuple[str, timedelta], ...] = ()


Write: TypeAlias = PatchClaim | Freeze | Unfreeze | DeleteCandidate | Reap | Announce
