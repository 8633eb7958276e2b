"""Which lost placeholder is Kubernetes' own mistake, and what is compared then."""

from __future__ import annotations

from tests.scenarios.evicted import TAINT_MANAGER, evicted, never_evicted
from tests.scenarios.plot import Compared, compare, differences, plot
from tests.verdict.tales import (
    GOOD,
    POOL,
    Tale,
    also,
    deleted,
    mirrored,
    placeholder_created,
    placeholder_gone,
    placeholder_running,
    told,
)

PLACEHOLDER = "noderotation-surge-old"


def told_to_go(tale: Tale) -> None:
    why = {"type": "DisruptionTarget", "status": "True", "reason": TAINT_MANAGER}
    tale.put("Pod", PLACEHOLDER, status={"phase": "Running", "conditions": [why]})


def by_mistake(tale: Tale) -> None:
    told_to_go(tale)
    placeholder_gone(tale)
    placeholder_created(tale)
    placeholder_running(tale)


def by_its_taint(tale: Tale) -> None:
    """The host is tainted indeed."""
    tale.put("Node", "new", spec={"taints": [{"key": "any", "effect": "NoExecute"}]})
    by_mistake(tale)


def by_somebody(tale: Tale) -> None:
    placeholder_gone(tale)
    placeholder_created(tale)
    placeholder_running(tale)


def late(tale: Tale) -> None:
    """The rotation has gone on, and has to go back."""
    by_mistake(tale)
    tale.annotate("NodePool", POOL, active_rotation_state=None)
    mirrored(tale)


def test_it_is_as_if_the_first_one_had_been_bound_later() -> None:
    real = told(*also(by_mistake, before=mirrored))
    assert [len(each) for each in evicted(real, POOL).values()] == [1]
    assert plot(never_evicted(real, POOL), POOL) == plot(told(*GOOD), POOL)
    assert compare("any", real, told(*GOOD)) == Compared((), in_full=True)


def test_it_may_happen_twice() -> None:
    before = GOOD[: GOOD.index(mirrored)]
    real = told(*before, by_mistake, by_mistake, *GOOD[len(before) :])
    assert [len(each) for each in evicted(real, POOL).values()] == [2]
    assert compare("any", real, told(*GOOD)) == Compared((), in_full=True)


def test_what_had_gone_on_is_cut_before_its_anchor() -> None:
    real = told(*also(late, before=deleted))
    assert compare("any", real, told(*GOOD)) == Compared((), in_full=False)


def test_a_taint_that_is_there_is_no_mistake() -> None:
    real = told(*also(by_its_taint, before=mirrored))
    assert evicted(real, POOL) == {}
    assert never_evicted(real, POOL) == real
    assert differences("any", real, told(*GOOD)) != []


def test_who_else_deletes_it_makes_a_difference() -> None:
    assert differences("any", told(*also(by_somebody, before=mirrored)), told(*GOOD)) != []


def test_one_that_isn_t_created_again_is_a_difference() -> None:
    steps = (*GOOD[: GOOD.index(mirrored)], told_to_go, placeholder_gone)
    assert differences("any", told(*steps), told(*GOOD)) != []
