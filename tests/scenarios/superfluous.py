"""The node too many that a rotation may bring on a cluster with others on it.

Owns what counts as that race, and how often it may be lost. Where other Pods have opened Karpenter's
batch, one of its passes may fall between our delete of a claim and that of its placeholder: the Pods
of the leaving node then get one node more (0002, 0006). The same goes for a node that Karpenter expires,
or somebody deletes, while its placeholder waits: that goes a pass later. What comes at another moment is
a fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from hooks.verdict.history import Change
from hooks.verdict.questions import POOL_LABEL, STATE, annotation, is_leaving, label, node_of
from hooks.verdict.rotations import Rotation, rotations

BATCH = 2.0
"""Seconds from the placeholder's going to the last claim of a batch that was opened before, on a quick
machine; on a slow one twice as long as the batch of the rotation's own successor took."""
CEILING = 0.25
"""The part of all rotations that may lose the race: 16 of 177 did (0006)."""


def superfluous(changes: Sequence[Change], pool: str) -> dict[int, str]:
    """Number of a rotation (from 0) to the claim too many that it brought by losing the race."""
    found: dict[int, str] = {}
    for number, rotation in enumerate(rotations(changes, pool)):
        claim = _brought_too_much(changes, rotation, pool)
        if claim is not None:
            found[number] = claim
    return found


def without_claims(changes: Iterable[Change], claims: Iterable[str]) -> list[Change]:
    """The history as if there had never been these claims and their Nodes."""
    everything = list(changes)
    named = set(claims)
    nodes = {
        node_of(one.object) for one in everything if one.kind == "NodeClaim" and one.name in named
    }
    left_out = {"NodeClaim": named, "Node": nodes - {""}}
    return [one for one in everything if one.name not in left_out.get(one.kind, ())]


@dataclass(frozen=True, slots=True)
class Toll:
    """How many rotations deleted their candidate, and how many of them lost the race."""

    rotations: int = 0
    lost: int = 0

    @classmethod
    def of(cls, changes: Sequence[Change], pool: str) -> Self:
        """What a history says of one pool."""
        deleted = [one for one in rotations(changes, pool) if one.deleted is not None]
        return cls(len(deleted), len(superfluous(changes, pool)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.rotations + other.rotations, self.lost + other.lost)

    @property
    def is_fair(self) -> bool:
        """Whether there was something to count, and no more was lost than may be."""
        return self.rotations > 0 and self.lost <= CEILING * self.rotations

    def describe(self) -> str:
        """One line for people."""
        return (
            f"{self.lost} of {self.rotations} rotations brought a node too many because a pass of "
            f"Karpenter fell between two of our writes (at most {CEILING:.0%} may)"
        )


def _brought_too_much(changes: Sequence[Change], rotation: Rotation, pool: str) -> str | None:
    """The first claim after the delete, if the race can be why it came."""
    deleted = rotation.deleted
    if deleted is None or rotation.placeholder is None:
        return None
    if annotation(deleted.object, STATE) == "draining" and rotation.ready is None:
        return None
    placeholder = f"noderotation-surge-{rotation.claim}"
    later = [
        one
        for one in sorted(changes, key=lambda one: one.revision)
        if one.revision > deleted.revision
    ]
    left = next((one for one in later if _leaves(one, placeholder)), None)
    for one in later:
        if (
            one.kind == "NodeClaim"
            and one.type == "ADDED"
            and label(one.object, POOL_LABEL) == pool
        ):
            in_time = left is None or one.at <= left.at + _batch(changes, rotation)
            return one.name if in_time and not _is_over(one, rotation, left) else None
    return None


def _batch(changes: Sequence[Change], rotation: Rotation) -> float:
    """Seconds for which a batch may last: everything that Karpenter does takes longer under load."""
    waits = rotation.placeholder
    came = next((one for one in changes if _comes(one, rotation.successor)), None)
    if waits is None or came is None:
        return BATCH
    return max(BATCH, 2 * (came.at - waits.at))


def _comes(change: Change, claim: str) -> bool:
    return change.kind == "NodeClaim" and change.name == claim and change.type == "ADDED"


def _leaves(change: Change, pod: str) -> bool:
    ours = change.kind == "Pod" and change.name == pod
    return ours and (change.type == "DELETED" or is_leaving(change.object))


def _is_over(change: Change, rotation: Rotation, left: Change | None) -> bool:
    """Whether it came after the end.

    An answer that ends an expiry clears first, and takes the placeholder away after that.
    """
    cleared = rotation.cleared
    if cleared is None or change.revision < cleared.revision:
        return False
    return left is None or left.revision < cleared.revision
