"""State that is there and can't be read: it holds, and says so once.

What each unreadable value makes a pass do is with the reader of that value; here they are only
collected. Source: design/rotation.md section 5 *Unreadable state*.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hooks import names
from hooks.rotation.decision import Report, Value
from hooks.rotation.model import Claim, Malformed, Observation, Pool
from hooks.rotation.reasons import Reason

LONGEST_QUOTE: Final = 64
"""How much of an unreadable value is quoted."""


def unreadable(obs: Observation) -> tuple[Report, ...]:
    """One line for each unreadable annotation of the pool and of its claims."""
    found = [_line(f"NodePool {obs.pool.name}", key, text) for key, text in _of_pool(obs.pool)]
    for claim in obs.claims:
        found += [
            _line(f"NodeClaim {claim.name}", key, text, ("nodeclaim", claim.name))
            for key, text in _of(claim)
        ]
    return tuple(found)


def _line(of: str, key: str, text: str, *also: tuple[str, Value]) -> Report:
    fields = (
        *also,
        ("reason", Reason.MALFORMED_STATE.value),
        ("annotation", key),
        ("value", text[:LONGEST_QUOTE]),
    )
    about = f"{key} of {of}"
    return Report("malformed state", fields, on_change=True, about=about, warning=True)


def _of_pool(pool: Pool) -> Iterator[tuple[str, str]]:
    stamps = (
        (names.FREEZE, pool.freeze),
        (names.LAST_ROTATION_AT, pool.last_rotation_at),
        (names.LAST_FAILURE_AT, pool.last_failure_at),
        (names.DRAINING_AT, pool.draining_at),
        (names.DUE_BEFORE, pool.due_before),
    )
    for key, value in stamps:
        if isinstance(value, Malformed):
            yield key, value.text


def _of(claim: Claim) -> Iterator[tuple[str, str]]:
    values = (
        (names.STATE, claim.state),
        (names.STARTED_AT, claim.started_at),
        (names.FAILED_AT, claim.failed_at),
        (names.RETRY_COUNT, claim.retry_count),
    )
    for key, value in values:
        if isinstance(value, Malformed):
            yield key, value.text
