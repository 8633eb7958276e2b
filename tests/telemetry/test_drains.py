"""What is counted of graceful drains."""

from __future__ import annotations

from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from hooks.cluster import errors
from hooks.cluster.drain import DrainApi
from hooks.drain.reasons import Answer, Outcome, Reason
from hooks.telemetry.drains import ROLLOUT_BOUNDS, CountedDrain, Evictions, Rollouts
from hooks.telemetry.metrics import Metrics
from tests.support.live import Json
from tests.support.singleton import cluster, deployment, evicted, replica_set
from tests.support.singletonlive import SingletonLive
from tests.telemetry.test_metrics import samples

EVENT = {"metadata": {"name": "e"}, "reason": "R", "type": "Normal", "note": "",
         "regarding": {"kind": "Deployment", "name": "single"}}  # fmt: skip


def series(collector: Collector, name: str) -> dict[tuple[str, ...], float]:
    metrics = Metrics()
    metrics.add(collector)
    return {
        tuple(sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
        if sample.name == name
    }


def test_each_answer_is_counted_by_its_reason_and_begins_with_zero() -> None:
    evictions = Evictions()
    before = series(evictions, "gracefuldrain_evictions_total")
    denials = {"PodNotRead", "IsSuccessor", "RolloutInProgress", "RolloutAdopted",
               "RolloutRequested"}  # fmt: skip
    assert before == {
        # Those of a Pod that can't be read are let through after a while.
        ("allow", "PodNotRead"): 0,
        **{("deny" if reason in denials else "allow", reason.value): 0 for reason in Reason},
    }
    evictions.answered(Answer.DENY, Reason.ROLLOUT_REQUESTED)
    evictions.answered(Answer.DENY, Reason.ROLLOUT_IN_PROGRESS)
    evictions.answered(Answer.DENY, Reason.ROLLOUT_IN_PROGRESS)
    # After a while of failing reads it is allowed.
    evictions.answered(Answer.ALLOW, Reason.POD_NOT_READ)
    after = series(evictions, "gracefuldrain_evictions_total")
    assert {labels: value for labels, value in after.items() if value} == {
        ("deny", "RolloutRequested"): 1,
        ("deny", "RolloutInProgress"): 2,
        ("allow", "PodNotRead"): 1,
    }


def test_each_end_is_counted_and_begins_with_zero() -> None:
    rollouts = Rollouts()
    assert series(rollouts, "gracefuldrain_rollouts_total") == {(one.value,): 0 for one in Outcome}
    rollouts.ended(Outcome.COMPLETED, timedelta(seconds=20))
    rollouts.ended(Outcome.TIMEOUT, timedelta(minutes=10))
    rollouts.ended(Outcome.SCALED, None)
    shown = series(rollouts, "gracefuldrain_rollouts_total")
    assert {labels for labels, value in shown.items() if value} == {
        ("completed",),
        ("timeout",),
        ("scaled",),
    }


def test_only_what_was_completed_has_a_duration() -> None:
    rollouts = Rollouts()
    name = "gracefuldrain_rollout_duration_seconds"
    assert series(rollouts, f"{name}_count") == {(): 0}
    rollouts.ended(Outcome.COMPLETED, timedelta(seconds=20))
    rollouts.ended(Outcome.COMPLETED, None)
    rollouts.ended(Outcome.TIMEOUT, timedelta(minutes=10))
    assert series(rollouts, f"{name}_count") == {(): 1}
    assert series(rollouts, f"{name}_sum") == {(): 20}
    buckets = series(rollouts, f"{name}_bucket")
    assert buckets["10.0",] == 0
    assert buckets["20.0",] == buckets["+Inf",] == 1
    assert (ROLLOUT_BOUNDS[0], ROLLOUT_BOUNDS[-1]) == (5, 2560)


def counted(live: SingletonLive) -> tuple[DrainApi, Metrics]:
    metrics = Metrics()
    return CountedDrain(live, metrics).within(0.0).briefly(1.0), metrics


def test_every_verb_is_counted_by_its_resource() -> None:
    api, metrics = counted(SingletonLive(cluster(evicted(), replica_set(), deployment())))
    assert api.get_pod("default", "single-6d6cd94fd5-sjv82") is not None
    assert api.get_replicaset("default", "single-6d6cd94fd5") is not None
    assert api.get_deployment("default", "single") is not None
    assert api.get_deployment("default", "gone") is None
    api.patch_deployment("default", "single", [])
    assert [api.create_event("default", EVENT), api.create_event("default", EVENT)] == [True, False]
    assert samples(metrics, "noderotation_api_calls_total") == {
        ("get", "pods", "ok"): 1,
        ("get", "replicasets", "ok"): 1,
        ("get", "deployments", "ok"): 1,
        ("get", "deployments", "notFound"): 1,
        ("patch", "deployments", "ok"): 1,
        ("create", "events", "ok"): 1,
        ("create", "events", "alreadyExists"): 1,
    }


def test_a_patch_that_was_lost_is_a_conflict() -> None:
    api, metrics = counted(SingletonLive(cluster(deployment())))
    stale: list[Json] = [{"op": "test", "path": "/metadata/resourceVersion", "value": "old"}]
    with pytest.raises(errors.Conflict):
        api.patch_deployment("default", "single", stale)
    assert samples(metrics, "noderotation_api_calls_total") == {
        ("patch", "deployments", "conflict"): 1
    }
