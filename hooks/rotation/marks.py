"""Our marks on Nodes: what freezing and unfreezing changes, and what is never touched.

An operator's own do-not-disrupt or cordon is neither adopted nor undone; each of ours carries a
marker beside it. Source: seed 002 section 3.4, seed 000 section 5.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hooks import names
from hooks.rotation.model import Node
from hooks.rotation.placeholder import label_value


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Differences to apply to one Node: keys to set, or to remove where the value is None."""

    annotations: Mapping[str, str | None] = field(default_factory=dict)
    labels: Mapping[str, str | None] = field(default_factory=dict)
    unschedulable: bool | None = None


def marked_for(node: Node, claim: str) -> bool:
    """Whether the Node carries our marks for this claim (by annotation, else by label)."""
    if node.surge_for is not None:
        return node.surge_for == claim
    return node.surge_for_label == label_value(claim)


def freezing(node: Node, claim: str, *, cordon: bool) -> NodeChange | None:
    """What freezing the Node for ``claim`` would change; None when nothing is left to do.

    A do-not-disrupt of "true" without our marker is the operator's: it stays unowned. Any other
    value is no protection and is overwritten and owned. A Node that is unschedulable without our
    marker was cordoned by the operator: not adopted.
    """
    annotations: dict[str, str | None] = {}
    labels: dict[str, str | None] = {}
    if node.surge_for != claim:
        annotations[names.SURGE_FOR] = claim
    if node.surge_for_label != label_value(claim):
        labels[names.SURGE_FOR] = label_value(claim)
    if node.do_not_disrupt != names.TRUE:
        annotations[names.DO_NOT_DISRUPT] = names.TRUE
        if not node.do_not_disrupt_owned:
            annotations[names.DO_NOT_DISRUPT_OWNED] = names.TRUE
    flip = cordon and not node.unschedulable
    if flip and not node.cordoned_by_us:
        annotations[names.CORDONED] = names.TRUE
    if not annotations and not labels and not flip:
        return None
    return NodeChange(annotations, labels, unschedulable=True if flip else None)


def unfreezing(node: Node) -> NodeChange | None:
    """What removing all our marks from the Node would change; None when it carries none.

    A do-not-disrupt that somebody has changed since to another value than ours is left to them.
    """
    if not node.marked:
        return None
    annotations: dict[str, str | None] = {}
    if node.surge_for is not None:
        annotations[names.SURGE_FOR] = None
    if node.do_not_disrupt_owned:
        annotations[names.DO_NOT_DISRUPT_OWNED] = None
        if node.do_not_disrupt == names.TRUE:
            annotations[names.DO_NOT_DISRUPT] = None
    if node.cordoned_by_us:
        annotations[names.CORDONED] = None
    labels: dict[str, str | None] = {}
    if node.surge_for_label is not None:
        labels[names.SURGE_FOR] = None
    uncordon = node.cordoned_by_us and node.unschedulable
    return NodeChange(annotations, labels, unschedulable=False if uncordon else None)
