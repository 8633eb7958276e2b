"""Which NodeClaim is rotated next, and how; with a census of all that were passed over.

Source: seed 002 section 3.2 *Selection conditions*, design/rotation.md sections 2 and 5.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hooks import names
from hooks.rotation.decision import SOON, Census
from hooks.rotation.due import due_at, is_due, order_key
from hooks.rotation.durations import shifted
from hooks.rotation.model import Claim, ClaimState, Malformed, Node, Observation, Policy
from hooks.rotation.reader import Reader
from hooks.rotation.schedule import Schedule, backoff

TOO_YOUNG = "tooYoung"
DELETING = "deleting"
NOT_READY = "notReady"
NO_NODE = "noNode"
IN_BACKOFF = "inBackoff"
IN_FLIGHT = "inFlight"
UNREADABLE = "unreadable"
OPTED_OUT = "optedOut"
DISRUPTED = "disrupted"


@dataclass(frozen=True, slots=True)
class Selection:
    """The outcome of a selection; ``opted_out`` are UIDs not to be read again soon.

    Those are of claims whose Nodes an operator has opted out, or of all that one pass could read.
    """

    claim: Claim | None = None
    node: Node | None = None
    census: Census = ()
    eligible: int | None = None
    """How many could be chosen; None when nobody was looked for."""
    opted_out: frozenset[str] = field(default_factory=frozenset)
    edge: datetime | None = None
    """When the next passed-over claim becomes due or leaves its backoff."""
    partial: bool = False
    """Whether more Nodes are due than one pass reads, so that the census isn't whole."""


def backoff_until(policy: Policy, claim: Claim) -> datetime | Malformed | None:
    """When a failed claim may try again; Malformed keeps it shut for good (S: unreadable state)."""
    if isinstance(claim.failed_at, Malformed):
        return claim.failed_at
    if claim.failed_at is None:
        return None
    return shifted(claim.failed_at, backoff(policy, claim.retry_count))


def is_backing_off(policy: Policy, claim: Claim, now: datetime) -> bool:
    """Whether a failed claim still has to wait (retryBackoff doubling, capped 8 times)."""
    until = backoff_until(policy, claim)
    return isinstance(until, Malformed) or (until is not None and now < until)


def is_eligible(obs: Observation, policy: Policy, schedule: Schedule, claim: Claim) -> bool:
    """Whether the claim could be rotated now, by what itself tells and is remembered of its Node."""
    return _passed_over(obs, policy, schedule, claim) is None


def select(obs: Observation, policy: Policy, schedule: Schedule, reader: Reader) -> Selection:
    """The due claim with the earliest deadline whose Node, read live, may be rotated."""
    census: Counter[str] = Counter()
    edges: list[datetime] = []
    due: list[Claim] = []
    for claim in obs.claims:
        why = _passed_over(obs, policy, schedule, claim)
        if why is None:
            due.append(claim)
            continue
        census[why] += 1
        edge = _edge(obs, policy, schedule, claim, why)
        if edge is not None and edge > obs.now:
            edges.append(edge)
    due.sort(key=order_key)
    return _walk(obs, reader, due, census, min(edges, default=None))


def _passed_over(obs: Observation, policy: Policy, schedule: Schedule, claim: Claim) -> str | None:
    why = _unfit(claim)
    if why is not None:
        return why
    if not is_due(policy, obs.pool, claim, schedule, obs.now):
        return TOO_YOUNG
    if claim.state is ClaimState.FAILED and is_backing_off(policy, claim, obs.now):
        return IN_BACKOFF
    return OPTED_OUT if claim.uid in obs.opted_out else None


def _unfit(claim: Claim) -> str | None:
    if claim.deleting or claim.state is ClaimState.EXPIRED:
        return DELETING
    if isinstance(claim.state, Malformed):
        return UNREADABLE
    if claim.state in {ClaimState.PENDING, ClaimState.DRAINING}:
        return IN_FLIGHT
    if not claim.node_name:
        return NO_NODE
    return None if claim.ready else NOT_READY


def _edge(
    obs: Observation, policy: Policy, schedule: Schedule, claim: Claim, why: str
) -> datetime | None:
    if why == TOO_YOUNG:
        return due_at(policy, obs.pool, claim, schedule, obs.now)
    if why == IN_BACKOFF:
        until = backoff_until(policy, claim)
        return until if isinstance(until, datetime) else None
    return None


def _walk(
    obs: Observation,
    reader: Reader,
    due: list[Claim],
    census: Counter[str],
    edge: datetime | None,
) -> Selection:
    opted_out: set[str] = set()
    chosen: tuple[Claim, Node] | None = None
    for claim in due[:MOST_READS]:
        node = reader.node(claim.node_name)
        why = _unfit_node(node)
        if why is None and node is not None:
            chosen = (claim, node)
            break
        census[why or NO_NODE] += 1
        if why == OPTED_OUT:
            opted_out.add(claim.uid)
    partial = chosen is None and len(due) > MOST_READS
    if partial:
        # Whatever is wrong with these, the next pass must get to those behind them.
        opted_out = {claim.uid for claim in due[:MOST_READS]}
        edge = obs.now + SOON
    elif opted_out:
        retry = obs.now + OPT_OUT_MEMORY
        edge = min(edge or retry, retry)
    return Selection(
        claim=chosen[0] if chosen else None,
        node=chosen[1] if chosen else None,
        census=tuple(sorted(census.items())),
        eligible=len(due) - len(opted_out),
        opted_out=frozenset(opted_out),
        edge=edge,
        partial=partial,
    )


OPT_OUT_MEMORY = timedelta(seconds=60)
"""For how long an opt-out is remembered without reading the Node again."""
MOST_READS = 100
"""How many Nodes one pass reads at most; what it learned is remembered, and the next goes on."""


def _unfit_node(node: Node | None) -> str | None:
    if node is None:
        return NO_NODE
    if node.deleting:
        return DELETING
    if node.opted_out:
        return OPTED_OUT
    if any(taint.key == names.DISRUPTED_TAINT for taint in node.taints):
        return DISRUPTED
    return None if node.ready else NOT_READY


def near_deadline_hosts(
    obs: Observation, policy: Policy, schedule: Schedule, candidate: str
) -> tuple[str, ...]:
    """Host names of the other claims that are due: a placeholder had better not land there."""
    due = (
        claim
        for claim in obs.claims
        if claim.name != candidate
        and claim.node_name
        and is_due(policy, obs.pool, claim, schedule, obs.now)
    )
    return tuple(claim.hostname or claim.node_name for claim in sorted(due, key=order_key))
