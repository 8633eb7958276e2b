"""The decision table of an eviction: rows in their order, the first that matches is the answer.

Owns the order, the conditions and the Reason of each row. What else follows from a row (a patch,
an Event, words for people) is in :mod:`hooks.drain.consequences`. Source: seed 004 *The decision
table*, design/drain.md; what they leave open: docs/decisions/0009.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hooks.drain import consequences
from hooks.drain.consequences import Consequences, Verdict
from hooks.drain.facts import Facts
from hooks.drain.model import Case, Kind, Read, Trouble
from hooks.drain.reasons import Answer, Reason
from hooks.drain.tracking import State

__all__ = ["TABLE", "Row", "Verdict", "failed", "judge"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: after which read it can be asked, when it matches, the answer, and what follows."""

    after: Kind | None
    reason: Reason
    answer: Answer
    matches: Callable[[Facts], bool]
    follows: Callable[[Facts], Consequences] = consequences.nothing


_POD, _SET, _DEPLOYMENT = Kind.POD, Kind.REPLICA_SET, Kind.DEPLOYMENT
_ALLOW, _DENY = Answer.ALLOW, Answer.DENY

TABLE: Final[tuple[Row, ...]] = (
    Row(None, Reason.NOT_AN_EVICTION, _ALLOW, lambda f: not f.review.is_eviction),
    Row(None, Reason.DRY_RUN, _ALLOW, lambda f: f.review.dry_run),
    Row(
        _POD,
        Reason.POD_NOT_READ,
        _ALLOW,
        lambda f: f.could_not_be_read_for_long,
        consequences.pod_not_read_for_long,
    ),
    Row(
        _POD,
        Reason.POD_NOT_READ,
        _DENY,
        lambda f: f.cannot_be_read,
        consequences.pod_not_read,
    ),
    Row(_POD, Reason.POD_GONE, _ALLOW, lambda f: f.case.pod is None),
    Row(_POD, Reason.ANOTHER_POD, _ALLOW, lambda f: f.is_another_pod),
    Row(_POD, Reason.POD_TERMINATING, _ALLOW, lambda f: f.pod.terminating),
    Row(_POD, Reason.POD_FINISHED, _ALLOW, lambda f: f.is_finished),
    Row(_POD, Reason.POD_NOT_READY, _ALLOW, lambda f: not f.pod.ready),
    Row(_POD, Reason.NO_DEPLOYMENT, _ALLOW, lambda f: f.has_no_replica_set),
    Row(
        _SET,
        Reason.OWNER_NOT_READ,
        _ALLOW,
        lambda f: isinstance(f.case.replica_set, Trouble),
        consequences.owner_not_read,
    ),
    Row(_SET, Reason.OWNER_GONE, _ALLOW, lambda f: f.replica_set_is_gone),
    Row(_SET, Reason.NO_DEPLOYMENT, _ALLOW, lambda f: f.has_no_deployment),
    Row(
        _DEPLOYMENT,
        Reason.OWNER_NOT_READ,
        _ALLOW,
        lambda f: isinstance(f.case.deployment, Trouble),
        consequences.owner_not_read,
    ),
    Row(_DEPLOYMENT, Reason.OWNER_GONE, _ALLOW, lambda f: f.deployment_is_gone),
    Row(_DEPLOYMENT, Reason.DEPLOYMENT_DELETING, _ALLOW, lambda f: f.deployment.deleting),
    Row(_DEPLOYMENT, Reason.OPTED_OUT, _ALLOW, lambda f: f.is_opted_out),
    Row(_DEPLOYMENT, Reason.NOT_A_SINGLETON, _ALLOW, lambda f: f.deployment.replicas != 1),
    Row(
        _DEPLOYMENT,
        Reason.TRACKING_UNREADABLE,
        _ALLOW,
        lambda f: f.tracking.state is State.UNUSABLE,
    ),
    Row(
        _DEPLOYMENT,
        Reason.ROLLOUT_TIMED_OUT,
        _ALLOW,
        lambda f: f.tracking.state is State.TIMED_OUT,
        consequences.timed_out,
    ),
    Row(
        _DEPLOYMENT,
        Reason.IS_SUCCESSOR,
        _DENY,
        lambda f: (
            f.is_tracked and f.has_two_ready and f.may_be_successor and not f.has_had_its_time
        ),
        consequences.is_successor,
    ),
    Row(_DEPLOYMENT, Reason.SUCCESSOR_READY, _ALLOW, lambda f: f.has_ready_successor),
    Row(
        _DEPLOYMENT,
        Reason.ALREADY_ROLLED,
        _ALLOW,
        lambda f: not f.is_tracked and f.was_rolled_for,
        consequences.already_rolled,
    ),
    Row(
        _DEPLOYMENT,
        Reason.NO_SUCCESSOR_FIRST,
        _ALLOW,
        lambda f: f.has_no_successor_first,
        consequences.no_successor_first,
    ),
    Row(
        _DEPLOYMENT,
        Reason.ROLLOUT_TIMED_OUT,
        _ALLOW,
        lambda f: f.has_had_its_time,
        consequences.has_had_its_time,
    ),
    Row(
        _DEPLOYMENT,
        Reason.ROLLOUT_IN_PROGRESS,
        _DENY,
        lambda f: f.is_tracked,
        consequences.in_progress,
    ),
    Row(
        _DEPLOYMENT,
        Reason.ROLLOUT_ADOPTED,
        _DENY,
        lambda f: f.is_being_replaced,
        consequences.adopted,
    ),
    Row(
        _DEPLOYMENT,
        Reason.ROLLOUT_REQUESTED,
        _DENY,
        lambda _: True,
        consequences.requested,
    ),
)
"""All rows. The last one takes whatever is left: a ready singleton that nobody is replacing."""


def judge(case: Case) -> Verdict | Read:
    """The verdict on an eviction, or the live read that it needs next.

    Pure and total. Call it with the bare review, make the read it asks for, put what came into the
    case, and call it again: three reads at most. A verdict with a ``patch`` is the answer only once
    that has landed. When the patch is lost to a newer resourceVersion, read the Deployment once
    more and judge again; when that is lost too, or fails, the answer is :func:`failed`.
    """
    facts = Facts(case)
    row = next(row for row in TABLE if facts.next_read(row.after) or row.matches(facts))
    read = facts.next_read(row.after)
    if read is not None:
        return read
    return consequences.verdict(facts, row.answer, row.reason, row.follows(facts))


def failed(reason: Reason, what: str) -> Verdict:
    """The answer after a fault of ours (the last group of :class:`Reason`): allowed, and said so."""
    return Verdict(
        Answer.ALLOW, reason, warnings=(f"{consequences.SOFTWARE}: {what}; not protected",)
    )
