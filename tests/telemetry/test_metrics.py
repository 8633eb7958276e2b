"""What /metrics shows: names, labels and buckets, what counts, and whose series go."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hooks import names
from hooks.drain.reasons import Outcome
from hooks.rotation.decision import Decision, Figures
from hooks.rotation.model import Malformed
from hooks.rotation.outcomes import DRAIN, EXPIRED, FAILURE, FALLBACK, NOTHING, SUCCESS, SURGE_WAIT
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import Announce
from hooks.telemetry.drains import Rollouts
from hooks.telemetry.gauges import gauges
from hooks.telemetry.metrics import Metrics

NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)
WHOLE = Figures(
    candidates=3,
    in_progress=True,
    window_active=True,
    conflict=True,
    freeze_until=NOW,
    age_threshold=timedelta(hours=2),
    chances=2,
    capacity=15,
    t_rot_est=timedelta(minutes=7),
    t_rot=timedelta(minutes=9),
    period=timedelta(days=1),
    short_lead=4,
    drain_stuck=True,
    retry_count=5,
    next_window=NOW + timedelta(hours=1),
    slack=timedelta(seconds=-30),
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def event(name: str, outcome: str, *durations: tuple[str, timedelta]) -> Announce:
    return Announce(name, "Reason", outcome, warning=False, kind="NodePool", regarding="api",
                    regarding_uid="uid", note="", at=NOW, durations=durations)  # fmt: skip


def told(*announcements: Announce) -> Decision:
    return Decision("9", Reason.ROTATION_COMPLETED, announcements=announcements)


def shown(metrics: Metrics) -> list[Any]:
    return list(text_string_to_metric_families(metrics.exposition().decode()))


def samples(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    """The series of one metric: values of labels in their order, a bucket's bound last, to value."""
    metric = next(metric for metric in names.METRICS_OF_HOOKS if name.startswith(metric.name))
    labels = (*metric.labels, "le") if name.endswith("_bucket") else metric.labels
    return {
        tuple(sample.labels[label] for label in labels): sample.value
        for family in shown(metrics)
        for sample in family.samples
        if sample.name == name
    }


def busy() -> Metrics:
    """Metrics that have seen one of everything."""
    metrics = Metrics(Clock())
    metrics.show("api", WHOLE, Reason.DRAIN_STUCK)
    ends = event("e", SUCCESS, (SURGE_WAIT, timedelta(seconds=30)), (DRAIN, timedelta(hours=5)))
    metrics.count("api", told(ends), {"e"})
    metrics.answered("/sync/nodepool", 200, 0.02, 5000)
    metrics.called("get", "nodes", "ok")
    rollouts = Rollouts()
    rollouts.ended(Outcome.COMPLETED, timedelta(seconds=20))
    metrics.add(rollouts)
    return metrics


def test_what_is_exported_is_what_names_says() -> None:
    full = {m.name.removesuffix("_total"): m for m in names.METRICS_OF_HOOKS}
    assert {(family.name, family.type, family.documentation) for family in shown(busy())} == {
        (name, metric.kind, metric.meaning) for name, metric in full.items()
    }
    for family in shown(busy()):
        labels = {frozenset(sample.labels) for sample in family.samples}
        metric = full[family.name]
        plain = frozenset(metric.labels)
        assert labels == ({plain, plain | {"le"}} if metric.kind == "histogram" else {plain})


def test_nothing_but_that_is_exported() -> None:
    suffixes = ("_bucket", "_count", "_sum")
    known = {metric.name for metric in names.METRICS_OF_HOOKS}
    histograms = {m.name + end for m in names.METRICS_OF_HOOKS if m.kind == "histogram"
                  for end in suffixes}  # fmt: skip
    sampled = {sample.name for family in shown(busy()) for sample in family.samples}
    assert sampled <= known | histograms


def test_each_gauge_has_its_figure() -> None:
    assert {metric.name: value for metric, value in gauges(WHOLE).items()} == {
        "noderotation_candidates": 3,
        "noderotation_in_progress": 1,
        "noderotation_window_active": 1,
        "noderotation_policy_conflict": 1,
        "noderotation_freeze_until_timestamp": NOW.timestamp(),
        "noderotation_age_threshold_seconds": 7200,
        "noderotation_rotation_chances": 2,
        "noderotation_throughput_capacity": 15,
        "noderotation_t_rot_estimate_seconds": 420,
        "noderotation_t_rot_bound_seconds": 540,
        "noderotation_window_period_seconds": 86400,
        "noderotation_short_lead_nodes": 4,
        "noderotation_drain_stuck": 1,
        "noderotation_retry_count": 5,
        "noderotation_next_window_timestamp": NOW.timestamp() + 3600,
        "noderotation_deadline_slack_seconds": -30,
    }
    assert tuple(gauges(WHOLE)) == names.POOL_GAUGES


def test_what_there_is_not_is_zero_and_an_unreadable_freeze_has_no_end() -> None:
    assert set(gauges(Figures()).values()) == {0}
    assert gauges(replace(WHOLE, freeze_until=Malformed("?")))[names.FREEZE_UNTIL] == float("inf")


