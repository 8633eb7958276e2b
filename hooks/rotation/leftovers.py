"""What a dead rotation left on the cluster, and which of it may be removed.

Owns the two questions of the sweeps: is this artifact still some anchor's, and which keys does an
uninstalled software leave behind. Leaves the marks on Nodes to :mod:`hooks.rotation.marks`, and
reading and writing to :mod:`hooks.cluster.sweep`. Source: seed 000 section 5.3 *Startup sweep*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hooks import names
from hooks.rotation.guards import names_claim
from hooks.rotation.model import Claim, ClaimState, Node, Pool
from hooks.rotation.placeholder import label_value

POOL_KEYS: Final = (
    *names.CLEARED_AT_THE_END,
    names.LAST_ROTATION_AT,
    names.LAST_FAILURE_AT,
    names.DUE_BEFORE,
)
"""All that this software writes on NodePools. A freeze is the operator's own word and stays."""

CLAIM_KEYS: Final = (
    names.STATE,
    names.STARTED_AT,
    names.FAILED_AT,
    names.RETRY_COUNT,
    names.SURGE_CLAIM,
    names.DUE,
)
"""All that this software writes on NodeClaims: once it is gone there is no backoff to keep."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a marked Node or placeholder says of the rotation that it belongs to.

    ``claim`` is the full name from the annotation, ``label`` the value of the label (cut and hashed
    when long), ``pool`` the NodePool; each is None where it says nothing.
    """

    claim: str | None
    label: str | None
    pool: str | None


def mark_of(node: Node) -> Mark:
    """Give the mark of a Node."""
    return Mark(node.surge_for, node.surge_for_label, node.labels.get(names.NODEPOOL_LABEL))


def is_stale(mark: Mark, pools: Sequence[Pool]) -> bool:
    """Whether no anchor of ``pools``, which must be read after the artifact, refers to it.

    What names no claim belongs to whatever its pool rotates; what doesn't even name a pool is
    stale only while nothing rotates at all: in doubt it stays.
    """
    anchors = [pool.anchor for pool in pools if pool.anchor is not None]
    if mark.claim is not None:
        return mark.claim not in anchors
    if mark.label is not None:
        return mark.label not in {label_value(anchor) for anchor in anchors}
    if mark.pool is None:
        return not anchors
    return not any(pool.anchor is not None for pool in pools if pool.name == mark.pool)


def is_forgotten(claim: Claim, pools: Sequence[Pool]) -> bool:
    """Whether a claim looks in flight although no anchor names it.

    A failed or expired one keeps its annotations, and one that is being deleted is Karpenter's.
    """
    in_flight = claim.state in {ClaimState.PENDING, ClaimState.DRAINING}
    if not in_flight or claim.deleting:
        return False
    return not any(names_claim(pool, claim.name, claim.uid) for pool in pools)
