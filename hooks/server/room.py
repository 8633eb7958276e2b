"""Who has to go: when too many peers are waited for, or what is kept for them is too much.

Owns that choice. A busy server never stops to accept connections because of peers that do nothing:
somebody new may be the one who means it. Leaves the closing to :mod:`hooks.server.worker`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from gunicorn.workers.gthread import TConn

FIRST: Final = 512
"""Connections of the first address whose peers are waited for; of all of them if none speaks TLS."""
OTHERS: Final = 64
"""The same of the other addresses together, so that probes and metrics have room of their own."""

LITTLE: Final = 32 * 1024
"""Bytes of a request that gets its turn however much the others hold; a review has a few KiB."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A connection whose peer must do something: ask (again), go on, or take leave.

    ``since`` is when that began (seconds of the monotonic clock), ``held`` how many bytes of an
    unfinished body are kept meanwhile.
    """

    conn: TConn
    since: float
    held: int = 0


def superfluous(waiting: list[Waiting], first: object | None) -> list[TConn]:
    """Those that are too many, the longest waiting first.

    ``first`` is the address that has its own share, None if all share one.
    """
    if len(waiting) <= OTHERS:
        return []
    oldest = sorted(waiting, key=attrgetter("since"))
    ours = [one.conn for one in oldest if first is None or one.conn.server == first]
    others = [one.conn for one in oldest if first is not None and one.conn.server != first]
    return ours[: max(0, len(ours) - FIRST)] + others[: max(0, len(others) - OTHERS)]


def heaviest(waiting: list[Waiting], most: int) -> Iterator[Waiting]:
    """Those that must go for the rest to hold no more than ``most`` bytes, the largest first."""
    total = sum(one.held for one in waiting)
    if total <= most:
        return
    for one in sorted(waiting, key=attrgetter("held"), reverse=True):
        if total <= most:
            return
        total -= one.held
        yield one
