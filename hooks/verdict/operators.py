"""Whether what operators set on Nodes was left alone, and what they forbade was not done.

Owns the promise that an operator's cordon or do-not-disrupt is neither taken away nor taken over, and
that a Node which an operator forbids to disrupt isn't rotated. Which marks are an operator's comes with
the case. Source: design/rotation.md section 6, S3.
"""

from __future__ import annotations

from hooks.verdict.case import CORDON, Case, OperatorMark
from hooks.verdict.history import Object
from hooks.verdict.questions import (
    ANCHOR,
    CORDONED,
    DO_NOT_DISRUPT,
    DO_NOT_DISRUPT_OWNED,
    STATE,
    annotation,
    is_forbidden,
    node_of,
)


def operators_marks_kept(case: Case) -> list[str]:
    """As long as the operator wants it and the Node is there, the mark stands and is nobody else's."""
    found: list[str] = []
    unseen = {mark.since: mark for mark in case.operator}
    for moment in case.moments():
        change = moment.change
        if change.kind != "Node" or change.type == "DELETED":
            continue
        unseen.pop(change.revision, None)
        found += [
            f"the operator's {mark} was {wrong} at revision {change.revision}"
            for mark in case.operator
            if mark.node == change.name
            and mark.stands_at(change.revision)
            and (wrong := _wrong(mark, change.object)) is not None
        ]
    return found + [f"the operator's {mark} never was there" for mark in unseen.values()]


def forbidden_stay(case: Case) -> list[str]:
    """No claim is deleted in its rotation while an operator's do-not-disrupt stands on its Node.

    Ours is told from an operator's by the marker beside it. A claim that goes without an anchor and
    without the state of a drain was not deleted by us: :mod:`.deadlines` has a word for that.
    """
    found: list[str] = []
    for moment in case.deletes():
        claim, name = moment.change.object, moment.change.name
        anchor = annotation(moment.world["NodePool"].get(("", case.pool)), ANCHOR)
        node = moment.world["Node"].get(("", node_of(claim)))
        in_rotation = anchor == name or annotation(claim, STATE) == "draining"
        if in_rotation and node is not None and is_forbidden(node):
            found.append(f"{name} was deleted although an operator forbids to disrupt its Node")
    return found


def _wrong(mark: OperatorMark, node: Object) -> str | None:
    if mark.what == CORDON:
        stands, owned = bool(node.get("spec", {}).get("unschedulable")), CORDONED
    else:
        stands, owned = annotation(node, DO_NOT_DISRUPT) is not None, DO_NOT_DISRUPT_OWNED
    if not stands:
        return "taken away"
    return "taken over" if annotation(node, owned) is not None else None
