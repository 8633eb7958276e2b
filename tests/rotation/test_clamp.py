"""The clamp of the placeholder's size, and what is told about it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.rotation.clamp import Clamp, ClampOutcome, Cut, clamp
from hooks.rotation.model import Resources
from hooks.rotation.quantity import parse_quantity


def amounts(values: Mapping[str, str]) -> Resources:
    return {name: parse_quantity(text) for name, text in values.items()}


def cut(resource: str, wanted: str, limit: str, band: str | None = None) -> Cut:
    measured = None if band is None else parse_quantity(band)
    return Cut(resource, parse_quantity(wanted), parse_quantity(limit), measured)


PLANNED = {"cpu": "3770m", "memory": "14570Mi"}
ACTUAL = {"cpu": "3770m", "memory": "14739Mi"}
DAEMONS = {"cpu": "300m", "memory": "1082Mi"}

ROWS: list[
    tuple[
        str,
        tuple[dict[str, str], dict[str, str], dict[str, str] | None, dict[str, str] | None],
        dict[str, str],
        Clamp,
    ]
] = [
    (
        "all fits: silent",
        ({"cpu": "1200m", "memory": "12600Mi"}, DAEMONS, PLANNED, ACTUAL),
        {"cpu": "1200m", "memory": "12600Mi"},
        Clamp(),
    ),
    (
        "exactly fits: silent",
        ({"cpu": "3470m", "memory": "13488Mi"}, DAEMONS, PLANNED, ACTUAL),
        {"cpu": "3470m", "memory": "13488Mi"},
        Clamp(),
    ),
    (
        "a node filled past the plan, within the band (issue 224)",
        ({"cpu": "1200m", "memory": "13600Mi"}, DAEMONS, PLANNED, ACTUAL),
        {"cpu": "1200m", "memory": "13488Mi"},
        Clamp(ClampOutcome.CLAMPED, (cut("memory", "13600Mi", "13488Mi", "169Mi"),)),
    ),
    (
        "short by exactly the band",
        ({"memory": "13657Mi"}, DAEMONS, PLANNED, ACTUAL),
        {"memory": "13488Mi"},
        Clamp(ClampOutcome.CLAMPED, (cut("memory", "13657Mi", "13488Mi", "169Mi"),)),
    ),
    (
        "short by more than the band",
        ({"memory": "13658Mi"}, DAEMONS, PLANNED, ACTUAL),
        {"memory": "13488Mi"},
        Clamp(ClampOutcome.BAND_EXCEEDED, (cut("memory", "13658Mi", "13488Mi", "169Mi"),)),
    ),
    (
        "each resource by itself; one beyond its band is enough",
        ({"cpu": "4", "memory": "13600Mi"}, DAEMONS, PLANNED, ACTUAL),
        {"cpu": "3470m", "memory": "13488Mi"},
        Clamp(
            ClampOutcome.BAND_EXCEEDED,
            (cut("cpu", "4", "3470m", "0"), cut("memory", "13600Mi", "13488Mi", "169Mi")),
        ),
    ),
    (
        "a band that can't be measured explains nothing",
        ({"memory": "13600Mi"}, DAEMONS, PLANNED, None),
        {"memory": "13488Mi"},
        Clamp(ClampOutcome.BAND_EXCEEDED, (cut("memory", "13600Mi", "13488Mi"),)),
    ),
    (
        "a Node that doesn't report the resource",
        ({"memory": "13600Mi"}, DAEMONS, PLANNED, {"cpu": "3770m"}),
        {"memory": "13488Mi"},
        Clamp(ClampOutcome.BAND_EXCEEDED, (cut("memory", "13600Mi", "13488Mi"),)),
    ),
    (
        "a Node smaller than planned",
        ({"memory": "13600Mi"}, DAEMONS, PLANNED, {"memory": "14000Mi"}),
        {"memory": "13488Mi"},
        Clamp(ClampOutcome.BAND_EXCEEDED, (cut("memory", "13600Mi", "13488Mi", "-570Mi"),)),
    ),
    (
        "no allocatable: no clamp",
        ({"memory": "99Gi"}, DAEMONS, None, ACTUAL),
        {"memory": "99Gi"},
        Clamp(),
    ),
    (
        "an empty allocatable: no clamp",
        ({"memory": "99Gi"}, DAEMONS, {}, ACTUAL),
        {"memory": "99Gi"},
        Clamp(),
    ),
    (
        "a resource that Karpenter knows nothing of stays",
        ({"cpu": "1", "nvidia.com/gpu": "2"}, DAEMONS, PLANNED, ACTUAL),
        {"cpu": "1", "nvidia.com/gpu": "2"},
        Clamp(),
    ),
    (
        "daemons take all: refused, the full sum stays",
        (
            {"cpu": "4", "memory": "500Mi"},
            {"memory": "1000Mi"},
            {"cpu": "2", "memory": "1000Mi"},
            None,
        ),
        {"cpu": "4", "memory": "500Mi"},
        Clamp(ClampOutcome.REFUSED, (cut("cpu", "4", "2"), cut("memory", "500Mi", "0"))),
    ),
    (
        "daemons take more than all: the limit is zero, not less",
        ({"memory": "500Mi"}, {"memory": "1500Mi"}, {"memory": "1000Mi"}, {"memory": "1000Mi"}),
        {"memory": "500Mi"},
        Clamp(ClampOutcome.REFUSED, (cut("memory", "500Mi", "0", "0"),)),
    ),
    (
        "an exhausted resource that nobody wants refuses nothing",
        ({"cpu": "4"}, DAEMONS, {"cpu": "3770m", "memory": "1000Mi"}, {"cpu": "4300m"}),
        {"cpu": "3470m"},
        Clamp(ClampOutcome.CLAMPED, (cut("cpu", "4", "3470m", "530m"),)),
    ),
    ("nothing wanted", ({}, DAEMONS, PLANNED, ACTUAL), {}, Clamp()),
]


@pytest.mark.parametrize(
    ("given_", "requests", "outcome"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_clamp(
    given_: tuple[dict[str, str], dict[str, str], dict[str, str] | None, dict[str, str] | None],
    requests: dict[str, str],
    outcome: Clamp,
) -> None:
    wanted, daemons, planned, actual = given_
    assert clamp(
        amounts(wanted),
        amounts(daemons),
        None if planned is None else amounts(planned),
        None if actual is None else amounts(actual),
    ) == (amounts(requests), outcome)


def test_the_shortfall_is_what_is_not_reserved() -> None:
    assert cut("memory", "13600Mi", "13488Mi", "169Mi").shortfall == parse_quantity("112Mi")


resources = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]),
    st.integers(min_value=1, max_value=9).map(parse_quantity),
)


@given(resources, resources, resources, resources)
def test_the_placeholder_never_exceeds_the_limit_nor_the_need(
    wanted: Resources, daemons: Resources, planned: Resources, actual: Resources
) -> None:
    requests, outcome = clamp(wanted, daemons, planned, actual)
    assert requests.keys() == wanted.keys()
    if outcome.outcome is ClampOutcome.REFUSED:
        assert requests == wanted
        return
    for name, amount in requests.items():
        assert 0 < amount <= wanted[name]
        if name in planned:
            assert amount <= planned[name] - daemons.get(name, 0)
        else:
            assert amount == wanted[name]
