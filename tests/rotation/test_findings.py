"""Every finding: when it is there, when it isn't, and that its message says what to change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from hooks.rotation.findings import (
    Code,
    Finding,
    fatal_findings,
    findings,
    policy_findings,
    short_lead,
)
from hooks.rotation.model import Claim, Exclusion, Malformed, Policy, Pool, Selector, Window
from hooks.rotation.schedule import derive


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def span(days: float = 0, **parts: float) -> timedelta:
    return timedelta(days=days, **parts)


NOW = utc("2026-11-29T22:00")
POOL = Pool("api", expire_after=span(14), termination_grace_period=span(hours=1))
WED_SAT = (Window("Asia/Tokyo", frozenset({2, 5}), 120, 360),)
SATURDAY = (Window("Asia/Tokyo", frozenset({5}), 120, 360),)
ALWAYS = (Window("UTC", frozenset(range(7)), 0, 1440),)
SEED = Policy("api", Selector(), WED_SAT)


DAY, FORTNIGHT, HOUR = span(1), span(14), span(hours=1)


def claims(
    count: int = 1,
    age: timedelta = DAY,
    expire_after: timedelta | None = FORTNIGHT,
    grace: timedelta | None = HOUR,
    deleting_since: datetime | None = None,
) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            f"c-{number:02}",
            f"u-{number}",
            NOW - age,
            deleting_since=deleting_since,
            expire_after=expire_after,
            termination_grace_period=grace,
        )
        for number in range(count)
    )


def found(
    policy: Policy = SEED, pool: Pool = POOL, nodes: tuple[Claim, ...] = ()
) -> tuple[Finding, ...]:
    return findings(policy, pool, nodes, derive(policy, pool, NOW), NOW)


def codes(policy: Policy = SEED, pool: Pool = POOL, nodes: tuple[Claim, ...] = ()) -> list[str]:
    return [finding.code for finding in found(policy, pool, nodes)]


def test_the_codes_and_their_order_are_fixed() -> None:
    assert [code.value for code in Code] == [
        "NoWindows",
        "KBelowOne",
        "ANonPositive",
        "OverrideNonPositive",
        "OverrideGBelowOne",
        "KBelowTwo",
        "AVeryAggressive",
        "TGPUnset",
        "HardCapExceeded",
        "RetryBackoffShort",
        "DrainEstimateAboveTGP",
        "ProvisioningEstimateAboveReadyTimeout",
        "ThroughputBelowArrival",
        "ThroughputBurstShortfall",
        "RotationSpansNextWindow",
        "OverrideGBelowK",
        "ZoneNotReplicated",
        "NoHeadroom",
        "ExclusionShortensLead",
        "ShortLead",
    ]


def test_the_worked_example_has_none() -> None:
    assert found(nodes=claims(5)) == ()


def test_the_seeds_fatal_example_gives_only_the_cause() -> None:
    policy = replace(SEED, windows=SATURDAY)
    expected = (
        Finding(
            "fatal",
            "ANonPositive",
            "ageThreshold A -1h17m isn't positive: A = E - (K*P + t_rot) = 14d - (2*7d + 1h17m), so "
            "2 windows before each deadline can't be guaranteed; raise expireAfter of NodePool api "
            "above 14d1h17m, or add windows until P is below 6d23h21m30s, or lower "
            "minRotationChances to 1",
        ),
    )
    assert found(policy, nodes=claims(40)) == expected
    assert fatal_findings(policy, POOL, derive(policy, POOL, NOW)) == expected


@pytest.mark.parametrize(
    ("policy", "pool", "advice"),
    [
        pytest.param(
            replace(SEED, windows=(Window("UTC", frozenset(range(5)), 120, 360),)),
            replace(POOL, expire_after=span(2)),
            # aws 7122: E 48h, weekdays only, P 3d; even one window a lifetime isn't sure.
            "raise expireAfter of NodePool api above 6d1h17m, or add windows until P is below "
            "23h21m30s",
            id="aws 7122",
        ),
        pytest.param(
            SEED,
            replace(POOL, expire_after=span(hours=1)),
            "raise expireAfter of NodePool api above 8d1h17m",
            id="shorter than one rotation",
        ),
        pytest.param(
            replace(SEED, windows=ALWAYS),
            replace(POOL, expire_after=span(hours=1, minutes=19)),
            "raise expireAfter of NodePool api above 1h19m, or lower minRotationChances to 1",
            id="never closed: no more windows to add",
        ),
    ],
)
def test_the_advice_names_only_what_helps(policy: Policy, pool: Pool, advice: str) -> None:
    (finding,) = found(policy, pool)
    assert (finding.severity, finding.code) == ("fatal", "ANonPositive")
    assert finding.message.split("guaranteed; ")[1] == advice


EXPLICIT = replace(SEED, age_threshold=span(3))


@pytest.mark.parametrize(
    ("policy", "pool", "expected"),
    [
        pytest.param(
            replace(SEED, windows=()),
            POOL,
            [
                (
                    "NoWindows",
                    (
                        "the maintenance windows never open (P = 0): give maintenanceWindows an entry "
                        "with at least one day"
                    ),
                )
            ],
            id="no windows",
        ),
        pytest.param(
            replace(SEED, windows=(Window("UTC", frozenset(), 0, 60),), chances=0),
            POOL,
            [
                (
                    "NoWindows",
                    (
                        "the maintenance windows never open (P = 0): give maintenanceWindows an entry "
                        "with at least one day"
                    ),
                ),
                ("KBelowOne", "minRotationChances K = 0: set it to 1 or more, better 2"),
            ],
            id="all of them are told",
        ),
        pytest.param(
            replace(SEED, age_threshold=span(hours=-1)),
            POOL,
            [
                (
                    "OverrideNonPositive",
                    "ageThreshold A = -1h: set it to a positive duration, or to auto",
                )
            ],
            id="negative explicit age",
        ),
        pytest.param(
            replace(SEED, age_threshold=span()),
            POOL,
            [
                (
                    "OverrideNonPositive",
                    "ageThreshold A = 0s: set it to a positive duration, or to auto",
                )
            ],
            id="zero explicit age",
        ),
        pytest.param(
            replace(SEED, age_threshold=span(13)),
            POOL,
            [
                (
                    "OverrideGBelowOne",
                    (
                        "ageThreshold A = 13d leaves no complete window (G = 0) before expireAfter E = "
                        "14d of NodePool api: lower ageThreshold to 9d22h43m or less, or set it to auto"
                    ),
                )
            ],
            id="explicit age too late",
        ),
        pytest.param(
            EXPLICIT,
            replace(POOL, expire_after=span(4)),
            [
                (
                    "OverrideGBelowOne",
                    (
                        "ageThreshold A = 3d leaves no complete window (G = 0) before expireAfter E = "
                        "4d of NodePool api: raise expireAfter above 4d1h17m, or add windows"
                    ),
                )
            ],
            id="no age would do",
        ),
    ],
)
def test_fatal_findings(policy: Policy, pool: Pool, expected: list[tuple[str, str]]) -> None:
    schedule = derive(policy, pool, NOW)
    fatal = tuple(Finding("fatal", code, message) for code, message in expected)
    assert fatal_findings(policy, pool, schedule) == fatal
    assert findings(policy, pool, claims(99), schedule, NOW) == fatal


def test_a_fatal_finding_hides_no_other_setting() -> None:
    policy = replace(SEED, windows=SATURDAY, retry_backoff=span(minutes=5), required=())
    assert codes(policy, replace(POOL, termination_grace_period=None)) == [
        "ANonPositive",
        "TGPUnset",
        "RetryBackoffShort",
        "ZoneNotReplicated",
    ]


@pytest.mark.parametrize(
    ("policy", "pool", "code", "message"),
    [
        pytest.param(
            replace(SEED, chances=1),
            POOL,
            "KBelowTwo",
            "minRotationChances K = 1 leaves no second window when one is missed: set it to 2",
            id="K = 1",
        ),
        pytest.param(
            SEED,
            replace(POOL, expire_after=span(12)),
            "AVeryAggressive",
            "ageThreshold A = 3d22h43m is shorter than the window period P = 4d, so nodes are "
            "renewed at almost every window: raise expireAfter, add windows, or lower "
            "minRotationChances",
            id="A below P",
        ),
        pytest.param(
            EXPLICIT,
            replace(POOL, expire_after=None),
            "AVeryAggressive",
            "ageThreshold A = 3d is shorter than the window period P = 4d, so nodes are renewed at "
            "almost every window: raise ageThreshold, or add windows",
            id="explicit A below P, without E",
        ),
        pytest.param(
            SEED,
            replace(POOL, termination_grace_period=None),
            "TGPUnset",
            "terminationGracePeriod is unset, so nothing bounds a drain and t_rot counts 1h for "
            "it: set it in the NodePool's template",
            id="no tGP",
        ),
        pytest.param(
            SEED,
            replace(POOL, expire_after=span(hours=481), termination_grace_period=span(1)),
            "HardCapExceeded",
            "expireAfter + terminationGracePeriod is over the 21d that EKS Auto Mode allows: "
            "21d1h in the NodePool's template; lower either of them",
            id="EKS Auto Mode: 481h + 24h",
        ),
        pytest.param(
            replace(SEED, retry_backoff=span(minutes=14)),
            POOL,
            "RetryBackoffShort",
            "retryBackoff 14m is shorter than readyTimeout 15m, so a failing node is retried more "
            "often than one attempt takes: raise retryBackoff, or lower readyTimeout",
            id="backoff below readyTimeout",
        ),
        pytest.param(
            replace(SEED, drain_estimate=span(hours=2)),
            POOL,
            "DrainEstimateAboveTGP",
            "drainEstimate 2h is longer than terminationGracePeriod 1h, which ends every drain: "
            "lower drainEstimate, or raise terminationGracePeriod",
            id="drain estimate above tGP",
        ),
        pytest.param(
            replace(SEED, provisioning_estimate=span(minutes=20)),
            POOL,
            "ProvisioningEstimateAboveReadyTimeout",
            "provisioningEstimate 20m is longer than readyTimeout 15m, so attempts are expected to "
            "time out: raise readyTimeout, or lower provisioningEstimate",
            id="provisioning estimate above readyTimeout",
        ),
        pytest.param(
            replace(SEED, age_threshold=span(8)),
            POOL,
            "OverrideGBelowK",
            "ageThreshold A = 8d leaves G = 1 windows before expireAfter E = 14d, fewer than "
            "minRotationChances K = 2: lower ageThreshold to 5d22h43m or less, or set it to auto",
            id="G below K",
        ),
        pytest.param(
            replace(SEED, required=("kubernetes.io/arch",)),
            POOL,
            "ZoneNotReplicated",
            "matchNodeRequirements.required lacks topology.kubernetes.io/zone: a successor may "
            "come up in another zone, where Pods with zonal volumes can't start; add it",
            id="zone not required",
        ),
        pytest.param(
            SEED,
            replace(
                POOL,
                limits={"cpu": Fraction(8), "memory": Fraction(99), "nodes": Fraction(2)},
                used={"cpu": Fraction(8), "memory": Fraction(98), "nodes": Fraction(2)},
            ),
            "NoHeadroom",
            "limits leave no room for a successor: cpu, nodes; raise spec.limits",
            id="limits used up",
        ),
        pytest.param(
            replace(
                SEED,
                windows=(
                    Window("UTC", frozenset(range(7)), 60, 240),
                    Window("UTC", frozenset(range(7)), 260, 500),
                ),
            ),
            POOL,
            "RotationSpansNextWindow",
            "a rotation that starts late in a window (t_rot_est + cooldownAfter = 25m) reaches "
            "into the next one, 20m later, so not each of them gives C = 8 starts: leave more time "
            "between the windows, or join them",
            id="windows 20 minutes apart",
        ),
    ],
)
def test_single_warnings(policy: Policy, pool: Pool, code: str, message: str) -> None:
    assert found(policy, pool) == (Finding("warning", code, message),)


@pytest.mark.parametrize(
    ("policy", "pool"),
    [
        pytest.param(replace(SEED, retry_backoff=span(minutes=15)), POOL, id="backoff as long"),
        pytest.param(replace(SEED, drain_estimate=span(hours=1)), POOL, id="drain as long as tGP"),
        pytest.param(
            replace(SEED, provisioning_estimate=span(minutes=15)), POOL, id="as readyTimeout"
        ),
        pytest.param(
            SEED,
            replace(POOL, expire_after=span(14), termination_grace_period=span(1)),
            id="EKS Auto Mode: 336h + 24h",
        ),
        pytest.param(
            SEED,
            replace(POOL, expire_after=span(20), termination_grace_period=span(1)),
            id="exactly 21d",
        ),
        pytest.param(SEED, replace(POOL, expire_after=None), id="Never"),
        pytest.param(SEED, replace(POOL, expire_after=Malformed("x")), id="unreadable E"),
        pytest.param(replace(SEED, age_threshold=span(5)), POOL, id="G as K"),
        pytest.param(replace(SEED, windows=ALWAYS), POOL, id="never closed"),
        pytest.param(
            SEED,
            replace(
                POOL,
                limits={"cpu": Fraction(9), "nodes": Fraction(3), "example.com/gpu": Fraction(1)},
                used={"cpu": Fraction(8), "nodes": Fraction(2)},
            ),
            id="room for one",
        ),
        pytest.param(
            replace(
                SEED,
                windows=(
                    Window("UTC", frozenset(range(7)), 60, 240),
                    Window("UTC", frozenset(range(7)), 265, 500),
                ),
            ),
            POOL,
            id="windows just far enough apart",
        ),
    ],
)
def test_nothing_to_object_to(policy: Policy, pool: Pool) -> None:
    assert found(policy, pool) == ()


def test_the_hard_cap_holds_for_existing_claims_with_their_own_values() -> None:
    long = claims(7, expire_after=span(21))
    assert found(nodes=long) == (
        Finding(
            "warning",
            "HardCapExceeded",
            "expireAfter + terminationGracePeriod is over the 21d that EKS Auto Mode allows: "
            "existing NodeClaims c-00, c-01, c-02, c-03, c-04 and 2 more; lower either of them",
        ),
    )
    assert found(nodes=claims(2, expire_after=None, grace=None)) == ()


# A = 5d22h43m and P = 4d: 14 nodes are 9.4 in a period, 15 are 10.1; C is 10.
@pytest.mark.parametrize(
    ("count", "is_told"), [(14, False), (15, True)], ids=["as many as fit", "one more"]
)
def test_arrival(count: int, *, is_told: bool) -> None:
    spread = tuple(
        replace(claim, created=NOW - span(hours=9 * number))
        for number, claim in enumerate(claims(count))
    )
    expected = (
        Finding(
            "warning",
            "ThroughputBelowArrival",
            "15 nodes come due within A = 5d22h43m, which is up to 11 in each 4d, but only C = 10 "
            "starts fit: make each window longer than 4h10m, add windows, or shorten cooldownAfter",
        ),
    )
    assert found(nodes=spread) == (expected if is_told else ())
    counted = replace(POOL, used={"nodes": Fraction(count)})
    assert found(pool=counted) == (expected if is_told else ())


def test_arrival_counts_no_node_that_is_being_deleted() -> None:
    leaving = tuple(replace(claim, deleting_since=NOW) for claim in claims(40))
    assert found(nodes=leaving) == ()


@pytest.mark.parametrize(
    ("limit", "used", "is_told"),
    [
        pytest.param({"nvidia.com/gpu": 0}, {}, False, id="bars nodes with GPUs"),
        pytest.param({"nvidia.com/gpu": 0}, {"nvidia.com/gpu": 0}, False, id="and says so"),
        pytest.param({"nvidia.com/gpu": 2}, {"nvidia.com/gpu": 2}, True, id="all GPUs used"),
        pytest.param({"cpu": 0}, {}, True, id="no node without CPUs"),
        pytest.param({"memory": 0}, {}, True, id="nor without memory"),
        pytest.param({"nodes": 0}, {}, True, id="no node at all"),
    ],
)
def test_limits_without_room(limit: dict[str, int], used: dict[str, int], *, is_told: bool) -> None:
    limits, uses = ({name: Fraction(n) for name, n in some.items()} for some in (limit, used))
    told = codes(pool=replace(POOL, limits=limits, used=uses))
    assert told == (["NoHeadroom"] if is_told else [])


def test_one_chance_cannot_be_lowered() -> None:
    least = replace(SEED, chances=1)
    finding = found(least, replace(POOL, expire_after=span(7)))[-1]
    assert (finding.code, finding.message.rpartition(": ")[2]) == (
        "AVeryAggressive",
        "raise expireAfter, or add windows",
    )


def test_arrival_of_a_union_that_never_closes_counts_by_the_day() -> None:
    # A = 14d - 1h19m; 58 starts fit in a day, 800 nodes are 57.4 a day, 1000 are 71.7.
    policy = replace(SEED, windows=ALWAYS)
    assert codes(policy, replace(POOL, used={"nodes": Fraction(800)})) == []
    (finding,) = found(policy, replace(POOL, used={"nodes": Fraction(1000)}))
    assert finding == Finding(
        "warning",
        "ThroughputBelowArrival",
        "1000 nodes come due within A = 13d22h41m, which is up to 72 in each 1d, but only C = 58 "
        "starts fit: raise expireAfter, or shorten cooldownAfter",
    )


def test_an_absurd_number_of_nodes_brings_nothing_down() -> None:
    pool = replace(POOL, used={"nodes": Fraction(10**300)})
    assert codes(pool=pool) == ["ThroughputBelowArrival"]


WEEKLY = replace(SEED, windows=SATURDAY)
LONG_LIVED = replace(POOL, expire_after=span(20), termination_grace_period=span(hours=1))


def test_forty_claims_of_one_creation_time() -> None:
    """karpenter 3020, aws 1884: weekly 4 h window, 25 min each."""
    batch = claims(40, expire_after=span(20))
    # A = 20d - (14d + 1h17m) = 5d22h43m, so 40 nodes are also 48 in each period of 7d.
    assert found(WEEKLY, LONG_LIVED, batch)[-1] == Finding(
        "warning",
        "ThroughputBurstShortfall",
        # Born on 28 November 22:00Z, last start on 18 December 20:43Z; that Friday 17:00Z the
        # window of Saturday in Tokyo opens.
        "40 NodeClaims have the window of 2026-12-18T17:00:00Z as their last chance, but only 20 "
        "starts fit till then (2*C, C = 10): 20 can't make it before their deadlines; make each "
        "window longer than 7h55m, add windows, or shorten cooldownAfter, or renew some of them "
        "earlier (noderotation rotate)",
    )
    assert codes(WEEKLY, LONG_LIVED, batch) == [
        "AVeryAggressive",
        "ThroughputBelowArrival",
        "ThroughputBurstShortfall",
    ]


@pytest.mark.parametrize(
    ("batches", "is_told"),
    [
        pytest.param(claims(20), False, id="as many as fit"),
        pytest.param(claims(21), True, id="one more"),
        pytest.param(claims(20) + claims(20, age=span(5)), False, id="two batches apart"),
        pytest.param(claims(11) + claims(10, age=span(1, hours=1)), True, id="same chances"),
        pytest.param(claims(30, age=span(14)), False, id="too late for any of them anyway"),
        pytest.param(claims(30, deleting_since=NOW), False, id="going already"),
        pytest.param(claims(30, expire_after=None), False, id="no deadline"),
        pytest.param(claims(30, expire_after=span(1000)), False, id="in years"),
        pytest.param(claims(30, expire_after=span(1, hours=2)), True, id="before any window"),
    ],
)
def test_burst(batches: tuple[Claim, ...], *, is_told: bool) -> None:
    assert ("ThroughputBurstShortfall" in codes(nodes=batches)) == is_told


def test_a_burst_with_fewer_windows_left_than_k() -> None:
    # They expire in three days; on Tuesday evening the window opens, and then on Friday.
    (finding,) = found(nodes=claims(21, expire_after=span(4)))[-1:]
    assert finding == Finding(
        "warning",
        "ThroughputBurstShortfall",
        "21 NodeClaims have the window of 2026-12-01T17:00:00Z as their last chance, but only 10 "
        "starts fit till then (1*C, C = 10): 11 can't make it before their deadlines; make each "
        "window longer than 4h10m, add windows, or shorten cooldownAfter, or renew some of them "
        "earlier (noderotation rotate)",
    )


@pytest.mark.parametrize("now", ["2026-11-29T22:00", "2026-12-01T21:30"])
def test_a_burst_without_any_window_left(now: str) -> None:
    """Neither is the window of that very day a chance when it is over."""
    late = tuple(
        replace(one, created=utc(now)) for one in claims(30, expire_after=span(1, hours=2))
    )
    finding = findings(SEED, POOL, late, derive(SEED, POOL, utc(now)), utc(now))[-1]
    assert finding == Finding(
        "warning",
        "ThroughputBurstShortfall",
        "30 NodeClaims have no window left in which they could make it before their deadlines, so "
        "30 can't: add a window before then",
    )


def test_burst_with_an_explicit_age_counts_the_windows_that_it_leaves() -> None:
    # G = floor((14d - 1d - 1h17m) / 4d) = 3 windows, 30 starts.
    policy = replace(SEED, age_threshold=span(1))
    assert "ThroughputBurstShortfall" not in codes(policy, nodes=claims(30))
    assert "ThroughputBurstShortfall" in codes(policy, nodes=claims(31))


def test_burst_without_an_expire_after_in_the_template_counts_k_windows() -> None:
    pool = replace(POOL, expire_after=None)
    assert codes(pool=pool, nodes=claims(20)) == []
    assert codes(pool=pool, nodes=claims(21)) == ["ThroughputBurstShortfall"]


def test_burst_in_a_union_that_never_closes() -> None:
    # Due 1h19m before the deadline: starts after 0, 25 and 50 minutes end in time (15m each).
    policy = replace(SEED, windows=ALWAYS)
    assert found(policy, nodes=claims(3)) == ()
    assert found(policy, nodes=claims(10)) == (
        Finding(
            "warning",
            "ThroughputBurstShortfall",
            "10 NodeClaims come due so close together, one every 25m, that 7 can't make it before "
            "their deadlines: set an explicit ageThreshold that is lower, shorten cooldownAfter, or "
            "renew some of them earlier (noderotation rotate)",
        ),
    )
    early = replace(policy, age_threshold=span(13))
    assert found(early, nodes=claims(10)) == ()


HOLIDAY = replace(
    SEED, exclusions=(Exclusion(utc("2026-12-18T00:00"), utc("2026-12-31T00:00"), "holidays"),)
)


def test_exclusions_that_leave_too_few_chances() -> None:
    # Born on 14 December 22:00, last start on 28 December 20:43; open are the 15th and nothing else.
    late = tuple(replace(claim, created=utc("2026-12-14T22:00")) for claim in claims(2))
    policy, now = HOLIDAY, utc("2026-12-17T00:00")
    schedule = derive(policy, POOL, now)
    assert findings(policy, POOL, late, schedule, now) == (
        Finding(
            "warning",
            "ExclusionShortensLead",
            "exclusions leave NodeClaims c-00, c-01 fewer than K = 2 chances; worst, a node of "
            "2026-12-17T00:00:00Z with deadline 2026-12-31T00:00:00Z gets 0: shorten the "
            "exclusions, open a window between them, or raise expireAfter (14d)",
        ),
    )


def test_an_exclusion_to_come_is_told_long_before() -> None:
    # A node born as the exclusion begins: deadline 1 January, no window before it.
    assert found(HOLIDAY) == (
        Finding(
            "warning",
            "ExclusionShortensLead",
            "exclusions leave new nodes fewer than K = 2 chances; worst, a node of "
            "2026-12-18T00:00:00Z with deadline 2027-01-01T00:00:00Z gets 0: shorten the "
            "exclusions, open a window between them, or raise expireAfter (14d)",
        ),
    )


@pytest.mark.parametrize(
    ("exclusions", "pool", "nodes"),
    [
        pytest.param(
            (Exclusion(utc("2026-12-18T00:00"), utc("2026-12-20T00:00")),), POOL, (), id="short"
        ),
        pytest.param(
            (Exclusion(utc("2026-10-18T00:00"), utc("2026-11-20T00:00")),),
            POOL,
            claims(2, age=span(13)),
            id="over",
        ),
        pytest.param(HOLIDAY.exclusions, replace(POOL, expire_after=None), (), id="no deadlines"),
        pytest.param(
            HOLIDAY.exclusions,
            replace(POOL, expire_after=None),
            claims(2, expire_after=span(20), age=span(20)),
            id="claims whose life is over before it",
        ),
        pytest.param(
            HOLIDAY.exclusions,
            replace(POOL, expire_after=None),
            claims(2, expire_after=span(3), age=span(-18)),
            id="a short lead is told as such",
        ),
        pytest.param(
            (Exclusion(utc("2029-12-18T00:00"), utc("2030-12-20T00:00")),), POOL, (), id="in years"
        ),
    ],
)
def test_exclusions_that_hurt_nobody(
    exclusions: tuple[Exclusion, ...], pool: Pool, nodes: tuple[Claim, ...]
) -> None:
    assert codes(replace(SEED, exclusions=exclusions), pool, nodes) == []


def test_exclusions_in_a_union_that_never_closes() -> None:
    short = replace(POOL, expire_after=span(3))
    policy = replace(HOLIDAY, windows=ALWAYS)
    assert codes(policy, short) == ["ExclusionShortensLead"]
    assert codes(policy, replace(POOL, expire_after=span(15))) == []


def test_findings_do_not_depend_on_the_order_of_claims() -> None:
    mixed = claims(30) + claims(25, age=span(5)) + claims(3, expire_after=span(30))
    assert found(HOLIDAY, nodes=mixed) == found(HOLIDAY, nodes=mixed[::-1])


def test_a_policy_alone() -> None:
    assert policy_findings(SEED, NOW) == ()
    poor = replace(SEED, windows=(), chances=1, required=(), age_threshold=-span(1))
    assert [finding.code for finding in policy_findings(poor, NOW)] == [
        "NoWindows",
        "OverrideNonPositive",
        "KBelowTwo",
        "ZoneNotReplicated",
    ]


@pytest.mark.parametrize(
    ("policy", "claim", "message"),
    [
        pytest.param(SEED, claims()[0], None, id="enough"),
        pytest.param(SEED, claims(expire_after=None)[0], None, id="no deadline"),
        pytest.param(SEED, claims(expire_after=span(2), deleting_since=NOW)[0], None, id="going"),
        pytest.param(replace(SEED, windows=()), claims(expire_after=span(2))[0], None, id="no P"),
        pytest.param(
            SEED,
            claims(expire_after=span(8, hours=1, minutes=17))[0],
            "NodeClaim c-00 lives 8d1h17m (its own expireAfter), but K*P + t_rot = 8d1h17m: it is "
            "rotated at the first opportunity and may be expired by force; raise expireAfter in "
            "the NodePool for its successors, or add windows",
            id="exactly K*P + t_rot is too short",
        ),
        pytest.param(
            SEED, claims(expire_after=span(8, hours=1, minutes=18))[0], None, id="a minute more"
        ),
        pytest.param(
            EXPLICIT,
            claims(expire_after=span(7, hours=1, minutes=17))[0],
            "NodeClaim c-00 lives 7d1h17m (its own expireAfter), but K*P + t_rot = 8d1h17m: it can't "
            "be sure of K = 2 windows, whatever its ageThreshold; raise expireAfter in the NodePool "
            "for its successors, or add windows",
            id="explicit age: one window where K = 2",
        ),
        pytest.param(
            EXPLICIT,
            claims(expire_after=span(8, hours=1, minutes=18))[0],
            None,
            id="explicit age: a minute more",
        ),
        pytest.param(
            EXPLICIT,
            claims(expire_after=span(7))[0],
            "NodeClaim c-00 lives 7d (its own expireAfter), but A + P + t_rot = 7d1h17m: it is "
            "rotated at the first opportunity and may be expired by force; raise expireAfter in "
            "the NodePool for its successors, or add windows",
            id="explicit age: not even one window",
        ),
    ],
)
def test_short_lead(policy: Policy, claim: Claim, message: str | None) -> None:
    expected = None if message is None else Finding("warning", "ShortLead", message)
    assert short_lead(policy, derive(policy, POOL, NOW), claim) == expected
