"""What goes on and on: no writes, no reads, no lines; and what the hook keeps in mind meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from hooks import names
from hooks.sync.nodepool import NodePoolSync
from tests.support.folders import load, names_of_folders, run, settings_from
from tests.support.live import Live
from tests.support.scene import idle, named, pending, where
from tests.support.world import NOW, World, node, nodeclaim, placeholder

QUIET = [
    "backing-off",
    "cooling-down",
    "excluded-for-twenty-seconds-more",
    "everything-is-suspended",
    "fatal-no-age-left",
    "freeze-is-unreadable",
    "frozen-while-the-placeholder-runs",
    "karpenter-drains",
    "never-expires",
    "no-policy-at-all",
    "policy-is-suspended",
    "too-young",
    "two-policies-tie",
    "unschedulable",
    "waits-for-a-node",
    "window-has-just-closed",
]
"""Fixtures of worlds in which nothing is to do before something changes."""


@pytest.mark.parametrize("name", QUIET)
def test_a_steady_state_makes_no_call_but_for_its_events(name: str) -> None:
    outcome = run(load(name))
    assert outcome.reads == []
    assert [write for write in outcome.writes if "event" not in write] == []
    assert "annotations" not in outcome.response


AT_AN_EDGE = {
    "karpenter-drains-for-tgp-and-buffer",
    "more-than-one-pass-can-read",
    "not-created-yet",
}
"""Fixtures of the last moment before something is told."""


def counters(hook: NodePoolSync) -> list[str]:
    """All series of a hook that only ever grow."""
    shown = hook.metrics.exposition().decode().splitlines()
    series = [line for line in shown if not line.startswith("#")]
    return [line for line in series if "_total{" in line or "_duration_seconds" in line]


def _steady() -> list[str]:
    """Fixtures whose pass changes nothing, so that the next one sees the same world."""
    stored = [load(name) for name in names_of_folders()]
    return [
        each.name
        for each in stored
        if each.name not in AT_AN_EDGE
        and all("event" in write for write in each["writes"])
        and not each["troubles"]["troubles"]
        and not each["response"].get("raises")
        and not each["response"].get("annotations")
    ]


@pytest.mark.parametrize("name", _steady())
def test_the_same_is_not_told_again(name: str) -> None:
    stored = load(name)
    now = datetime.fromisoformat(stored.now)
    live = Live(stored["live"], stored.now)
    times = iter((now, now + timedelta(seconds=1)))
    hook = NodePoolSync(settings_from(stored["settings"]), live.within, lambda: next(times))
    body = json.dumps(stored["request"]).encode()
    hook(body, deadline=0.0)
    told, counted = len(live.writes), counters(hook)
    with capture_logs() as lines:
        hook(body, deadline=0.0)
    assert (lines, live.writes[told:], counters(hook)) == ([], [], counted)


def test_the_next_pass_goes_on_behind_those_that_the_first_could_read() -> None:
    """Whatever is wrong with the first hundred, the one behind them gets its turn."""
    stored = load("more-than-one-pass-can-read")
    now = datetime.fromisoformat(stored.now)
    live = Live(stored["live"], stored.now)
    hook = NodePoolSync(settings_from(stored["settings"]), live.within, lambda: now)
    body = json.dumps(stored["request"]).encode()
    hook(body, deadline=0.0)
    first = [read for read in live.reads if read.startswith("get nodes ")]
    live.reads.clear()
    hook(body, deadline=0.0)
    second = [read for read in live.reads if read.startswith("get nodes ")]
    assert (len(first), len(second)) == (100, 1)
    assert second[0] not in first


def test_a_census_of_several_passes_is_told_once_and_whole() -> None:
    """Told in parts, it would change at each pass, three lines a minute for as long as they last."""
    crowd = [f"old-{number:03}" for number in range(250)]
    world = idle()
    world.claims = [nodeclaim(name) for name in crowd]
    world.nodes = [node(name, {names.DO_NOT_DISRUPT: "true"}) for name in crowd]
    live = Live(world.live())
    now = start = datetime.fromisoformat(NOW)
    hook = NodePoolSync(settings_from({}), live.within, lambda: now)
    body = json.dumps(world.request()).encode()
    passes = 0
    with capture_logs() as lines:
        while now < start + timedelta(minutes=5):
            answer = json.loads(hook(body, deadline=0.0))
            now += timedelta(seconds=answer["resyncAfterSeconds"])
            passes += 1
    assert [line["passed_over"] for line in lines] == [{"optedOut": 250}]
    assert passes == 15


def _frozen_at_first(world: World) -> World:
    world.pool["metadata"]["annotations"][names.FREEZE] = "2030-01-01T00:00:00Z"
    return world


def _on_the_candidate(world: World) -> World:
    world.pods.append(placeholder("old", "Running", "old"))
    return world


@pytest.mark.parametrize("first", [_frozen_at_first, _on_the_candidate])
def test_a_placeholder_that_was_not_listed_was_not_refused(first: Callable[[World], World]) -> None:
    """A freeze that is lifted early leaves no trace, nor does a placeholder that was dropped."""
    now = start = datetime.fromisoformat(NOW)
    live = Live(pending().live())
    hook = NodePoolSync(settings_from({}), live.within, lambda: now)
    told = []
    for seconds, world in ((0, first(pending())), (2, pending()), (30, pending()), (31, pending())):
        now = start + timedelta(seconds=seconds)
        hook(json.dumps(world.request()).encode(), deadline=0.0)
        told.append([write["reason"] for write in live.writes if "event" in write][1:])
    assert told == [[], [], [], ["SurgeNotCreated"]]


def test_an_opt_out_is_remembered_for_a_minute() -> None:
    """Reading each opted-out Node again on every pass would be a flood of reads."""
    world = where(idle(), lambda w: named(w.nodes, "node-old")["metadata"]["annotations"].update(
        {names.DO_NOT_DISRUPT: "true"}))  # fmt: skip
    live = Live(world.live())
    start = datetime.fromisoformat("2026-11-29T20:00:00Z")
    clock = [start]
    hook = NodePoolSync(settings_from({}), live.within, lambda: clock[0])

    def reads(after: timedelta) -> list[str]:
        clock[0] = start + after
        live.reads.clear()
        answer = json.loads(hook(json.dumps(world.request()).encode(), deadline=0.0))
        assert "annotations" not in answer
        return list(live.reads)

    assert reads(timedelta(0)) == ["get nodes node-old"]
    assert reads(timedelta(seconds=59)) == []
    assert reads(timedelta(seconds=60)) == ["get nodes node-old"]
    del live.objects["nodes"]["node-old"]["metadata"]["annotations"][names.DO_NOT_DISRUPT]
    assert reads(timedelta(seconds=119)) == []
    clock[0] = start + timedelta(seconds=120)
    answer = json.loads(hook(json.dumps(world.request()).encode(), deadline=0.0))
    assert answer["annotations"][names.ACTIVE_ROTATION] == "old"
