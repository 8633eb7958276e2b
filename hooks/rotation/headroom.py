"""Whether a NodePool's limits leave room for one more node.

Source: seed 000 section 5.2 ``surge_headroom``, design/rotation.md section 5 *Headroom*.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hooks.rotation.model import Pool, Resources

_NODES: Final = "nodes"


def headroom(pool: Pool, requests: Resources) -> tuple[str, ...]:
    """Name the limited resources that have no room for ``requests``, sorted; empty means it fits.

    ``requests`` are those of the clamped placeholder. What the pool doesn't report as used counts
    as zero. A limit on ``nodes`` needs room for one.
    """
    added = {**requests, _NODES: Fraction(1)}
    return tuple(
        name
        for name in sorted(pool.limits)
        if pool.used.get(name, Fraction(0)) + added.get(name, Fraction(0)) > pool.limits[name]
    )
