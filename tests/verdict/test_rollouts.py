"""One rollout for each Pod at most, and none that is never over."""

from __future__ import annotations

from hooks.verdict.case import Case
from hooks.verdict.rollouts import one_rollout_each, tracking_ends
from tests.verdict.tales import POOL, Tale

PREFIX = "graceful-drain.stonal.com/"
AGAIN = "Deployment shop/till was rolled out again for Pod a"


def annotate(tale: Tale, name: str = "till", **annotations: str) -> None:
    """The Deployment has exactly these of our annotations."""
    ours = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    tale.put("Deployment", name, metadata={"namespace": "shop", "annotations": ours})


def test_each_pod_may_have_its_rollout() -> None:
    tale = Tale()
    annotate(tale, last_pod_uid="a")
    annotate(tale, last_pod_uid="a", rolled_for="1")
    annotate(tale, last_pod_uid="a", rolled_for="1", restarted_at="1")
    annotate(tale, last_pod_uid="b", rolled_for="1")
    annotate(tale, last_pod_uid="b", rolled_for="2")
    annotate(tale, "other", last_pod_uid="a", rolled_for="2")
    tale.put("Pod", "till-1")
    assert one_rollout_each(Case(tale.changes, POOL)) == []


def test_a_second_one_for_the_same_pod_is_one_too_many() -> None:
    tale = Tale()
    annotate(tale, last_pod_uid="a", rolled_for="1")
    annotate(tale, last_pod_uid="b", rolled_for="2")
    annotate(tale, last_pod_uid="a", rolled_for="3")
    assert one_rollout_each(Case(tale.changes, POOL)) == [AGAIN]


def test_a_marker_without_a_pod_is_nobodys() -> None:
    tale = Tale()
    annotate(tale, rolled_for="1")
    annotate(tale, rolled_for="2")
    assert one_rollout_each(Case(tale.changes, POOL)) == []


def test_tracking_has_to_end() -> None:
    tale = Tale()
    tale.put("NodePool", POOL)
    annotate(tale, restarted_at="1")
    told = ["at the end: Deployment shop/till is still tracked"]
    assert tracking_ends(Case(tale.changes, POOL)) == told
    annotate(tale, rolled_for="1")
    assert tracking_ends(Case(tale.changes, POOL)) == []


def test_a_deployment_that_is_gone_is_not_tracked() -> None:
    tale = Tale()
    annotate(tale, restarted_at="1")
    tale.gone("Deployment", "till")
    assert tracking_ends(Case(tale.changes, POOL)) == []
