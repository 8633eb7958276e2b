"""State that is there and can't be read: it holds, and says so once.

What each unreadable value makes a pass do is with the reader of that value; here they are only
collected. Source: design/rotation.md section 5 *Unreadable state*.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hooks import names
from hooks.rotation.announcements import about_claim, about_pool
from hooks.rotation.decision import Report, Value
from hooks.rotation.model import Claim, Malformed, Observation, Pool
from hooks.rotation.outcomes import event_name
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import Announce

LONGEST_QUOTE: Final = 64
"""How much of an unreadable value is quoted."""


def unreadable(obs: Observation) -> tuple[tuple[Report, ...], tuple[Announce, ...]]:
    """One line and one Event for each unreadable annotation of the pool and of its claims."""
    lines: list[Report] = []
    events: list[Announce] = []
    pool, now = obs.pool, obs.now
    for key, text in _of_pool(pool):
        lines.append(_line(f"NodePool {pool.name}", key, text))
        events.append(about_pool(pool, _name(pool, pool.uid, key, text), *_told(key, text), now))
    for claim in obs.claims:
        for key, text in _of(claim):
            lines.append(_line(f"NodeClaim {claim.name}", key, text, ("nodeclaim", claim.name)))
            name = _name(pool, claim.uid, key, text)
            events.append(about_claim(claim, name, *_told(key, text), now))
    return tuple(lines), tuple(events)


def _name(pool: Pool, uid: str, key: str, text: str) -> str:
    # What can't be read tells no time; another unreadable value is another transition.
    return event_name(pool.uid, uid, Reason.MALFORMED_STATE, key, text)


def _told(key: str, text: str) -> tuple[str, str]:
    quoted = repr(text[:LONGEST_QUOTE])
    return Reason.MALFORMED_STATE, f"annotation {key} is unreadable: {quoted}; mend or remove it"


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
