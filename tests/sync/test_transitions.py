"""Transitions are told and counted once: by repeats, by replicas, and while the Event API fails."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic

import pytest
from structlog.testing import capture_logs

from hooks import names
from hooks.cluster.connection import connect
from hooks.cluster.credentials import find_access
from hooks.cluster.errors import Unavailable
from hooks.cluster.verbs import EVENT_TIME, Verbs
from hooks.sync.nodepool import NodePoolSync
from hooks.telemetry.metrics import Metrics
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import LONG, Reply, StandIn
from tests.support.folders import Stored, load, names_of_folders, settings_from
from tests.support.live import Json, Live
from tests.sync.test_fixtures import is_told_after
from tests.sync.test_steady import AT_AN_EDGE, counters

UNTROUBLED = [
    name
    for name in names_of_folders()
    if not load(name)["troubles"]["troubles"] and "raises" not in load(name)["response"]
]


def _hook(stored: Stored, live: Live, late: float = 0.0) -> NodePoolSync:
    now = datetime.fromisoformat(stored.now) + timedelta(seconds=late)
    return NodePoolSync(settings_from(stored["settings"]), live.within, lambda: now)


def _live(stored: Stored) -> Live:
    live = Live(stored["live"], stored.now)
    live.events |= {name: {} for name in stored["live"]["events"]}
    return live


def _body(stored: Stored) -> bytes:
    return json.dumps(stored["request"]).encode()


def _sum(*hooks: NodePoolSync) -> Counter[str]:
    """The counters of several processes, as `sum` of a dashboard takes them."""
    total: Counter[str] = Counter()
    for line in (line for hook in hooks for line in counters(hook)):
        series, _, value = line.rpartition(" ")
        total[series] += int(float(value))
    return +total


def _events(live: Live) -> list[Json]:
    return [write for write in live.writes if "event" in write]


@pytest.mark.parametrize("name", sorted(set(UNTROUBLED) - AT_AN_EDGE))
def test_a_repeated_request_tells_and_counts_nothing(name: str) -> None:
    stored = load(name)
    live = _live(stored)
    hook = _hook(stored, live)
    hook(_body(stored), deadline=0.0)
    events, counted = _events(live), counters(hook)
    with capture_logs() as lines:
        hook(_body(stored), deadline=0.0)
    assert (lines, _events(live), counters(hook)) == ([], events, counted)


@pytest.mark.parametrize("name", sorted(set(UNTROUBLED) - AT_AN_EDGE))
def test_two_replicas_count_one_request_once(name: str) -> None:
    stored = load(name)
    live = _live(stored)
    first, second = _hook(stored, live), _hook(stored, live, late=0.5)
    first(_body(stored), deadline=0.0)
    events, counted = _events(live), _sum(first)
    second(_body(stored), deadline=0.0)
    assert (_events(live), _sum(first, second)) == (events, counted)


@pytest.mark.parametrize("name", UNTROUBLED)
def test_a_failing_event_api_changes_neither_answer_nor_counters(name: str) -> None:
    stored = load(name)
    well, ill = _live(stored), _live(stored)

    def fail(verb: str, _name: str) -> None:
        if verb == "create events":
            raise Unavailable("no answer in time")

    ill.fault = fail
    if stored["live"]["events"]:
        # Whether an Event is there already can't be known then: it counts (design, *Counting*).
        well.events.clear()
    one, other = _hook(stored, well), _hook(stored, ill)
    assert one(_body(stored), deadline=0.0) == other(_body(stored), deadline=0.0)
    assert [write for write in well.writes if "event" not in write] == ill.writes
    assert counters(one) == counters(other)


def test_a_hanging_event_api_holds_a_pass_up_for_a_second_and_soon_no_more(tmp_path: Path) -> None:
    stored = load("warns-arrival")
    server = StandIn()
    server.put("/api/v1/nodes", *stored["live"]["nodes"].values())
    server.rules.append(lambda seen: Reply(201, {}, wait=LONG) if seen.method == "POST" else None)
    connection = connect(find_access(kubeconfig(tmp_path, server.url, {})))
    now = datetime.fromisoformat(stored.now)
    hook = NodePoolSync(settings_from({}), Verbs(connection).within, lambda: now)
    tried = []
    begin = monotonic()
    for _ in range(3):
        answer = hook(_body(stored), deadline=begin + LONG / 2)
        tried.append(len(server.writes()))
        assert json.loads(answer) == stored["response"]
    took = monotonic() - begin
    server.stop()
    assert tried == [1, 2, 2]
    # A second for each: as much as one Event may take, and no more.
    assert 2 * EVENT_TIME <= took < LONG / 4


def test_a_thousand_pools_come_and_go_without_leaving_series_behind() -> None:
    stored = load("karpenter-drains")
    clock = [0.0]
    hook = _hook(stored, _live(stored))
    hook.metrics = Metrics(lambda: clock[0])
    before = hook.metrics.exposition()
    for number in range(1000):
        stored["request"]["object"]["metadata"]["name"] = f"pool-{number}"
        hook(_body(stored), deadline=0.0)
    assert hook.metrics.exposition().count(b"noderotation_in_progress{") == 1000
    clock[0] = 600.0
    assert hook.metrics.exposition() == before


def test_each_event_is_of_a_kind_and_type_that_the_names_know_and_all_are_seen() -> None:
    seen = set()
    for name in names_of_folders():
        for write in load(name)["writes"]:
            if "event" in write:
                kind = write["event"].rpartition("/")[2]
                normal = write["reason"] in names.NORMAL_EVENTS
                assert write["type"] == ("Normal" if normal else "Warning"), name
                seen.add((write["reason"], kind))
    known = {(reason, kind) for reason, kinds in names.EVENTS.items() for kind in kinds}
    assert seen == known


OUTCOMES = {
    "RotationCompleted": 'noderotation_completed_total{nodepool="api",outcome="success"}',
    "RotationFailed": 'noderotation_completed_total{nodepool="api",outcome="failure"}',
    "RotationExpired": 'noderotation_completed_total{nodepool="api",outcome="expired"}',
    "ForcefulFallback": 'noderotation_forceful_fallback_total{nodepool="api"}',
}
"""What an Event counts, in words of their own."""


@pytest.mark.parametrize("name", UNTROUBLED)
def test_what_counts_is_what_was_announced(name: str) -> None:
    stored = load(name)
    hook = _hook(stored, _live(stored))
    hook(_body(stored), deadline=0.0)
    told = Counter(OUTCOMES[write["reason"]] for write in stored["writes"]
                   if write.get("reason") in OUTCOMES)  # fmt: skip
    counted = _sum(hook)
    assert {series: counted[series] for series in OUTCOMES.values() if counted[series]} == told
    phases = {series for series in counted if "duration_seconds_count" in series}
    assert {counted[series] for series in phases} <= {1}


def test_no_other_write_comes_after_what_is_only_told() -> None:
    for name in names_of_folders():
        writes = load(name)["writes"]
        after = [is_told_after(write) for write in writes]
        assert after == sorted(after), name
