"""What must be true of the whole history of a pool, judged from outside.

Each check is a function from the changes to its complaints, each complaint beginning with the
check's name. Nothing here knows how the software works: only what the cluster's objects showed.
Source: issue 3, "Done when"; design/rotation.md section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from tests.e2e.history import Change, Moment, replay
from tests.e2e.questions import (
    ANCHOR,
    World,
    annotation,
    available,
    covers,
    has_cordoned_node,
    is_leaving,
    label,
    marks,
    missing_successor,
    node_of,
    of_pool,
    other_remains,
    placeholders,
)
from tests.e2e.rotations import Rotation, rotations
from tests.e2e.world import POOL_LABEL, is_ready

Complaints: TypeAlias = list[str]
PLACEHOLDER_LEAVES_WITHIN = 5.0
"""Seconds from a candidate's delete to its placeholder's: far below the 15 s a budget blocks."""


def successor_first(changes: Sequence[Change], pool: str) -> Complaints:
    """A candidate is deleted only while its placeholder runs on another, Ready node of the pool."""
    found: Complaints = []
    for moment in _deletes(changes, pool):
        name = moment.change.name
        why = missing_successor(moment.world, pool, name, node_of(moment.change.object))
        if why:
            found.append(f"successor_first: {name} was deleted although {why}")
    return found


def cordoned_first(changes: Sequence[Change], pool: str) -> Complaints:
    """A candidate's Node is cordoned by us before its placeholder exists, and when it is deleted."""
    found: Complaints = []
    nodes = {one.claim: one.node for one in rotations(changes, pool)}
    for moment in replay(changes):
        change = moment.change
        if change.kind == "Pod" and change.type == "ADDED":
            for claim, node in nodes.items():
                ours = change.name == f"noderotation-surge-{claim}"
                if ours and not has_cordoned_node(moment.world, node, claim):
                    found.append(
                        f"cordoned_first: the placeholder of {claim} came before the cordon"
                    )
        elif _is_delete(moment, pool) and not has_cordoned_node(
            moment.world, node_of(change.object), change.name
        ):
            found.append(f"cordoned_first: {change.name} was deleted without a cordon")
    return found


def one_at_a_time(changes: Sequence[Change], pool: str) -> Complaints:
    """Never two candidates at once: neither anchored, nor under way, nor being deleted."""
    found: Complaints = []
    for moment in replay(changes):
        change = moment.change
        if change.kind == "NodePool" and change.name == pool:
            before, after = annotation(moment.before, ANCHOR), annotation(change.object, ANCHOR)
            if before and after and before != after:
                found.append(f"one_at_a_time: the anchor went from {before} straight to {after}")
        if _is_delete(moment, pool):
            leaving = [
                c["metadata"]["name"]
                for c in of_pool(moment.world, "NodeClaim", pool)
                if is_leaving(c)
            ]
            if len(leaving) > 1:
                found.append(
                    f"one_at_a_time: {', '.join(sorted(leaving))} are being deleted at once"
                )
    return found


def one_new_node_each(changes: Sequence[Change], pool: str) -> Complaints:
    """From one anchor to the next, Karpenter makes at most one NodeClaim."""
    found: Complaints = []
    known = rotations(changes, pool)
    bounds = [one.anchored.revision for one in known]
    for index, rotation in enumerate(known):
        end = bounds[index + 1] if index + 1 < len(bounds) else None
        made = [
            one.name
            for one in changes
            if one.kind == "NodeClaim"
            and one.type == "ADDED"
            and label(one.object, POOL_LABEL) == pool
            and bounds[index] < one.revision
            and (end is None or one.revision < end)
        ]
        if len(made) > 1:
            found.append(
                f"one_new_node_each: the rotation of {rotation.claim} brought {', '.join(made)}"
            )
    return found


def placeholder_leaves_with_the_delete(changes: Sequence[Change], pool: str) -> Complaints:
    """A placeholder that outlives the delete makes Karpenter bring one more node."""
    found: Complaints = []
    latest = max((change.at for change in changes), default=0.0)
    for rotation in rotations(changes, pool):
        if rotation.deleted is None:
            continue
        left = _placeholder_left(changes, rotation)
        stayed = (left.at if left else latest) - rotation.deleted.at
        outlived = rotation.gone and (left is None or left.revision > rotation.gone.revision)
        if stayed > PLACEHOLDER_LEAVES_WITHIN or outlived:
            name = f"that of {rotation.claim}"
            found.append(f"placeholder_leaves_with_the_delete: {name} stayed for {stayed:.1f} s")
    return found