def test_gauges_are_of_the_last_pass_and_one_reason_is_present() -> None:
    metrics = busy()
    assert samples(metrics, "noderotation_reason") == {("api", "DrainStuck"): 1}
    metrics.show("api", Figures(), Reason.NO_CANDIDATE)
    assert samples(metrics, "noderotation_reason") == {("api", "NoCandidate"): 1}
    assert samples(metrics, "noderotation_candidates") == {("api",): 0}


def test_a_pool_whose_passes_all_fail_has_no_gauges_yet() -> None:
    metrics = Metrics(Clock())
    metrics.heard("api")
    assert samples(metrics, "noderotation_in_progress") == {}
    assert samples(metrics, "noderotation_forceful_fallback_total") == {("api",): 0}


def test_only_what_is_counted_counts() -> None:
    metrics = Metrics(Clock())
    events = (event("a", SUCCESS), event("b", FAILURE), event("c", EXPIRED), event("d", FALLBACK),
              event("e", NOTHING), event("f", FAILURE))  # fmt: skip
    metrics.count("api", told(*events), {"a", "b", "d", "e", "f"})
    inline = Decision("12", Reason.ROTATION_FAILED, writes=(event("g", FAILURE),))
    metrics.count("api", inline, {"g"})
    metrics.count("web", told(event("h", EXPIRED)), frozenset())
    assert samples(metrics, "noderotation_completed_total") == {
        ("api", "success"): 1,
        ("api", "failure"): 3,
        ("api", "expired"): 0,
        ("web", "success"): 0,
        ("web", "failure"): 0,
        ("web", "expired"): 0,
    }
    assert samples(metrics, "noderotation_forceful_fallback_total") == {("api",): 1, ("web",): 0}


def test_phases_are_counted_in_buckets_that_double_from_thirty_seconds() -> None:
    buckets = samples(busy(), "noderotation_duration_seconds_bucket")
    bounds = [le for _, phase, le in buckets if phase == "drain"]
    assert bounds == ["30.0", "60.0", "120.0", "240.0", "480.0", "960.0", "1920.0", "3840.0",
                      "7680.0", "15360.0", "+Inf"]  # fmt: skip
    assert [value for (_, phase, _), value in buckets.items() if phase == "surge_wait"] == [1] * 11
    assert [value for (_, phase, _), value in buckets.items() if phase == "drain"] == [0] * 10 + [1]
    assert samples(busy(), "noderotation_duration_seconds_sum") == {
        ("api", "surge_wait"): 30,
        ("api", "drain"): 18000,
    }


def test_a_hook_is_measured_by_status_and_by_size_where_there_is_a_body() -> None:
    metrics = busy()
    metrics.answered("/sync/nodepool", 401, 0.5, None)
    assert samples(metrics, "noderotation_hook_duration_seconds_count") == {
        ("/sync/nodepool", "200"): 1,
        ("/sync/nodepool", "401"): 1,
    }
    assert samples(metrics, "noderotation_hook_request_bytes_sum") == {("/sync/nodepool",): 5000}


@pytest.mark.parametrize(("silent", "kept"), [(599.0, ["api"]), (600.0, [])])
def test_a_pool_that_is_silent_for_ten_resync_periods_loses_all_its_series(
    silent: float, kept: list[str]
) -> None:
    clock = Clock()
    metrics = Metrics(clock)
    metrics.show("api", WHOLE, Reason.FROZEN)
    metrics.count("api", told(event("a", SUCCESS, (DRAIN, timedelta(0)))), {"a"})
    clock.now = silent
    pools = {sample.labels["nodepool"] for family in shown(metrics) for sample in family.samples}
    assert sorted(pools) == kept


def test_a_pool_that_is_heard_of_keeps_its_counters_though_its_passes_fail() -> None:
    clock = Clock()
    metrics = Metrics(clock)
    metrics.count("api", told(event("a", SUCCESS)), {"a"})
    for _ in range(20):
        clock.now += 300
        metrics.heard("api")
    assert samples(metrics, "noderotation_completed_total")["api", "success"] == 1


def test_a_thousand_pools_come_and_go_without_leaving_series_behind() -> None:
    clock = Clock()
    metrics = Metrics(clock)
    before = len(metrics.exposition())
    for number in range(1000):
        pool = f"pool-{number}"
        metrics.show(pool, WHOLE, Reason.FROZEN)
        metrics.count(pool, told(event("a", FAILURE, (DRAIN, timedelta(0)))), {"a"})
        clock.now += 1
    # Also when nobody asks: a new pool makes those that are gone be forgotten.
    assert len(samples(metrics, "noderotation_reason")) == 599
    clock.now += 600
    assert len(metrics.exposition()) == before


def test_a_process_without_a_scraper_forgets_too() -> None:
    clock = Clock()
    metrics = Metrics(clock)
    for number in range(3):
        metrics.show(f"pool-{number}", WHOLE, Reason.FROZEN)
        clock.now += 600
    clock.now -= 599
    assert sorted(samples(metrics, "noderotation_reason")) == [("pool-2", "Frozen")]
