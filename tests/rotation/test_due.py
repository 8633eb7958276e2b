"""When claims are due and in which order; and when time alone opens or shuts the gates."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.rotation.chances import chances_between
from hooks.rotation.due import due_at, is_due, is_excluded, next_gate_edge, order_key
from hooks.rotation.model import Claim, Exclusion, Malformed, Policy, Pool, Selector, Span, Window
from hooks.rotation.schedule import derive, t_rot

TICK = timedelta(microseconds=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def span(days: float = 0, **parts: float) -> timedelta:
    return timedelta(days=days, **parts)


def exclude(*spans: tuple[str, str]) -> tuple[Exclusion, ...]:
    return tuple(Exclusion(utc(start), utc(end)) for start, end in spans)


BORN = utc("2026-11-29T00:00")
POOL = Pool("api", expire_after=span(14), termination_grace_period=span(hours=1))
SEED = Policy("api", Selector(), (Window("Asia/Tokyo", frozenset({2, 5}), 120, 360),))
SATURDAYS = Policy("p", Selector(), (Window("UTC", frozenset({5}), 120, 360),))
"""02:00-06:00 on 5, 12, 19 and 26 December 2026, among others."""
ALWAYS = replace(SEED, windows=(Window("UTC", frozenset(range(7)), 0, 1440),))


def claim(
    name: str = "c",
    expire_after: Span = POOL.expire_after,
    grace: Span = POOL.termination_grace_period,
    created: datetime = BORN,
    *,
    requested: bool = False,
) -> Claim:
    return Claim(
        name,
        name,
        created,
        expire_after=expire_after,
        termination_grace_period=grace,
        due_requested=requested,
    )


def due(policy: Policy, subject: Claim, now: datetime, pool: Pool = POOL) -> bool:
    return is_due(policy, pool, subject, derive(policy, pool, now), now)


def since(policy: Policy, subject: Claim, now: datetime, pool: Pool = POOL) -> datetime | None:
    return due_at(policy, pool, subject, derive(policy, pool, now), now)


EXPLICIT = replace(SEED, age_threshold=span(3))


@pytest.mark.parametrize(
    ("policy", "subject", "last_young"),
    [
        pytest.param(SEED, claim(), BORN + span(5, hours=22, minutes=43), id="the seed's A"),
        pytest.param(
            SEED,
            claim(expire_after=span(30)),
            BORN + span(21, hours=22, minutes=43),
            id="its own E",
        ),
        pytest.param(
            SEED, claim(grace=span(1)), BORN + span(4, hours=23, minutes=43), id="its tGP"
        ),
        pytest.param(
            SEED, claim(grace=None), BORN + span(5, hours=22, minutes=43), id="no tGP: 1h"
        ),
        pytest.param(EXPLICIT, claim(), BORN + span(3), id="explicit age"),
        pytest.param(EXPLICIT, claim(expire_after=None), BORN + span(3), id="explicit age, Never"),
        pytest.param(
            EXPLICIT, claim(expire_after=Malformed("x")), BORN + span(3), id="explicit, unreadable"
        ),
        pytest.param(
            SEED, claim(expire_after=span(2)), BORN - span(6, hours=1, minutes=17), id="from birth"
        ),
        pytest.param(
            ALWAYS, claim(), BORN + span(14) - span(hours=1, minutes=19), id="never closed: P is 1m"
        ),
    ],
)
def test_due_strictly_after_the_lead_time_begins(
    policy: Policy, subject: Claim, last_young: datetime
) -> None:
    assert not due(policy, subject, last_young)
    assert due(policy, subject, last_young + TICK)
    assert since(policy, subject, BORN) == last_young


@pytest.mark.parametrize("expire_after", [None, Malformed("14d")])
def test_without_a_deadline_nothing_is_ever_due_by_itself(expire_after: Span) -> None:
    subject = claim(expire_after=expire_after)
    assert not due(SEED, subject, BORN + span(10_000))
    assert since(SEED, subject, BORN) is None


@pytest.mark.parametrize(
    ("pool", "subject", "expected"),
    [
        (POOL, claim(expire_after=None, requested=True), True),
        (replace(POOL, due_before=BORN + TICK), claim(expire_after=None), True),
        (replace(POOL, due_before=BORN), claim(), False),
        (replace(POOL, due_before=Malformed("now")), claim(), False),
    ],
)
def test_requests(pool: Pool, subject: Claim, *, expected: bool) -> None:
    assert due(SEED, subject, BORN, pool) == expected
    if expected:
        assert since(SEED, subject, BORN, pool) == BORN


MONTH = claim(expire_after=span(30))
"""Deadline 29 December 00:00; its last start is 28 December 22:43. Ordinarily due on 14 December."""


@pytest.mark.parametrize(
    ("exclusions", "from_then"),
    [
        pytest.param(
            exclude(("2026-12-26T00:00", "2026-12-27T00:00")),
            "2026-12-05T06:00",
            id="12 and 19 are left once 5 is over",
        ),
        pytest.param(
            exclude(("2026-12-18T00:00", "2026-12-28T00:00")),
            "2026-11-29T00:00",
            id="5 and 12 are all there is",
        ),
        pytest.param(
            exclude(("2026-12-28T00:00", "2027-01-09T00:00")),
            "2026-12-12T06:00",
            id="19 and 26 are left once 12 is over",
        ),
        pytest.param(
            exclude(("2026-12-29T00:00", "2027-01-09T00:00")),
            "2026-12-14T22:43:00.000001",
            id="it begins with the deadline: not between",
        ),
        pytest.param(
            exclude(("2026-12-01T00:00", "2026-12-05T02:00")),
            "2026-12-14T22:43:00.000001",
            id="it is over before few chances are left",
        ),
        pytest.param(
            exclude(("2026-11-01T00:00", "2026-11-29T00:00")),
            "2026-12-14T22:43:00.000001",
            id="it is over already",
        ),
        pytest.param(
            exclude(("2026-12-01T00:00", "2026-12-02T00:00"), ("2026-12-19T00:00", "2026-12-20")),
            "2026-12-05T06:00",
            id="of two the later one matters",
        ),
    ],
)
def test_exclusions_ahead(exclusions: tuple[Exclusion, ...], from_then: str) -> None:
    policy, at = replace(SATURDAYS, exclusions=exclusions), utc(from_then)
    assert due(policy, MONTH, at)
    if at > BORN:
        assert not due(policy, MONTH, at - TICK)
    ordinarily = utc("2026-12-14T22:43")
    assert since(policy, MONTH, BORN) == min(at, ordinarily)


def test_an_exclusion_that_is_over_no_longer_makes_due() -> None:
    policy = replace(SATURDAYS, exclusions=exclude(("2026-12-04T00:00", "2026-12-05T06:30")))
    short = claim(expire_after=span(22))  # last start 20 December 22:43, ordinarily due on the 6th
    assert due(policy, short, utc("2026-12-05T06:29"))
    assert not due(policy, short, utc("2026-12-05T06:30"))


def test_exclusions_and_a_union_that_never_closes() -> None:
    policy = replace(ALWAYS, exclusions=exclude(("2026-12-02T00:00", "2026-12-03T00:00")))
    subject = claim(expire_after=span(2), created=utc("2026-12-01T00:00"))
    # Three times t_rot, 3h51m, before the exclusion; with less open time two chances are left.
    edge = utc("2026-12-01T20:09")
    assert not due(policy, subject, edge)
    assert due(policy, subject, edge + TICK)
    assert since(policy, subject, subject.created) == edge + TICK


def test_exclusions_change_nothing_without_a_deadline() -> None:
    policy = replace(SATURDAYS, exclusions=exclude(("2026-12-01T00:00", "2027-01-01T00:00")))
    assert not due(policy, claim(expire_after=None), BORN)
    explicit = replace(policy, age_threshold=span(3))
    assert since(explicit, claim(expire_after=None), BORN) == BORN + span(3)


def test_exclusions_hold_for_an_explicit_age_too() -> None:
    policy = replace(
        SATURDAYS,
        age_threshold=span(20),
        exclusions=exclude(("2026-12-26T00:00", "2026-12-27T00:00")),
    )
    assert since(policy, MONTH, BORN) == utc("2026-12-05T06:00")


@pytest.mark.parametrize("policy", [SATURDAYS, ALWAYS])
def test_deadlines_far_beyond_an_exclusion_are_left_alone(policy: Policy) -> None:
    holiday = replace(policy, exclusions=exclude(("2026-12-01T00:00", "2026-12-20T00:00")))
    for lifetime in (span(400), span(10**7)):
        assert not due(holiday, claim(expire_after=lifetime), BORN)


def test_an_exclusion_of_centuries_brings_nothing_down() -> None:
    policy = replace(SATURDAYS, exclusions=exclude(("2026-12-01T00:00", "9999-01-01T00:00")))
    assert due(policy, MONTH, BORN)
    assert not due(policy, claim(expire_after=span(20_000)), BORN)


@settings(max_examples=60)
@given(
    st.sets(st.integers(0, 35), max_size=8),
    st.integers(1, 3),
    st.integers(0, 40 * 24),
    st.integers(20, 40),
)
def test_the_rule_of_exclusions_word_by_word(
    days: set[int], chances: int, hours: int, lifetime: int
) -> None:
    """Excluded days, some K, some time and some E: compared with the rule as it is written."""
    policy = replace(
        SATURDAYS,
        windows=(Window("UTC", frozenset({2, 5}), 120, 360),),
        chances=chances,
        exclusions=tuple(Exclusion(BORN + span(day), BORN + span(day + 1)) for day in sorted(days)),
    )
    subject, now = claim(expire_after=span(lifetime)), BORN + span(hours=hours)
    end = BORN + span(lifetime)
    bound = t_rot(policy, subject.termination_grace_period)
    ordinary = now > end - (chances * span(4) + bound)
    ahead = any(entry.end > now and entry.start < end for entry in policy.exclusions)
    left = chances_between(policy, now, end - bound, bound)
    assert due(policy, subject, now) == (ordinary or (ahead and left <= chances))


def test_order_deadline_then_age_then_name() -> None:
    first = claim("z", expire_after=span(2), created=BORN + span(1))
    older, younger = claim("b", created=BORN), claim("a", span(13), created=BORN + span(1))
    twin = claim("c", created=BORN)
    never = claim("d", expire_after=None, created=BORN - span(99))
    broken = claim("e", expire_after=Malformed("x"), created=BORN)
    for shuffled in permutations([first, older, twin, younger, never, broken]):
        ordered = sorted(shuffled, key=order_key)
        assert [entry.name for entry in ordered] == ["z", "b", "c", "a", "d", "e"]


LUNCH = Exclusion(utc("2026-12-05T03:00"), utc("2026-12-05T04:00"), "lunch")
RELEASE = Exclusion(utc("2026-12-05T03:30"), utc("2026-12-05T05:00"), "release")
BUSY = replace(SATURDAYS, exclusions=(LUNCH, RELEASE))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-12-05T02:59:59", None),
        ("2026-12-05T03:00", LUNCH),
        ("2026-12-05T03:30", RELEASE),
        ("2026-12-05T04:59:59", RELEASE),
        ("2026-12-05T05:00", None),
    ],
)
def test_is_excluded(now: str, expected: Exclusion | None) -> None:
    assert is_excluded(BUSY, utc(now)) == expected


@pytest.mark.parametrize(
    ("policy", "now", "edge"),
    [
        (BUSY, "2026-12-04T00:00", "2026-12-05T02:00"),
        (BUSY, "2026-12-05T02:00", "2026-12-05T03:00"),
        (BUSY, "2026-12-05T03:00", "2026-12-05T05:00"),
        (BUSY, "2026-12-05T05:00", "2026-12-05T06:00"),
        (BUSY, "2026-12-05T06:00", "2026-12-12T02:00"),
        (replace(ALWAYS, exclusions=(LUNCH,)), "2026-12-05T02:00", "2026-12-05T03:00"),
        (replace(ALWAYS, exclusions=(LUNCH,)), "2026-12-05T04:00", None),
        (replace(SATURDAYS, windows=()), "2026-12-05T04:00", None),
    ],
)
def test_next_gate_edge(policy: Policy, now: str, edge: str | None) -> None:
    assert next_gate_edge(policy, utc(now)) == (None if edge is None else utc(edge))