def marks_go_with_the_anchor(changes: Sequence[Change], pool: str) -> Complaints:
    """When an anchor is cleared, no mark of its rotation is left on a Node or on the NodePool."""
    found: Complaints = []
    for moment in replay(changes):
        change = moment.change
        if change.kind == "NodePool" and change.name == pool:
            claim = annotation(moment.before, ANCHOR)
            if claim and annotation(change.object, ANCHOR) is None:
                left = marks(moment.world, pool)
                found += [f"marks_go_with_the_anchor: after {claim}: {one}" for one in left]
    return found


def nothing_left(changes: Sequence[Change], pool: str) -> Complaints:
    """At the end there is no mark, no placeholder and no state on any object of the pool."""
    world: World = {}
    for moment in replay(changes):
        world = moment.world
    left = [*marks(world, pool), *other_remains(world, pool)] if world else []
    return [f"nothing_left: at the end: {one}" for one in left]


def all_replaced(changes: Sequence[Change], pool: str) -> Complaints:
    """Each claim of before the first rotation is rotated once and gone, and the pool hasn't grown."""
    known = rotations(changes, pool)
    if not known:
        return ["all_replaced: there was no rotation"]
    originals: set[str] = set()
    now: set[str] = set()
    for moment in replay(changes):
        now = {one["metadata"]["name"] for one in of_pool(moment.world, "NodeClaim", pool)}
        if moment.change.revision < known[0].anchored.revision:
            originals = now
    rotated = sorted(one.claim for one in known if one.gone is not None)
    found: Complaints = []
    if rotated != sorted(originals) or originals & now:
        found.append(f"all_replaced: {sorted(originals)} were there, {rotated} were rotated")
    if len(now) > len(originals):
        found.append(f"all_replaced: the pool grew from {len(originals)} to {len(now)} nodes")
    return found


def budgets_kept(changes: Sequence[Change], pool: str) -> Complaints:
    """No Pod under the pool's budget leaves while fewer than minAvailable would remain available."""
    found: Complaints = []
    for moment in replay(changes):
        change = moment.change
        if change.kind != "Pod" or moment.before is None or not is_ready(moment.before):
            continue
        if change.type != "DELETED" and is_ready(change.object):
            continue
        for budget in moment.world["PodDisruptionBudget"].values():
            wanted = budget["spec"].get("minAvailable", 0)
            covered = budget["metadata"]["name"] == pool and covers(budget, change.object)
            if covered and available(moment.world, budget) < wanted:
                found.append(
                    f"budgets_kept: {change.name} left although {wanted} must be available"
                )
    return found


Check: TypeAlias = Callable[[Sequence[Change], str], Complaints]
ALWAYS: tuple[Check, ...] = (
    successor_first,
    cordoned_first,
    one_at_a_time,
    one_new_node_each,
    placeholder_leaves_with_the_delete,
    marks_go_with_the_anchor,
    budgets_kept,
)
"""What holds at every moment, so also for a history that isn't complete."""
AT_THE_END: tuple[Check, ...] = (all_replaced, nothing_left)
"""What holds once the last rotation is over."""


def complaints(
    changes: Sequence[Change], pool: str, checks: Sequence[Check] = (*ALWAYS, *AT_THE_END)
) -> Complaints:
    """Everything that the checks have to complain about; empty is what every test wants."""
    return [complaint for check in checks for complaint in check(changes, pool)]


def _is_delete(moment: Moment, pool: str) -> bool:
    """Whether this is the moment in which somebody asked for the deletion of one of the claims."""
    change = moment.change
    if change.kind != "NodeClaim" or label(change.object, POOL_LABEL) != pool:
        return False
    return is_leaving(change.object) and not is_leaving(moment.before)


def _deletes(changes: Sequence[Change], pool: str) -> Iterator[Moment]:
    return (moment for moment in replay(changes) if _is_delete(moment, pool))


def _placeholder_left(changes: Sequence[Change], rotation: Rotation) -> Change | None:
    """The first change after which no placeholder of the rotation stood any more, once deleted."""
    for moment in replay(changes):
        change = moment.change
        late = rotation.deleted is not None and change.revision >= rotation.deleted.revision
        if late and all(map(is_leaving, placeholders(moment.world, rotation.claim))):
            return change
    return None
