"""Whether each node was replaced before Karpenter would have expired it.

Owns the deadline: a NodeClaim's creationTimestamp plus its own spec.expireAfter. A claim that goes
without an anchor that names it was taken by Karpenter, whatever the hour.
"""

from __future__ import annotations

from datetime import datetime

from hooks.verdict.case import Case
from hooks.verdict.history import Moment, Object
from hooks.verdict.questions import ANCHOR, POOL_LABEL, SURGE_CLAIM, annotation, label, node_of
from hooks.verdict.times import SLACK, parse_duration, parse_time


def deadline_of(claim: Object) -> datetime | None:
    """When Karpenter expires it; None for never."""
    created = claim["metadata"].get("creationTimestamp")
    lifetime = parse_duration(claim.get("spec", {}).get("expireAfter", "Never"))
    return None if created is None or lifetime is None else parse_time(created) + lifetime


def before_the_deadline(case: Case) -> list[str]:
    """Each claim goes because its turn has come, and is gone before its deadline."""
    found = [
        f"{moment.change.name} went without an anchor that names it{_expired(case, moment)}"
        for moment in case.deletes()
        if not _is_ours(case, moment)
    ]
    clock = case.clock
    if clock is None:
        return found
    left: dict[str, datetime] = {}
    latest = clock.origin
    for moment in case.moments():
        change = moment.change
        latest = max(latest, clock.of(change))
        if change.kind != "NodeClaim" or label(change.object, POOL_LABEL) != case.pool:
            continue
        deadline = deadline_of(change.object)
        if deadline is not None:
            left[change.name] = deadline
        if change.type == "DELETED":
            left.pop(change.name, None)
            if deadline is not None and clock.of(change) > deadline + SLACK:
                late = f"at {_at(clock.of(change))}, its deadline was {_at(deadline)}"
                found.append(f"{change.name} was gone only {late}")
    found += [
        f"{name} was still there at {_at(latest)}, its deadline was {_at(deadline)}"
        for name, deadline in left.items()
        if latest > deadline + SLACK
    ]
    return found


def _is_ours(case: Case, moment: Moment) -> bool:
    """Whether its turn had come, it came in vain for one whose turn had come, or it had no node."""
    claim = moment.change.object
    pool = moment.world["NodePool"].get(("", case.pool))
    anchor = annotation(pool, ANCHOR)
    if anchor == moment.change.name or not node_of(claim):
        return True
    anchored = moment.world["NodeClaim"].get(("", anchor or ""))
    return annotation(anchored, SURGE_CLAIM) == moment.change.name


def _expired(case: Case, moment: Moment) -> str:
    deadline = deadline_of(moment.change.object)
    if case.clock is None or deadline is None:
        return ""
    if case.clock.of(moment.change) < deadline - SLACK:
        return ""
    return f": it had expired at {_at(deadline)}"


def _at(moment: datetime) -> str:
    return f"{moment:%a %Y-%m-%d %H:%M:%S}"
