"""The figures of a RotationPolicy's status: which pools, which windows, and when they next change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from hooks.rotation.model import (
    BrokenPolicy,
    Exclusion,
    Malformed,
    Mode,
    Policy,
    Pool,
    Selector,
    Window,
)
from hooks.rotation.status import Phase, PolicyStatus, PoolStatus, phase_of, status_of
from hooks.rotation.status_ready import Ready, ReadyReason


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NOW = utc("2026-11-29T22:00")
HOUR = timedelta(hours=1)
WED_SAT = (Window("Asia/Tokyo", frozenset({2, 5}), 120, 360),)
ALWAYS = (Window("UTC", frozenset(range(7)), 0, 1440),)
API = Selector((("workload", "api"),))
POLICY = Policy("api", API, WED_SAT, generation=3)
BROKEN = BrokenPolicy("api", (("spec.ageThreshold", "must be a text"),), API, generation=4)
POOL = Pool(
    "api",
    labels={"workload": "api"},
    expire_after=timedelta(days=14),
    termination_grace_period=HOUR,
)
BATCH = replace(POOL, name="batch")
ALIEN = replace(POOL, name="alien", labels={"workload": "web"})
A = timedelta(days=5, hours=22, minutes=43)
IDLE = PoolStatus("api", Phase.IDLE, None, A, 10)


def status(
    policy: Policy | BrokenPolicy = POLICY,
    *pools: Pool,
    among: tuple[Policy | BrokenPolicy, ...] = (),
    now: datetime = NOW,
) -> PolicyStatus:
    return status_of(policy, (policy, *among), pools or (POOL,), None, now)


def test_a_whole_status() -> None:
    anchored = replace(BATCH, anchor="batch-1", last_rotation_at=utc("2026-11-27T18:30"))
    assert status(POLICY, anchored, ALIEN, POOL) == PolicyStatus(
        generation=3,
        matched=2,
        rotating=1,
        window_open=False,
        next_window=utc("2026-12-01T17:00"),
        pools=(
            IDLE,
            PoolStatus("batch", Phase.SURGING, "batch-1", A, 10, utc("2026-11-27T18:30")),
        ),
        ready=Ready(ReadyReason.ACCEPTED, "valid and uncontested", NOW),
        look_again=HOUR,
    )


def test_the_order_of_policies_and_pools_is_of_no_matter() -> None:
    rival = Policy("rival", Selector((("workload", "web"),)), ALWAYS)
    told = {
        repr(status_of(POLICY, tuple(policies), tuple(pools), None, NOW))
        for policies in permutations((POLICY, rival))
        for pools in permutations((POOL, BATCH, ALIEN))
    }
    assert len(told) == 1


@pytest.mark.parametrize(
    ("pool", "phase"),
    [
        (POOL, Phase.IDLE),
        (replace(POOL, mirror=True), Phase.IDLE),
        (replace(POOL, anchor="a"), Phase.SURGING),
        (replace(POOL, anchor="a", mirror=True), Phase.DRAINING),
        (replace(POOL, anchor="a", mirror=True, mode=Mode.FALLBACK), Phase.DRAINING),
    ],
)
def test_the_phase_is_what_the_annotations_tell(pool: Pool, phase: Phase) -> None:
    assert phase_of(pool) == phase


@pytest.mark.parametrize(
    ("now", "is_open", "opens", "look_again"),
    [
        ("2026-12-01T16:59:58", False, "2026-12-01T17:00", timedelta(seconds=2)),
        ("2026-12-01T17:00:00", True, "2026-12-04T17:00", HOUR),
        ("2026-12-01T20:30:00", True, "2026-12-04T17:00", timedelta(minutes=30)),
        ("2026-12-01T20:59:59.5", True, "2026-12-04T17:00", timedelta(milliseconds=500)),
        ("2026-12-01T21:00:00", False, "2026-12-04T17:00", HOUR),
    ],
)
def test_windows_change_at_their_edges_and_the_next_look_aims_at_them(
    now: str, look_again: timedelta, *, is_open: bool, opens: str
) -> None:
    told = status(now=utc(now))
    assert (told.window_open, told.next_window, told.look_again) == (
        is_open,
        utc(opens),
        look_again,
    )


def test_a_window_that_never_closes_never_opens_next() -> None:
    told = status(replace(POLICY, windows=ALWAYS))
    assert (told.window_open, told.next_window, told.look_again) == (True, None, HOUR)


def test_an_exclusion_doesn_t_close_a_window_but_its_edges_are_looked_at() -> None:
    excluded = Exclusion(NOW - HOUR, NOW + timedelta(minutes=7))
    told = status(replace(POLICY, windows=ALWAYS, exclusions=(excluded,)))
    assert (told.window_open, told.look_again) == (True, timedelta(minutes=7))


def test_an_edge_of_a_far_century_is_no_reason_to_overflow() -> None:
    far = Exclusion(utc("9998-01-01"), utc("9999-01-01"))
    assert status(replace(POLICY, windows=ALWAYS, exclusions=(far,))).look_again == HOUR


def test_of_a_broken_policy_pools_are_told_without_figures_and_no_windows() -> None:
    anchored = replace(POOL, anchor="api-1", mirror=True, last_rotation_at=NOW)
    told = status(BROKEN, anchored, ALIEN)
    assert told == PolicyStatus(
        generation=4,
        matched=1,
        rotating=1,
        window_open=None,
        next_window=None,
        pools=(PoolStatus("api", Phase.DRAINING, "api-1", last_rotation_at=NOW),),
        ready=Ready(ReadyReason.INVALID, "spec.ageThreshold must be a text", NOW),
        look_again=HOUR,
    )


def test_a_policy_whose_selector_can_t_be_read_governs_nothing() -> None:
    told = status(replace(BROKEN, selector=None))
    assert (told.matched, told.rotating, told.pools) == (0, 0, ())


def test_a_pool_of_a_more_specific_policy_is_not_told() -> None:
    special = replace(POLICY, name="special", selector=Selector((*API.match_labels, ("x", "y"))))
    pool = replace(BATCH, labels={"workload": "api", "x": "y"}, anchor="a")
    told = status(POLICY, POOL, pool, among=(special,))
    assert (told.matched, told.rotating, told.pools) == (1, 0, (IDLE,))


def test_a_contested_pool_counts_for_nobody() -> None:
    told = status(POLICY, replace(POOL, anchor="a"), among=(replace(POLICY, name="rival"),))
    assert (told.matched, told.rotating, told.pools) == (0, 0, ())


def test_fifty_pools_are_told_by_name_and_all_are_counted() -> None:
    pools = [replace(POOL, name=f"p-{n:03}", anchor="a") for n in range(120)]
    told = status(POLICY, *reversed(pools))
    assert (told.matched, told.rotating) == (120, 120)
    assert [pool.name for pool in told.pools] == [f"p-{n:03}" for n in range(50)]


def test_what_can_t_be_read_is_left_out_and_a_name_that_can_t_be_one_is_cut() -> None:
    odd = replace(
        POOL, anchor="a" * 300, last_rotation_at=Malformed("soon"), expire_after=Malformed("14d")
    )
    assert status(POLICY, odd).pools == (PoolStatus("api", Phase.SURGING, "a" * 253, None, 10),)


def test_findings_are_told_by_their_codes_in_their_order() -> None:
    pool = replace(POOL, termination_grace_period=None, expire_after=timedelta(days=30))
    told = status(replace(POLICY, chances=1, required=()), pool)
    assert [one.findings for one in told.pools] == [
        ("KBelowTwo", "TGPUnset", "HardCapExceeded", "ZoneNotReplicated")
    ]


@pytest.mark.parametrize(("fallback", "told"), [(False, ("StaticNodePool",)), (True, ())])
def test_a_static_pool_is_told_unless_a_fallback_may_rotate_it(
    told: tuple[str, ...], *, fallback: bool
) -> None:
    pools = status(replace(POLICY, fallback=fallback), replace(POOL, static=True)).pools
    assert [pool.findings for pool in pools] == [told]


def test_an_age_that_is_negative_is_told_as_it_is() -> None:
    told = status(POLICY, replace(POOL, expire_after=timedelta(days=8)))
    (pool,) = told.pools
    assert (pool.age_threshold, pool.findings) == (
        -timedelta(hours=1, minutes=17),
        ("ANonPositive",),
    )
