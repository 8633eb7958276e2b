"""The derived figures, against the seed's worked example and the formulas of its section 3.2."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hooks.rotation.model import Claim, Malformed, Policy, Pool, Selector, Span, Window
from hooks.rotation.schedule import (
    Schedule,
    backoff,
    deadline,
    derive,
    failure_pause,
    lead_time,
    t_rot,
    t_rot_est,
)

NOW = datetime(2026, 11, 29, 22, tzinfo=UTC)
WED_SAT = (Window("Asia/Tokyo", frozenset({2, 5}), 120, 360),)
SATURDAY = (Window("Asia/Tokyo", frozenset({5}), 120, 360),)
ALWAYS = (Window("UTC", frozenset(range(7)), 0, 1440),)
POLICY = Policy("api", Selector(), WED_SAT)


def span(days: float = 0, **parts: float) -> timedelta:
    return timedelta(days=days, **parts)


POOL = Pool("api", expire_after=span(14), termination_grace_period=span(hours=1))


def claim(
    expire_after: Span = POOL.expire_after, grace: Span = POOL.termination_grace_period
) -> Claim:
    return Claim(
        "c", "u", NOW, expire_after=expire_after, termination_grace_period=grace, ready=True
    )


WORKED = Schedule(
    period=span(4),
    shortest=span(hours=4),
    gap=span(2, hours=20),
    continuous=False,
    window_lead=span(8),
    t_rot=span(hours=1, minutes=17),
    t_rot_est=span(minutes=15),
    service=span(minutes=25),
    expire_after=span(14),
    age_threshold=span(5, hours=22, minutes=43),
    chances=2,
    capacity=10,
)


def test_the_seeds_worked_example() -> None:
    assert derive(POLICY, POOL, NOW) == WORKED


def test_the_seeds_fatal_example() -> None:
    expected = replace(
        WORKED,
        period=span(7),
        gap=span(6, hours=20),
        window_lead=span(14),
        age_threshold=-span(hours=1, minutes=17),
        # Due from birth, and then floor((14d - 1h17m) / 7d) complete windows are left.
        chances=1,
    )
    assert derive(replace(POLICY, windows=SATURDAY), POOL, NOW) == expected


def test_the_seeds_calibration_note() -> None:
    stock = replace(POOL, termination_grace_period=span(1))
    assert derive(POLICY, stock, NOW) == replace(
        WORKED,
        t_rot=span(1, minutes=17),
        age_threshold=span(14) - span(8) - span(1, minutes=17),
    )


@pytest.mark.parametrize(
    ("policy", "pool", "changes"),
    [
        pytest.param(
            replace(POLICY, age_threshold=span(3)),
            POOL,
            {"age_threshold": span(3), "chances": 2},  # floor((14d - 3d - 1h17m) / 4d)
            id="explicit age",
        ),
        pytest.param(
            replace(POLICY, age_threshold=span(13)),
            POOL,
            {"age_threshold": span(13), "chances": 0},
            id="explicit age too late",
        ),
        pytest.param(
            replace(POLICY, age_threshold=span(15)),
            POOL,
            {"age_threshold": span(15), "chances": -1},  # floor of a negative figure
            id="explicit age after the deadline",
        ),
        pytest.param(
            POLICY,
            replace(POOL, expire_after=None),
            {"expire_after": None, "age_threshold": None, "chances": None},
            id="Never",
        ),
        pytest.param(
            POLICY,
            replace(POOL, expire_after=Malformed("14d")),
            {"expire_after": None, "age_threshold": None, "chances": None},
            id="unreadable expireAfter",
        ),
        pytest.param(
            replace(POLICY, age_threshold=span(3)),
            replace(POOL, expire_after=None),
            {"expire_after": None, "age_threshold": span(3), "chances": None},
            id="Never with an explicit age",
        ),
        pytest.param(
            replace(POLICY, windows=()),
            POOL,
            {
                "period": span(),
                "shortest": span(),
                "gap": span(),
                "window_lead": span(),
                "age_threshold": span(14) - span(hours=1, minutes=17),
                "chances": None,
                "capacity": 0,
            },
            id="no windows",
        ),
        pytest.param(
            replace(POLICY, windows=ALWAYS),
            POOL,
            {
                "period": span(minutes=1),
                "shortest": span(1),
                "gap": span(),
                "continuous": True,
                "window_lead": span(minutes=2),
                "age_threshold": span(14) - span(hours=1, minutes=19),
                "capacity": 58,  # ceil(24h / 25m)
            },
            id="never closed",
        ),
        pytest.param(
            replace(POLICY, drain_estimate=span(minutes=35), provisioning_estimate=span()),
            POOL,
            {"t_rot_est": span(minutes=35), "service": span(minutes=45), "capacity": 6},
            id="estimates given",
        ),
        pytest.param(
            replace(
                POLICY,
                drain_estimate=span(),
                provisioning_estimate=span(),
                cooldown_after=span(),
            ),
            POOL,
            {"t_rot_est": span(), "service": span(seconds=1), "capacity": 4 * 3600},
            id="nothing takes time: one start a second",
        ),
        pytest.param(
            replace(POLICY, cooldown_after=span(1)),
            POOL,
            {"service": span(1, minutes=15), "capacity": 1},
            id="every occurrence admits one start",
        ),
        pytest.param(
            replace(POLICY, chances=10**30),
            POOL,
            {
                # A thousand years, in whole periods: capped, never an overflow.
                "window_lead": span(365_000),
                "age_threshold": span(14) - span(365_000, hours=1, minutes=17),
                "chances": 3,
            },
            id="absurd K",
        ),
    ],
)
def test_figures(policy: Policy, pool: Pool, changes: dict[str, Any]) -> None:
    assert derive(policy, pool, NOW) == replace(WORKED, **changes)


@pytest.mark.parametrize(
    ("grace", "bound", "expected"),
    [
        (span(hours=1), span(hours=1, minutes=17), span(minutes=15)),
        (span(1), span(1, minutes=17), span(minutes=15)),
        (span(), span(minutes=17), span(minutes=5)),
        (span(minutes=4), span(minutes=21), span(minutes=9)),
        (None, span(hours=1, minutes=17), span(minutes=15)),
        (Malformed("soon"), span(hours=1, minutes=17), span(minutes=15)),
    ],
)
def test_bound_and_estimate(grace: Span, bound: timedelta, expected: timedelta) -> None:
    assert (t_rot(POLICY, grace), t_rot_est(POLICY, grace)) == (bound, expected)


def test_a_short_ready_timeout_bounds_the_estimate() -> None:
    quick = replace(POLICY, ready_timeout=span(minutes=3))
    assert t_rot_est(quick, span(hours=1)) == span(minutes=13)


@pytest.mark.parametrize(
    ("expire_after", "expected"),
    [
        (span(14), datetime(2026, 12, 13, 22, tzinfo=UTC)),
        (None, None),
        (Malformed("14d"), None),
        (span(10**7), datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_deadline(expire_after: Span, expected: datetime | None) -> None:
    assert deadline(claim(expire_after)) == expected


@pytest.mark.parametrize(
    ("policy", "subject", "expected"),
    [
        pytest.param(POLICY, claim(), span(8, hours=1, minutes=17), id="K*P + t_rot"),
        pytest.param(
            POLICY,
            claim(span(30), span(1)),
            span(9, minutes=17),
            id="its own grace, not the pool's",
        ),
        pytest.param(POLICY, claim(None), None, id="no deadline"),
        pytest.param(
            replace(POLICY, age_threshold=span(3)), claim(span(30)), span(27), id="E - A, its own E"
        ),
        pytest.param(replace(POLICY, age_threshold=span(3)), claim(None), None, id="A without E"),
    ],
)
def test_lead_time(policy: Policy, subject: Claim, expected: timedelta | None) -> None:
    assert lead_time(policy, WORKED, subject) == expected


@pytest.mark.parametrize(
    ("pause", "cooldown", "expected"),
    [
        (None, span(minutes=3), span(minutes=10)),
        (None, span(minutes=30), span(minutes=30)),
        (span(minutes=1), span(minutes=30), span(minutes=1)),
        (span(), span(minutes=30), span()),
    ],
)
def test_failure_pause(pause: timedelta | None, cooldown: timedelta, expected: timedelta) -> None:
    policy = replace(POLICY, failure_pause=pause, cooldown_after=cooldown)
    assert failure_pause(policy) == expected


@pytest.mark.parametrize(
    ("count", "times"),
    [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (10**9, 8), (Malformed("many"), 8)],
)
def test_backoff(count: int | Malformed, times: int) -> None:
    assert backoff(POLICY, count) == times * span(minutes=30)
