"""What must be true of each rotation in the history of a pool, judged from outside.

Owns the course of a rotation and the end of all. Leaves budgets, deadlines, windows and operators'
marks to their own modules, and the list of all checks to :mod:`.checks`. Nothing here knows how
the software works: only what the cluster's objects showed.
Source: issue 3, "Done when"; design/rotation.md section 6.
"""

from __future__ import annotations

from hooks.verdict.case import CORDON, Case, OperatorMark
from hooks.verdict.history import Change
from hooks.verdict.questions import (
    ANCHOR,
    POOL_LABEL,
    World,
    annotation,
    is_cordoned_for,
    is_leaving,
    label,
    marks,
    missing_successor,
    node_of,
    of_pool,
    other_remains,
    placeholders,
)
from hooks.verdict.rotations import Rotation

PLACEHOLDER_LEAVES_WITHIN = 5.0
"""Seconds from a candidate's delete to its placeholder's: far below the 15 s a budget blocks."""


def successor_first(case: Case) -> list[str]:
    """A candidate is deleted only while its placeholder runs on another, Ready node of the pool."""
    found: list[str] = []
    for moment in case.deletes():
        name = moment.change.name
        why = missing_successor(moment.world, case.pool, name, node_of(moment.change.object))
        if why:
            found.append(f"{name} was deleted although {why}")
    return found


def cordoned_first(case: Case) -> list[str]:
    """A candidate's Node is cordoned by us before its placeholder exists, and when it is deleted.

    One that an operator has cordoned needs no cordon of ours.
    """
    found: list[str] = []
    nodes = {one.claim: one.node for one in case.rotations}
    for moment in case.moments():
        change = moment.change
        if change.kind == "Pod" and change.type == "ADDED":
            claim = change.name.removeprefix("noderotation-surge-")
            ours = claim in nodes and claim != change.name
            if ours and not _is_cordoned(case, moment.world, nodes[claim], claim, change.revision):
                found.append(f"the placeholder of {claim} came before the cordon")
        elif case.is_delete(moment):
            node = node_of(change.object)
            if not _is_cordoned(case, moment.world, node, change.name, change.revision):
                found.append(f"{change.name} was deleted without a cordon")
    return found


def one_at_a_time(case: Case) -> list[str]:
    """Never two candidates at once: neither anchored, nor under way, nor being deleted."""
    found: list[str] = []
    for moment in case.moments():
        change = moment.change
        if change.kind == "NodePool" and change.name == case.pool:
            before, after = annotation(moment.before, ANCHOR), annotation(change.object, ANCHOR)
            if before and after and before != after:
                found.append(f"the anchor went from {before} straight to {after}")
        if case.is_delete(moment):
            claims = of_pool(moment.world, "NodeClaim", case.pool)
            leaving = sorted(c["metadata"]["name"] for c in claims if is_leaving(c))
            if len(leaving) > 1:
                found.append(f"{', '.join(leaving)} are being deleted at once")
    return found


def one_new_node_each(case: Case) -> list[str]:
    """From one anchor to the next, Karpenter makes at most one NodeClaim."""
    found: list[str] = []
    bounds = [one.anchored.revision for one in case.rotations]
    for index, rotation in enumerate(case.rotations):
        end = bounds[index + 1] if index + 1 < len(bounds) else None
        made = [
            one.name
            for one in case.changes
            if one.kind == "NodeClaim"
            and one.type == "ADDED"
            and label(one.object, POOL_LABEL) == case.pool
            and bounds[index] < one.revision
            and (end is None or one.revision < end)
        ]
        if len(made) > 1:
            found.append(f"the rotation of {rotation.claim} brought {', '.join(made)}")
    return found


def placeholder_leaves_with_the_delete(case: Case) -> list[str]:
    """A placeholder that outlives the delete makes Karpenter bring one more node."""
    found: list[str] = []
    latest = max((change.at for change in case.changes), default=0.0)
    for rotation in case.rotations:
        if rotation.deleted is None:
            continue
        left = _placeholder_left(case, rotation)
        stayed = (left.at if left else latest) - rotation.deleted.at
        outlived = rotation.gone and (left is None or left.revision > rotation.gone.revision)
        if stayed > PLACEHOLDER_LEAVES_WITHIN or outlived:
            found.append(f"that of {rotation.claim} stayed for {stayed:.1f} s")
    return found


def marks_go_with_the_anchor(case: Case) -> list[str]:
    """When an anchor is cleared, no mark of its rotation is left on a Node or on the NodePool."""
    found: list[str] = []
    for moment in case.moments():
        change = moment.change
        if change.kind == "NodePool" and change.name == case.pool:
            claim = annotation(moment.before, ANCHOR)
            if claim and annotation(change.object, ANCHOR) is None:
                left = marks(moment.world, case.pool, case.set_by_operators(change.revision))
                found += [f"after {claim}: {one}" for one in left]
    return found


def nothing_left(case: Case) -> list[str]:
    """At the end there is no mark, no placeholder and no state on any object of the pool."""
    world: World = {}
    last = 0
    for moment in case.moments():
        world, last = moment.world, moment.change.revision
    if not world:
        return []
    left = marks(world, case.pool, case.set_by_operators(last))
    return [f"at the end: {one}" for one in left + other_remains(world, case.pool)]


def all_replaced(case: Case) -> list[str]:
    """Each claim of before the first rotation is rotated once and gone, and the pool hasn't grown."""
    if not case.rotations:
        return ["there was no rotation"]
    originals: set[str] = set()
    now: set[str] = set()
    for moment in case.moments():
        if moment.change.kind == "NodeClaim":
            claims = of_pool(moment.world, "NodeClaim", case.pool)
            now = {one["metadata"]["name"] for one in claims}
        if moment.change.revision < case.rotations[0].anchored.revision:
            originals = now
    rotated = [one.claim for one in case.rotations if one.gone is not None]
    wrong = {
        "never rotated": originals - set(rotated),
        "rotated more than once": {claim for claim in rotated if rotated.count(claim) > 1},
        "rotated although it was new": set(rotated) - originals,
        "still there": originals & now,
    }
    found = [f"{', '.join(sorted(those))}: {what}" for what, those in wrong.items() if those]
    if len(now) > len(originals):
        found.append(f"the pool grew from {len(originals)} to {len(now)} nodes")
    return found


def _is_cordoned(case: Case, world: World, node: str, claim: str, revision: int) -> bool:
    """Whether the candidate's Node is there and cordoned for it."""
    found = world["Node"].get(("", node))
    cordon = str(OperatorMark(node, CORDON, revision))
    by_operator = cordon in case.set_by_operators(revision)
    return found is not None and is_cordoned_for(found, claim, by_operator=by_operator)


def _placeholder_left(case: Case, rotation: Rotation) -> Change | None:
    """The first change after which no placeholder of the rotation stood any more, once deleted."""
    for moment in case.moments():
        change = moment.change
        late = rotation.deleted is not None and change.revision >= rotation.deleted.revision
        if late and all(map(is_leaving, placeholders(moment.world, rotation.claim))):
            return change
    return None
