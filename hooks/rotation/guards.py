"""What must hold, read live, at the moment before each dangerous step.

Every function returns None when the step may go ahead, and otherwise the :class:`Reason` why not.
A request body alone, stale or forged, can never pass them. Source: design/rotation.md section 3.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hooks import names
from hooks.rotation import placeholder
from hooks.rotation.due import is_excluded
from hooks.rotation.model import Claim, ClaimState, Malformed, Mode, Node, Pod, Policy, Pool
from hooks.rotation.reader import Reader
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import deadline, t_rot
from hooks.rotation.windows import open_occurrence
from hooks.rotation.writes import ClaimGuard, DeleteCandidate, Reap

ROLLBACK: Final = frozenset(
    {
        Reason.FROZEN,
        Reason.ABORTED,
        Reason.FALLBACK_NOT_OK,
        Reason.PLACEHOLDER_MISSING,
        Reason.PLACEHOLDER_NOT_RUNNING,
        Reason.PLACEHOLDER_ON_CANDIDATE,
        Reason.HOST_NOT_READY,
        Reason.HOST_LEAVING,
        Reason.HOST_UNSCHEDULABLE,
        Reason.HOST_OF_ANOTHER_POOL,
    }
)
"""Refusals of the delete guard after which the rotation steps back (row 7b); others stop."""


def is_frozen(pool: Pool, now: datetime) -> bool:
    """Whether a freeze holds; an unreadable one does (seed 002 section 3.1)."""
    if pool.freeze is None:
        return False
    return isinstance(pool.freeze, Malformed) or now < pool.freeze


def is_leaving(host: Node, claim: Claim | None) -> bool:
    """Whether a host is on its way out: deleting, marked by Karpenter, or its NodeClaim is."""
    disrupted = any(taint.key == names.DISRUPTED_TAINT for taint in host.taints)
    return host.deleting or disrupted or (claim is not None and claim.deleting)


def surge_ready(reader: Reader, pool: str, claim: Claim) -> Reason | None:
    """Whether the successor is up: the placeholder runs on a fit host that is not the candidate.

    Always on live objects (seed 002 section 3.3, *surge_ready conditions*, and design/rotation.md).
    """
    pod = reader.placeholder(placeholder.name_of(claim.name))
    if pod is None:
        return Reason.PLACEHOLDER_MISSING
    if pod.deleting or pod.phase != "Running" or not pod.node_name:
        return Reason.PLACEHOLDER_NOT_RUNNING
    if pod.node_name == claim.node_name:
        return Reason.PLACEHOLDER_ON_CANDIDATE
    host = reader.node(pod.node_name)
    if host is None:
        return Reason.HOST_LEAVING
    return _host_fit(reader, pool, claim, host)


def _host_fit(reader: Reader, pool: str, claim: Claim, host: Node) -> Reason | None:
    if host.labels.get(names.NODEPOOL_LABEL) != pool:
        return Reason.HOST_OF_ANOTHER_POOL
    if host.owner_claim == claim.name:
        return Reason.PLACEHOLDER_ON_CANDIDATE
    owner = reader.claim(host.owner_claim) if host.owner_claim else None
    if owner is None or is_leaving(host, owner):
        return Reason.HOST_LEAVING
    if host.unschedulable:
        return Reason.HOST_UNSCHEDULABLE
    return None if host.ready else Reason.HOST_NOT_READY


def fallback_applies(policy: Policy, claim: Claim, now: datetime) -> bool:
    """Whether a surge can't finish before the claim's deadline (seed 002 section 3.6)."""
    due = deadline(claim)
    if not policy.fallback or due is None:
        return False
    return due - now < t_rot(policy, claim.termination_grace_period)


def fallback_ok(
    policy: Policy, pool: Pool, claim: Claim, now: datetime, *, suspended: bool
) -> bool:
    """Whether a surge-less delete may still go ahead at this moment."""
    if suspended or policy.suspend or policy.dry_run or is_frozen(pool, now):
        return False
    if open_occurrence(policy.windows, now) is None or is_excluded(policy, now) is not None:
        return False
    return fallback_applies(policy, claim, now)


def names_claim(pool: Pool, claim: str, uid: str) -> bool:
    """Whether the pool's anchor names this claim, and not a namesake."""
    return pool.anchor == claim and pool.anchor_uid in {None, uid}


def delete_guard(reader: Reader, write: DeleteCandidate) -> tuple[Reason | None, Claim | None]:
    """Whether the candidate may be deleted now; with the claim as read, for its preconditions.

    Refusals that end the pass come first, then those that roll back (ROLLBACK), and last the
    missing mirror, which row 7 mends.
    """
    pool = reader.pool(write.pool)
    refusal = _anchor_refusal(pool, write)
    if refusal is not None or pool is None:
        return refusal, None
    claim = reader.claim(write.claim)
    refusal = _claim_refusal(claim, write.uid)
    if refusal is not None or claim is None:
        return refusal, None
    return _step_back(reader, write, pool, claim), claim


