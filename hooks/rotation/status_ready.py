"""Whether a RotationPolicy is valid and uncontested, and if not, what to change: its Ready condition.

Owns the reasons, their order (Invalid before Conflict) and the messages. No message has anything in
it that changes by the clock alone, but for what begins and ends with an exclusion. Leaves the
figures of a status to :mod:`hooks.rotation.status`. Source: seed 000 section 5.4,
design/observability.md (fatal findings).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from hooks.rotation.due import is_excluded
from hooks.rotation.durations import format_stamp
from hooks.rotation.feasibility import listed
from hooks.rotation.findings import fatal_findings, policy_findings
from hooks.rotation.governance import govern, matches
from hooks.rotation.model import BrokenPolicy, Policy, Pool
from hooks.rotation.schedule import Schedule

HOLDS: Final = "True"
HOLDS_NOT: Final = "False"
LONGEST_MESSAGE: Final = 4096
"""The CRD takes more; nobody reads more."""
_MOST_PROBLEMS: Final = 5


class ReadyReason(StrEnum):
    """Why the condition is as it is."""

    ACCEPTED = "Accepted"
    INVALID = "Invalid"
    CONFLICT = "Conflict"


@dataclass(frozen=True, slots=True)
class Shown:
    """A Ready condition as a status shows it already: ``True``, ``False`` or ``Unknown``."""

    status: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Ready:
    """The Ready condition; ``since`` is when its status last changed."""

    reason: ReadyReason
    message: str
    since: datetime

    @property
    def status(self) -> str:
        """``True`` or ``False``."""
        return HOLDS if self.reason is ReadyReason.ACCEPTED else HOLDS_NOT


@dataclass(frozen=True, slots=True)
class Standing:
    """How a policy stands to the NodePools that it selects; all are in the order of their names."""

    policy: Policy | BrokenPolicy
    governed: tuple[Pool, ...] = ()
    """Those that it wins."""
    contested: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Name of each that nobody wins, and the names of the rivals."""
    outranked: int = 0
    """How many a more specific policy takes."""


def standing(
    policy: Policy | BrokenPolicy,
    policies: tuple[Policy | BrokenPolicy, ...],
    pools: tuple[Pool, ...],
) -> Standing:
    """Hold a policy against all policies (itself among them) for each pool that it selects."""
    if policy.selector is None:
        return Standing(policy)
    governed: list[Pool] = []
    contested: list[tuple[str, tuple[str, ...]]] = []
    outranked = 0
    for pool in sorted(pools, key=lambda pool: pool.name):
        if not matches(policy.selector, pool.labels):
            continue
        winners = govern(policies, pool.labels).names
        if winners == (policy.name,):
            governed.append(pool)
        elif policy.name in winners:
            contested.append((pool.name, tuple(name for name in winners if name != policy.name)))
        else:
            outranked += 1
    return Standing(policy, tuple(governed), tuple(contested), outranked)


def ready(
    standing: Standing, schedules: tuple[Schedule, ...], shown: Shown | None, now: datetime
) -> Ready:
    """Judge a policy; ``schedules`` are those of the governed pools, none for a broken policy.

    The time of the change is that of ``shown`` as long as the status is the same.
    """
    reason, message = _verdict(standing, schedules, now)
    judged = Ready(reason, message[:LONGEST_MESSAGE], now)
    if shown is not None and shown.status == judged.status:
        return replace(judged, since=shown.since)
    return judged


def _verdict(
    standing: Standing, schedules: tuple[Schedule, ...], now: datetime
) -> tuple[ReadyReason, str]:
    policy = standing.policy
    if isinstance(policy, BrokenPolicy):
        problems = tuple(f"{field} {advice}" for field, advice in policy.problems)
        return ReadyReason.INVALID, _joined(problems)
    problems = tuple(_infeasible(policy, standing, schedules, now))
    if problems:
        return ReadyReason.INVALID, _joined(problems)
    if standing.contested:
        return ReadyReason.CONFLICT, _conflict(standing)
    notes = _notes(policy, standing, now)
    return ReadyReason.ACCEPTED, "; ".join(["valid and uncontested", *notes])


def _infeasible(
    policy: Policy, standing: Standing, schedules: tuple[Schedule, ...], now: datetime
) -> Iterator[str]:
    """What keeps all pools, or a pool under the policy, from being rotated at all."""
    of_policy = [found for found in policy_findings(policy, now) if found.severity == "fatal"]
    if of_policy:
        yield from (found.message for found in of_policy)
        return
    for pool, schedule in zip(standing.governed, schedules, strict=True):
        for found in fatal_findings(policy, pool, schedule):
            yield f"NodePool {pool.name}: {found.message}"


def _joined(problems: tuple[str, ...]) -> str:
    more = len(problems) - _MOST_PROBLEMS
    rest = [f"and {more} more"] if more > 0 else []
    return "; ".join([*problems[:_MOST_PROBLEMS], *rest])


def _conflict(standing: Standing) -> str:
    pools = listed(
        [f"{name} (also by {' and '.join(rivals)})" for name, rivals in standing.contested]
    )
    one = len(standing.contested) == 1
    subject = f"NodePool {pools} is" if one else f"NodePools {pools} are"
    return (
        f"{subject} selected with equally many constraints, so {'it is' if one else 'they are'} not"
        " rotated: give spec.nodePoolSelector of one policy one constraint more, or let the"
        " policies select different NodePools"
    )


def _notes(policy: Policy, standing: Standing, now: datetime) -> Iterator[str]:
    """Why nothing happens all the same."""
    if not standing.governed:
        yield (
            "more specific policies govern every NodePool that it selects"
            if standing.outranked
            else "spec.nodePoolSelector selects no NodePool: it is compared with the labels of the"
            " NodePool itself (metadata.labels), not with those of its nodes"
        )
    if policy.suspend:
        yield "suspended (spec.suspend), so nothing starts"
    if policy.dry_run:
        yield "a dry run (spec.dryRun), so nothing starts"
    exclusion = is_excluded(policy, now)
    if exclusion is not None:
        why = f" ({exclusion.reason})" if exclusion.reason else ""
        yield f"nothing starts until {format_stamp(exclusion.end)}, by spec.exclusions{why}"
