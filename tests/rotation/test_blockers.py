"""Who holds up a drain: Karpenter's and the eviction API's rules, one by one, on values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hooks.rotation.blockers import blockers, endless, listed, progress
from hooks.rotation.model import Budget, Malformed, Pod, Requirement, Selector

NOW = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
READY = (("Ready", "True", ""),)
WEB = Pod(
    "web-1", "shop", labels={"app": "web"}, phase="Running", conditions=READY,
    started=NOW - 30 * MINUTE, controller_kind="ReplicaSet",
)  # fmt: skip
HELD = Budget("web", "shop", Selector((("app", "web"),)))
BY_WEB = ("shop/web-1 (budget web)",)
KEPT = "karpenter.sh/do-not-disrupt"


def _expression(operator: str, *values: str) -> Selector:
    return Selector(match_expressions=(Requirement("app", operator, values),))


@pytest.mark.parametrize(
    ("budget", "held"),
    [
        (HELD, BY_WEB),
        (replace(HELD, allowed=1), ()),
        (replace(HELD, allowed=-1), BY_WEB),
        (replace(HELD, namespace="bank"), ()),
        (replace(HELD, selector=Selector((("app", "api"),))), ()),
        (replace(HELD, selector=Selector((("app", "web"), ("tier", "front")))), ()),
        (replace(HELD, selector=_expression("In", "web", "api")), BY_WEB),
        (replace(HELD, selector=_expression("NotIn", "web")), ()),
        (replace(HELD, selector=_expression("Exists")), BY_WEB),
        (replace(HELD, selector=_expression("DoesNotExist")), ()),
        (replace(HELD, selector=Selector()), BY_WEB),
        (replace(HELD, selector=None), ()),
        # Either of these lets only such Pods pass as aren't ready.
        (replace(HELD, always_evicts_unhealthy=True), BY_WEB),
        (replace(HELD, enough_healthy=True), BY_WEB),
    ],
)
def test_a_budget(budget: Budget, held: tuple[str, ...]) -> None:
    assert blockers((WEB,), (budget,), NOW) == held


@pytest.mark.parametrize("conditions", [(), (("Ready", "False", ""), ("PodScheduled", "True", ""))])
def test_a_budget_over_a_pod_that_is_not_ready(
    conditions: tuple[tuple[str, str, str], ...],
) -> None:
    pod = replace(WEB, conditions=conditions)
    assert blockers((pod,), (HELD,), NOW) == BY_WEB
    assert blockers((pod,), (replace(HELD, enough_healthy=True),), NOW) == ()
    assert blockers((pod,), (replace(HELD, always_evicts_unhealthy=True),), NOW) == ()


def test_no_budget_is_asked_about_a_pod_that_has_not_begun() -> None:
    pod = replace(WEB, phase="Pending", conditions=())
    assert blockers((pod,), (HELD, replace(HELD, name="all")), NOW) == ()


def test_a_pod_with_several_budgets_can_not_be_evicted_whatever_they_allow() -> None:
    free = [replace(HELD, name=name, allowed=5) for name in ("d", "c", "b", "a")]
    assert blockers((WEB,), free[2:], NOW) == (
        "shop/web-1 (2 budgets at once, a and b: no Pod of several can be evicted)",
    )
    assert blockers((WEB,), free, NOW) == (
        "shop/web-1 (4 budgets at once, a and b and c: no Pod of several can be evicted)",
    )
    elsewhere = replace(HELD, namespace="bank")
    assert blockers((WEB,), (replace(HELD, allowed=1), elsewhere), NOW) == ()


@pytest.mark.parametrize(
    ("text", "started", "hold"),
    [
        (None, WEB.started, ""),
        ("true", WEB.started, KEPT),
        ("true", None, KEPT),
        # Karpenter takes anything else for a duration, and what it can't read for nothing.
        ("false", WEB.started, ""),
        ("True", WEB.started, ""),
        ("", WEB.started, ""),
        ("1d", WEB.started, ""),
        ("0", WEB.started, ""),
        ("-1h", WEB.started, ""),
        ("31m", WEB.started, f"{KEPT} until 2026-11-29T20:01:00Z"),
        ("30m1s", WEB.started, f"{KEPT} until 2026-11-29T20:00:01Z"),
        ("30m", WEB.started, ""),
        ("29m", WEB.started, ""),
        ("87600h", WEB.started, f"{KEPT} until 2036-11-26T19:30:00Z"),
        # Without a readable start Karpenter leaves the Pod alone.
        ("5m", None, f"{KEPT} for 5m from its start"),
        ("5m", Malformed("then"), f"{KEPT} for 5m from its start"),
    ],
)
def test_do_not_disrupt(text: str | None, started: datetime | None, hold: str) -> None:
    pod = replace(WEB, do_not_disrupt=text, started=started)
    assert blockers((pod,), (), NOW) == ((f"shop/web-1 ({hold})",) if hold else ())


def test_all_that_holds_a_pod_is_told() -> None:
    pod = replace(WEB, do_not_disrupt="true")
    assert blockers((pod,), (HELD,), NOW) == (f"shop/web-1 ({KEPT}, budget web)",)


@pytest.mark.parametrize(
    ("ends_by", "held"),
    [
        (NOW - MINUTE, ("shop/web-1 (terminating, its grace ended at 2026-11-29T19:59:00Z)",)),
        (NOW, ()),
        (NOW + MINUTE, ()),
        (None, ()),
        (Malformed("soon"), ()),
    ],
)
def test_a_terminating_pod_is_held_by_nothing_but_itself(
    ends_by: datetime | None, held: tuple[str, ...]
) -> None:
    pod = replace(WEB, deleting=True, ends_by=ends_by, do_not_disrupt="true")
    assert blockers((pod,), (HELD,), NOW) == held


PASSED_OVER = [
    replace(WEB, mirror=True),
    replace(WEB, outlives_drain=True),
    replace(WEB, phase="Succeeded"),
    replace(WEB, phase="Failed"),
]


@pytest.mark.parametrize("pod", PASSED_OVER)
def test_a_drain_does_not_wait_for_these(pod: Pod) -> None:
    assert blockers((replace(pod, do_not_disrupt="true"),), (HELD,), NOW) == ()
    assert endless((replace(pod, do_not_disrupt="true"),)) == ()


def test_karpenter_drains_daemons_too_unless_they_tolerate_its_taint() -> None:
    pod = replace(WEB, controller_kind="DaemonSet", do_not_disrupt="true")
    assert blockers((pod,), (), NOW) == (f"shop/web-1 ({KEPT})",)
    assert blockers((replace(pod, outlives_drain=True),), (), NOW) == ()


def test_the_order_is_by_namespace_and_name() -> None:
    pods = [replace(WEB, name=name, namespace=where) for name, where in (
        ("b", "shop"), ("a", "shop"), ("c", "bank"))]  # fmt: skip
    budgets = [replace(HELD, name="all", namespace=where) for where in ("shop", "bank")]
    expected = ("bank/c (budget all)", "shop/a (budget all)", "shop/b (budget all)")
    assert blockers(pods, budgets, NOW) == expected
    assert blockers(pods[::-1], budgets[::-1], NOW) == expected


@pytest.mark.parametrize(
    ("pod", "never_goes"),
    [
        (replace(WEB, do_not_disrupt="true"), ("shop/web-1",)),
        (replace(WEB, do_not_disrupt="true", deleting=True), ()),
        (replace(WEB, do_not_disrupt="24h"), ()),
        (WEB, ()),
    ],
)
def test_what_never_goes(pod: Pod, never_goes: tuple[str, ...]) -> None:
    assert endless((pod,)) == never_goes


def test_what_is_listed_is_bounded() -> None:
    ten = [f"p{at}" for at in range(10)]
    assert listed([]) == ""
    assert listed(["a", "b"]) == "a; b"
    assert listed(ten) == "p0; p1; p2; p3; p4; p5; p6; p7; p8; p9"
    assert listed([*ten, "x"]) == "p0; p1; p2; p3; p4; p5; p6; p7; p8; p9; and 1 more"
    assert listed([*ten, "x", "y", "z"]).endswith("p9; and 3 more")


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ((), "Drained not begun, VolumesDetached not begun, InstanceTerminating not begun"),
        (
            (("Ready", "True", "Ready"), ("Drained", "Unknown", "Draining")),
            "Drained Unknown (Draining), VolumesDetached not begun, InstanceTerminating not begun",
        ),
        (
            (
                ("InstanceTerminating", "Unknown", ""),
                ("VolumesDetached", "False", "TooLate"),
                ("Drained", "True", "Drained"),
            ),
            "Drained True, VolumesDetached False (TooLate), InstanceTerminating Unknown",
        ),
    ],
)
def test_progress(conditions: tuple[tuple[str, str, str], ...], text: str) -> None:
    assert progress(conditions) == text