def _anchor_refusal(pool: Pool | None, write: DeleteCandidate) -> Reason | None:
    if pool is None:
        return Reason.POOL_GONE
    if pool.deleting:
        return Reason.POOL_DELETING
    if not names_claim(pool, write.claim, write.uid):
        return Reason.ANCHOR_ELSEWHERE
    return None if pool.mode is write.mode else Reason.MODE_CHANGED


def _claim_refusal(claim: Claim | None, uid: str) -> Reason | None:
    if claim is None or claim.uid != uid:
        return Reason.CLAIM_GONE
    if claim.deleting:
        return Reason.CLAIM_DELETING
    return None if claim.state is ClaimState.DRAINING else Reason.STATE_CHANGED


def _step_back(reader: Reader, write: DeleteCandidate, pool: Pool, claim: Claim) -> Reason | None:
    if is_frozen(pool, write.now):
        return Reason.FROZEN
    if pool.abort == claim.name:
        return Reason.ABORTED
    if write.mode is Mode.FALLBACK:
        ok = fallback_ok(write.policy, pool, claim, write.now, suspended=write.suspended)
        refusal = None if ok else Reason.FALLBACK_NOT_OK
    else:
        refusal = surge_ready(reader, pool.name, claim)
    if refusal is not None:
        return refusal
    return None if pool.mirror else Reason.MIRROR_MISSING


def claim_guard(
    guard: ClaimGuard, name: str, uid: str, pool: Pool | None, claim: Claim | None
) -> Reason | None:
    """Whether a patch of the claim still rests on what is so, judged on live objects."""
    if pool is None:
        return Reason.POOL_GONE
    if names_claim(pool, name, uid) is not guard.anchored:
        return Reason.ANCHOR_ELSEWHERE
    if claim is None or claim.uid != uid:
        return Reason.CLAIM_GONE
    if claim.deleting is not guard.deleting:
        return Reason.CLAIM_DELETING
    if (claim.state, claim.started_at) != (guard.state, guard.started_at):
        return Reason.STATE_CHANGED
    return None


def create_guard(pool: Pool | None, claim: Claim | None, name: str, uid: str) -> Reason | None:
    """Whether a placeholder may be listed that isn't there yet (rows 3, 5b, 5c, 7b)."""
    if pool is None or pool.deleting:
        return Reason.POOL_GONE
    if not names_claim(pool, name, uid):
        return Reason.ANCHOR_ELSEWHERE
    if claim is None or claim.uid != uid:
        return Reason.CLAIM_GONE
    return Reason.CLAIM_DELETING if claim.deleting else None


def is_overdue(policy: Policy, started: datetime | Malformed | None, now: datetime) -> bool:
    """Whether an attempt has waited longer than readyTimeout."""
    return isinstance(started, datetime) and now - started > policy.ready_timeout


def reap_victim(reader: Reader, write: Reap) -> Claim | None:
    """The live NodeClaim that may be reaped with this write, or None: in doubt, don't."""
    pool = reader.pool(write.pool)
    if pool is None or pool.mirror or not names_claim(pool, write.claim, write.uid):
        return None
    if _still_wanted(reader, write):
        return None
    candidate = reader.claim(write.claim)
    if candidate is None or candidate.uid != write.uid or candidate.state is not ClaimState.PENDING:
        return None
    overdue = is_overdue(write.policy, candidate.started_at, write.now)
    if not overdue and pool.abort != candidate.name:
        return None
    victim = _victim(reader, write, candidate)
    if victim is None or victim.pool != write.pool or victim.deleting:
        return None
    return victim if _is_empty(reader, victim, candidate) else None


def _still_wanted(reader: Reader, write: Reap) -> bool:
    """Whether the placeholder is still there: then no answer of ours has withdrawn it.

    A request body says how long to be patient, and could lie; only an answer that Metacontroller
    applied makes the placeholder go.
    """
    pod = reader.placeholder(placeholder.name_of(write.claim))
    return pod is not None and not pod.deleting


def _victim(reader: Reader, write: Reap, candidate: Claim) -> Claim | None:
    started = candidate.started_at
    if not isinstance(started, datetime):
        return None
    if candidate.surge_claim is not None:
        victim = reader.claim(candidate.surge_claim)
    else:
        live = [reader.claim(name) for name in write.unregistered]
        fresh = [c for c in live if c is not None and not c.registered and c.created > started]
        victim = fresh[0] if len(fresh) == 1 else None
    if victim is None or victim.name == candidate.name or victim.created <= started:
        return None
    return victim


def _is_empty(reader: Reader, victim: Claim, candidate: Claim) -> bool:
    if not victim.node_name:
        return True
    pods = reader.pods_on(victim.node_name)
    return all(_goes_with_the_node(pod, candidate) for pod in pods)


def _goes_with_the_node(pod: Pod, candidate: Claim) -> bool:
    finished = pod.phase in {"Succeeded", "Failed"}
    ours = pod.name == placeholder.name_of(candidate.name) and pod.surge_for == candidate.name
    return finished or pod.mirror or pod.controller_kind == "DaemonSet" or ours
