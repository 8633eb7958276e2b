"""What the real control plane and the embedded cluster may tell differently, and why.

Owns all of it: facts that may come in any order in every scenario, roles that aren't compared in one
scenario, and the point up to which histories are compared when a race was lost. Everything else has
to be the same. Told in docs/decisions/0006.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from hooks.verdict.history import Change
from hooks.verdict.rotations import rotations
from tests.scenarios.evicted import evicted, never_evicted
from tests.scenarios.superfluous import superfluous, without_claims

INDEPENDENT: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "who deletes a claim doesn't wait for what Karpenter still has to say of it": (
        ("leaving",),
        ("registered", "initialized"),
    ),
    "our marks and Karpenter's go their own ways once a Node's claim or pool is deleted": (
        ("no longer marked", "no longer cordoned", "no longer unschedulable"),
        ("leaving", "disrupted"),
    ),
    "the scheduler may be late to say that there is no room for a Pod": (
        ("unschedulable",),
        ("failed",),
    ),
    "a rotation whose claim has expired is over at once, however far its drain is": (
        ("cleared",),
        ("work sent away", "work gone", "daemon sent away", "daemon gone"),
    ),
}
"""Reason to facts of one object that come from two who don't wait for each other."""
UNTOLD: Mapping[tuple[str, str], str] = {
    ("a-pool-is-deleted", "candidate 1: placeholder"): (
        "a pass that has begun before the pool is deleted may create it once more"
    ),
    ("a-host-leaves", "successor 1: claim"): (
        "it is deleted as soon as a Pod runs on it, initialized or not"
    ),
}
"""(scenario, role) to the reason why it isn't compared."""
_PAIRS = frozenset(
    frozenset(pair) for ones, others in INDEPENDENT.values() for pair in product(ones, others)
)


def in_fixed_order(track: Sequence[str]) -> list[str]:
    """The same facts, those that could as well have come in another order in a fixed one.

    Two tracks have the same fixed order exactly when one becomes the other by exchanging neighbours
    that are independent of each other (the normal form of a trace).
    """
    left, told = list(track), list[str]()
    while left:
        free = [
            fact
            for index, fact in enumerate(left)
            if all(_are_independent(fact, before) for before in left[:index])
        ]
        first = min(free)
        left.remove(first)
        told.append(first)
    return told


def _are_independent(fact: str, other: str) -> bool:
    # A milestone begins with the number of its rotation.
    return frozenset(each.lstrip("0123456789 ") for each in (fact, other)) in _PAIRS


class Comparable(NamedTuple):
    """Two histories as far as they can be compared."""

    real: Sequence[Change]
    embedded: Sequence[Change]


def comparable(
    real: Sequence[Change], embedded: Sequence[Change], pool: str
) -> tuple[Comparable, Comparable | None]:
    """Both histories whole, and (when a race was lost) up to the anchor from which on it shows.

    Claims that came by losing the race (:mod:`tests.scenarios.superfluous`) are left out of the real
    one. On the embedded cluster nothing falls between two writes: its time stands still while a hook
    is called. The next rotation may find the node too many, and need none of its own: when the whole
    histories differ, all before it still has to be the same. So it has before a rotation whose
    placeholder was evicted by mistake (:mod:`tests.scenarios.evicted`), which may come late enough
    for the rotation to have gone on already.
    """
    lost, mistaken = superfluous(real, pool), evicted(real, pool)
    plain = without_claims(never_evicted(real, pool), lost.values())
    whole = Comparable(plain, embedded)
    if not lost and not mistaken:
        return whole, None
    following = min([number + 1 for number in lost] + list(mistaken))
    ends = [_begun(changes, pool, following) for changes in whole]
    if None in ends:
        # None followed on either, or on one only, which is a difference.
        return whole, None
    return whole, Comparable(*map(_until, whole, ends))


def _begun(changes: Sequence[Change], pool: str, number: int) -> int | None:
    """The revision by which a rotation (from 0) began; None when there was none."""
    found = rotations(changes, pool)[number : number + 1]
    return found[0].anchored.revision if found else None


def _until(changes: Sequence[Change], revision: int | None) -> Sequence[Change]:
    return [one for one in changes if revision is None or one.revision < revision]
