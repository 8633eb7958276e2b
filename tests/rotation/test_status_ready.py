"""The Ready condition: Invalid before Conflict, what to change, and when its status last changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hooks.rotation.model import BrokenPolicy, Exclusion, Policy, Pool, Selector, Window
from hooks.rotation.schedule import derive
from hooks.rotation.status_ready import (
    LONGEST_MESSAGE,
    Ready,
    ReadyReason,
    Shown,
    Standing,
    ready,
    standing,
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NOW = utc("2026-11-29T22:00")
BEFORE = utc("2026-11-01T08:00")
WED_SAT = (Window("Asia/Tokyo", frozenset({2, 5}), 120, 360),)
API = Selector((("workload", "api"),))
POLICY = Policy("api", API, WED_SAT)
RIVAL = replace(POLICY, name="rival")
BROKEN = BrokenPolicy("api", (("spec.suspend", "must be true or false"),), API)
POOL = Pool(
    "api",
    labels={"workload": "api"},
    expire_after=timedelta(days=14),
    termination_grace_period=timedelta(hours=1),
)


def named(*names: str) -> tuple[Pool, ...]:
    return tuple(replace(POOL, name=name) for name in names)


def judged(
    policy: Policy | BrokenPolicy = POLICY,
    *others: Policy | BrokenPolicy,
    pools: tuple[Pool, ...] = (POOL,),
    shown: Shown | None = None,
    now: datetime = NOW,
) -> Ready:
    stands = standing(policy, (policy, *others), pools)
    schedules = (
        tuple(derive(policy, pool, now) for pool in stands.governed)
        if isinstance(policy, Policy)
        else ()
    )
    return ready(stands, schedules, shown, now)


def test_a_standing_tells_what_is_won_contested_and_taken() -> None:
    special = replace(
        RIVAL, name="special", selector=Selector((("tier", "1"), ("workload", "api")))
    )
    other = replace(RIVAL, selector=Selector((("team", "x"),)))
    pools = (
        replace(POOL, name="taken", labels={"workload": "api", "tier": "1", "team": "x"}),
        replace(POOL, name="tied", labels={"workload": "api", "team": "x"}),
        replace(POOL, name="alien", labels={"team": "x"}),
        replace(POOL, name="won-2"),
        replace(POOL, name="won-1"),
    )
    assert standing(POLICY, (other, POLICY, special), pools) == Standing(
        POLICY, (pools[4], pools[3]), (("tied", ("rival",)),), 1
    )


def test_a_policy_without_a_readable_selector_stands_nowhere() -> None:
    blind = replace(BROKEN, selector=None)
    assert standing(blind, (blind,), (POOL,)) == Standing(blind)


@pytest.mark.parametrize(
    ("policy", "pools", "message"),
    [
        (POLICY, (POOL,), "valid and uncontested"),
        (
            POLICY,
            (),
            (
                "valid and uncontested; spec.nodePoolSelector selects no NodePool: it is compared with "
                "the labels of the NodePool itself (metadata.labels), not with those of its nodes"
            ),
        ),
        (
            replace(POLICY, suspend=True, dry_run=True),
            (POOL,),
            (
                "valid and uncontested; suspended (spec.suspend), so nothing starts; "
                "a dry run (spec.dryRun), so nothing starts"
            ),
        ),
        (
            replace(POLICY, exclusions=(Exclusion(NOW, utc("2026-12-01"), "Christmas"),)),
            (POOL,),
            (
                "valid and uncontested; nothing starts until 2026-12-01T00:00:00Z, by spec.exclusions "
                "(Christmas)"
            ),
        ),
        (
            replace(POLICY, exclusions=(Exclusion(BEFORE, utc("2026-12-01")),)),
            (POOL,),
            "valid and uncontested; nothing starts until 2026-12-01T00:00:00Z, by spec.exclusions",
        ),
        (
            replace(
                POLICY,
                exclusions=(
                    Exclusion(BEFORE, NOW),
                    Exclusion(utc("2026-12-01"), utc("2026-12-02")),
                ),
            ),
            (POOL,),
            "valid and uncontested",
        ),
    ],
)
def test_an_accepted_policy_says_why_nothing_happens_all_the_same(
    policy: Policy, pools: tuple[Pool, ...], message: str
) -> None:
    accepted = judged(policy, pools=pools)
    assert accepted == Ready(ReadyReason.ACCEPTED, message, NOW)
    assert accepted.status == "True"


def test_a_policy_that_others_outrank_everywhere_says_so() -> None:
    special = replace(RIVAL, selector=Selector((("tier", "1"), ("workload", "api"))))
    pool = replace(POOL, labels={"workload": "api", "tier": "1"})
    assert judged(POLICY, special, pools=(pool,)) == Ready(
        ReadyReason.ACCEPTED,
        "valid and uncontested; more specific policies govern every NodePool that it selects",
        NOW,
    )


def test_a_tie_names_the_pool_and_the_rivals() -> None:
    tied = judged(POLICY, RIVAL, replace(RIVAL, name="another"))
    assert tied == Ready(
        ReadyReason.CONFLICT,
        "NodePool api (also by another and rival) is selected with equally many constraints, so it "
        "is not rotated: give spec.nodePoolSelector of one policy one constraint more, or let the "
        "policies select different NodePools",
        NOW,
    )
    assert tied.status == "False"


def test_of_many_contested_pools_five_are_named() -> None:
    tied = judged(POLICY, RIVAL, pools=named(*"gfedcba"))
    assert tied.message.startswith(
        "NodePools a (also by rival), b (also by rival), c (also by rival), d (also by rival), "
        "e (also by rival) and 2 more are selected with equally many constraints, so they are not"
    )


def test_one_contested_pool_among_others_is_a_conflict() -> None:
    other = replace(RIVAL, selector=Selector((("team", "x"),)))
    pools = (*named("won"), replace(POOL, name="tied", labels={"workload": "api", "team": "x"}))
    assert judged(POLICY, other, pools=pools).reason is ReadyReason.CONFLICT


def test_a_broken_rival_makes_a_conflict_too() -> None:
    assert judged(POLICY, replace(BROKEN, name="broken")).reason is ReadyReason.CONFLICT


def test_invalid_goes_before_conflict() -> None:
    assert judged(BROKEN, RIVAL) == Ready(
        ReadyReason.INVALID, "spec.suspend must be true or false", NOW
    )


def test_of_many_problems_five_are_told() -> None:
    problems = tuple((f"spec.f{n}", "must be given") for n in range(7))
    assert judged(replace(BROKEN, problems=problems)).message == (
        "spec.f0 must be given; spec.f1 must be given; spec.f2 must be given; "
        "spec.f3 must be given; spec.f4 must be given; and 2 more"
    )


def test_a_message_stays_readable() -> None:
    endless = judged(replace(BROKEN, problems=(("spec.x", "y" * 10_000),)))
    assert len(endless.message) == LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            replace(POLICY, windows=()),
            (
                "the maintenance windows never open (P = 0): give maintenanceWindows an entry with at "
                "least one day"
            ),
        ),
        (
            replace(POLICY, chances=0),
            "minRotationChances K = 0: set it to 1 or more, better 2",
        ),
        (
            replace(POLICY, age_threshold=timedelta(0)),
            "ageThreshold A = 0s: set it to a positive duration, or to auto",
        ),
    ],
)
@pytest.mark.parametrize("pools", [(), (POOL,)])
def test_a_policy_that_can_not_work_for_any_pool_is_invalid(
    policy: Policy, message: str, pools: tuple[Pool, ...]
) -> None:
    assert judged(policy, pools=pools) == Ready(ReadyReason.INVALID, message, NOW)


def test_a_policy_that_can_not_work_for_a_pool_of_its_own_is_invalid_and_names_it() -> None:
    pools = (replace(POOL, name="short", expire_after=timedelta(days=8)), POOL)
    invalid = judged(pools=pools)
    assert invalid.reason is ReadyReason.INVALID
    assert invalid.message == (
        "NodePool short: ageThreshold A -1h17m isn't positive: A = E - (K*P + t_rot) = 8d - (2*4d + "
        "1h17m), so 2 windows before each deadline can't be guaranteed; raise expireAfter of "
        "NodePool short above 8d1h17m, or add windows until P is below 3d23h21m30s, or lower "
        "minRotationChances to 1"
    )


@pytest.mark.parametrize(
    ("shown", "policy", "since"),
    [
        (None, POLICY, NOW),
        (Shown("True", BEFORE), POLICY, BEFORE),
        (Shown("False", BEFORE), POLICY, NOW),
        (Shown("Unknown", BEFORE), POLICY, NOW),
        (None, BROKEN, NOW),
        (Shown("False", BEFORE), BROKEN, BEFORE),
        (Shown("True", BEFORE), BROKEN, NOW),
        (Shown("Unknown", BEFORE), BROKEN, NOW),
    ],
)
def test_the_time_moves_with_the_status_alone(
    shown: Shown | None, policy: Policy | BrokenPolicy, since: datetime
) -> None:
    assert judged(policy, shown=shown).since == since


def test_the_time_stays_while_only_reason_and_message_change() -> None:
    shown = Shown("False", BEFORE)
    assert judged(POLICY, RIVAL, shown=shown).since == judged(BROKEN, shown=shown).since == BEFORE
