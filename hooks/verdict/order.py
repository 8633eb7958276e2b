"""Whether the rotations of a pool came in the right order, and not too soon after each other.

Owns the order of deadlines, and the pause that the policy asks for. Not judged: the pause after a
rotation that failed, and claims of which only the software says that they have to wait (those that
failed before).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from hooks.verdict.case import Case
from hooks.verdict.deadlines import deadline_of
from hooks.verdict.history import Object
from hooks.verdict.questions import (
    STATE,
    World,
    annotation,
    is_forbidden,
    is_leaving,
    is_ready,
    node_of,
    of_pool,
    policies_of,
)
from hooks.verdict.times import SLACK, parse_duration

SETTLED = 120.0
"""Seconds for which a node must have been fit before it counts as passed over: whoever looks at nodes
may remember for a minute that one was not."""


def cooldown_kept(case: Case) -> list[str]:
    """After a claim was replaced, the next rotation begins only after the policy's cooldownAfter.

    Of several policies that select the pool, the shortest pause will do; one that gives none is not
    judged by the defaults of the API.
    """
    found: list[str] = []
    pauses = dict(_pauses(case))
    for earlier, later in pairwise(case.rotations):
        pause = pauses.get(later.anchored.revision)
        if earlier.cleared is None or earlier.gone is None or pause is None:
            continue
        waited = timedelta(seconds=later.anchored.at - earlier.cleared.at)
        if waited < pause - SLACK:
            took = f"{waited.total_seconds():.0f} s after that of {earlier.claim} was over"
            found.append(f"the rotation of {later.claim} began {took}, not {pause}")
    return found


def earliest_first(case: Case) -> list[str]:
    """The claim whose turn comes has the earliest deadline of all that could have been taken.

    Passed over may be who has no Node, isn't Ready, is leaving, is in another rotation's state, or is
    under an operator's do-not-disrupt, now or within the last :data:`SETTLED` seconds.
    """
    found: list[str] = []
    anchors = {one.anchored.revision: one.claim for one in case.rotations}
    fit_since: dict[str, float] = {}
    for moment in case.moments():
        change = moment.change
        if change.kind in {"Node", "NodeClaim"}:
            fit = set(_fit(moment.world, case.pool))
            fit_since = {name: fit_since.get(name, change.at) for name in fit}
        taken = moment.world["NodeClaim"].get(("", anchors.get(change.revision, "")))
        deadline = None if taken is None else deadline_of(taken)
        if deadline is None:
            continue
        for name, since in sorted(fit_since.items()):
            waiting = moment.world["NodeClaim"].get(("", name))
            other = None if waiting is None else deadline_of(waiting)
            if other is not None and other < deadline and change.at - since >= SETTLED:
                first = (
                    f"{other:%a %H:%M:%S}, {anchors[change.revision]} only {deadline:%a %H:%M:%S}"
                )
                found.append(f"{name} was passed over: its deadline was {first}")
    return found


def _pauses(case: Case) -> Iterator[tuple[int, timedelta]]:
    """What the policies asked for at each anchor, by its revision."""
    anchored = {one.anchored.revision for one in case.rotations}
    for moment in case.moments():
        if moment.change.revision not in anchored:
            continue
        policies = policies_of(moment.world, moment.change.object)
        asked = [policy["spec"].get("surge", {}).get("cooldownAfter") for policy in policies]
        pauses = [parse_duration(text) for text in asked if text is not None]
        known = [pause for pause in pauses if pause is not None]
        if known and len(known) == len(policies):
            yield moment.change.revision, min(known)


def _fit(world: World, pool: str) -> Iterator[str]:
    """The claims that could be taken next."""
    for claim in of_pool(world, "NodeClaim", pool):
        node = world["Node"].get(("", node_of(claim)))
        if node is not None and not is_leaving(claim) and _may_go(claim, node):
            name: str = claim["metadata"]["name"]
            yield name


def _may_go(claim: Object, node: Object) -> bool:
    conditions = claim.get("status", {}).get("conditions", ())
    unready = any(one["type"] == "Ready" and one["status"] != "True" for one in conditions)
    taints = node.get("spec", {}).get("taints", ())
    disrupted = any(taint["key"] == "karpenter.sh/disrupted" for taint in taints)
    kept = unready or disrupted or is_forbidden(node) or annotation(claim, STATE) is not None
    return is_ready(node) and not kept
