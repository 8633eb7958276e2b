"""Events are created once, and neither their API nor their number holds up a pass."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from typing_extensions import override

from hooks.cluster import herald as module
from hooks.cluster.errors import ClusterError, OutOfTime, Refused, Unavailable
from hooks.cluster.herald import Announced, Herald, event_body
from hooks.rotation.writes import Announce
from tests.support.live import Live

NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)


def event(name: str) -> Announce:
    return Announce(name, "ShortLead", "", warning=True, kind="NodeClaim", regarding="old",
                    regarding_uid="uid", note="why", at=NOW)  # fmt: skip


def raising(error: ClusterError, on: Callable[[str], bool] = bool) -> Callable[[str, str], None]:
    def fault(_verb: str, name: str) -> None:
        if on(name):
            raise error

    return fault


def asked(live: Live) -> list[str]:
    """Names of the Events that are asked for from now on, whatever comes of it."""
    found: list[str] = []
    before = live.fault

    def fault(verb: str, name: str) -> str | None:
        found.append(name)
        return before(verb, name)

    live.fault = fault
    return found


def test_what_was_announced_costs_no_further_call() -> None:
    live, announced = Live({}), Announced()
    calls = asked(live)
    first, again = Herald(live, announced), Herald(live, announced)
    first.tell([event("a"), event("b")])
    again.tell([event("a"), event("b")])
    again.announce(event("a"))
    assert (calls, first.counted, again.counted) == (["a", "b"], {"a", "b"}, set())


def test_a_replica_asks_once_and_counts_nothing() -> None:
    live = Live({})
    calls = asked(live)
    Herald(live, Announced()).tell([event("a")])
    memory = Announced()
    other = Herald(live, memory)
    other.tell([event("a")])
    Herald(live, memory).tell([event("a")])
    assert (calls, other.counted) == (["a", "a"], set())


def test_what_is_refused_is_asked_once_and_counts_once() -> None:
    live, announced = Live({}), Announced()
    live.fault = raising(Refused(403, "forbidden"))
    calls = asked(live)
    counted = []
    for _ in range(4):
        herald = Herald(live, announced)
        herald.tell([event("a"), event("b")])
        counted.append(herald.counted)
    assert (calls, counted) == (["a", "b"], [{"a"}, {"b"}, set(), set()])


@pytest.mark.parametrize("pause", [0, 2])
def test_while_events_are_not_available_a_pass_asks_once_and_none_is_lost(pause: int) -> None:
    live, announced = Live({}), Announced(pause)
    live.fault = raising(Unavailable("no answer in time"))
    calls = asked(live)
    counted = []
    for number in range(6):
        if number == 2:
            live.fault = lambda _verb, name: calls.append(name)
        herald = Herald(live, announced)
        herald.tell([event("a"), event("b")])
        counted.append(herald.counted)
    # A transition counts when its Event fails, and not once more when it comes.
    if pause:
        assert (calls, counted[:3]) == (["a", "b", "a", "b"], [{"a"}, {"b"}, set()])
    else:
        assert (calls, counted[:3]) == (["a", "a", "a", "b"], [{"a"}, set(), {"b"}])
    assert counted[3:] == [set()] * 3
    assert sorted(live.events) == ["a", "b"]


def test_what_there_was_no_time_for_is_due_again() -> None:
    live, announced = Live({}), Announced()
    live.fault = raising(OutOfTime("over"), lambda name: name == "b")
    early = Herald(live, announced)
    early.tell([event("a"), event("b"), event("c")])
    live.fault = lambda _verb, _name: None
    late = Herald(live, announced)
    late.tell([event("a"), event("b"), event("c")])
    assert (early.counted, late.counted) == ({"a"}, {"b", "c"})


def test_a_write_of_its_own_is_told_when_the_time_is_over() -> None:
    live, announced = Live({}), Announced()
    live.fault = raising(OutOfTime("over"))
    with pytest.raises(OutOfTime):
        Herald(live, announced).announce(event("a"))
    assert announced.knows("a") is False


def test_an_event_that_was_made_elsewhere_counts_by_the_same_rule() -> None:
    live, announced = Live({}), Announced()
    body = event_body(event("a"))
    first, again = Herald(live, announced), Herald(live, announced)
    first.post(body)
    again.post(body)
    other = Herald(live, Announced())
    other.post(body)
    assert (first.counted, again.counted, other.counted) == ({"a"}, set(), set())
    live.fault = raising(OutOfTime("over"))
    with pytest.raises(OutOfTime):
        first.post(event_body(event("b")))


def test_a_crowd_is_spread_over_passes() -> None:
    live, announced = Live({}), Announced()
    crowd = [event(f"e-{number}") for number in range(45)]
    counts = []
    for _ in range(4):
        herald = Herald(live, announced)
        herald.tell(crowd)
        counts.append(len(herald.counted))
    assert (counts, len(live.events)) == ([20, 20, 5, 0], 45)


def test_all_that_follows_a_pass_takes_a_second_at_most() -> None:
    spans: list[float] = []

    class Hasty(Live):
        @override
        def briefly(self, seconds: float) -> Live:
            spans.append(seconds)
            return self

    live, announced = Hasty({}), Announced()
    Herald(live, announced).tell([event("a"), event("b")])
    Herald(live, announced).tell([event("a")])
    assert spans == [1.0]


def test_two_passes_at_once_count_a_failure_once() -> None:
    """Both ask before either has an answer."""
    live, announced = Live({}), Announced()
    inner = Herald(live, announced)

    def fault(_verb: str, _name: str) -> None:
        live.fault = raising(Unavailable("503"))
        inner.announce(event("a"))
        raise Unavailable("503")

    live.fault = fault
    outer = Herald(live, announced)
    outer.announce(event("a"))
    assert (outer.counted, inner.counted) == (set(), {"a"})


def test_an_event_that_landed_although_its_answer_was_lost_counts_once() -> None:
    live, announced = Live({}), Announced()
    Herald(live, Announced()).announce(event("a"))
    live.fault = raising(Unavailable("no answer in time"))
    first = Herald(live, announced)
    first.announce(event("a"))
    live.fault = lambda _verb, _name: None
    again = Herald(live, announced)
    again.announce(event("a"))
    assert (first.counted, again.counted) == ({"a"}, set())


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_MEMORY", 2)
    announced = Announced()
    news = [announced.count(name) for name in ("a", "b", "a")]
    for name in ("a", "b", "a"):
        announced.remember(name)
    assert (news, announced.knows("a")) == ([True, True, False], True)
    announced.remember("c")
    # b was asked for longest ago.
    assert [announced.knows(name) for name in "abc"] == [True, False, True]
