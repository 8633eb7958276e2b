"""The log: one JSON object a line, after what it tells has landed, and no flood of it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

import pytest
import structlog

from hooks.rotation.decision import Decision, Report
from hooks.rotation.reasons import Reason
from hooks.telemetry import log
from hooks.telemetry.log import Journal, configure

NOBODY: frozenset[str] = frozenset()


@pytest.fixture
def out() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    configure("info", stream)
    yield stream
    structlog.reset_defaults()


def _lines(out: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def _decision(*reports: Report, claim: str | None = "old") -> Decision:
    return Decision("3", Reason.SURGE_PENDING, claim=claim, reports=reports)


def test_a_line_is_one_json_object_with_the_fixed_keys(out: io.StringIO) -> None:
    report = Report("drain started", (("node", "n\n1"), ("passed_over", {"tooYoung": 2})))
    Journal().record("api", _decision(report), NOBODY, "r-1")
    (line,) = _lines(out)
    moment = line.pop("ts")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(moment))
    assert line == {
        "level": "info",
        "event": "drain started",
        "nodepool": "api",
        "nodeclaim": "old",
        "reason": "SurgePending",
        "request_id": "r-1",
        "node": "n\n1",
        "passed_over": {"tooYoung": 2},
    }


@pytest.mark.parametrize(("level", "written"), [("debug", 1), ("INFO", 1), ("warning", 0)])
def test_the_threshold(level: str, written: int) -> None:
    stream = io.StringIO()
    configure(level, stream)
    Journal().record("api", _decision(Report("x")), NOBODY, "")
    structlog.reset_defaults()
    assert len(_lines(stream)) == written


def test_what_an_event_counts_is_told_by_whoever_created_it(out: io.StringIO) -> None:
    journal = Journal()
    report = Report("rotation complete", once="event-1")
    journal.record("api", _decision(report), frozenset({"event-2"}), "")
    assert _lines(out) == []
    journal.record("api", _decision(report), frozenset({"event-1"}), "")
    assert [line["event"] for line in _lines(out)] == ["rotation complete"]


def test_a_level_is_told_on_change_only(out: io.StringIO) -> None:
    journal = Journal()

    def tell(pool: str, why: str, claim: str | None = "old") -> None:
        report = Report("no candidate", (("why", why),), on_change=True)
        journal.record(pool, _decision(report, claim=claim), NOBODY, "")

    for pool, why in (("api", "Frozen"), ("api", "Frozen"), ("web", "Frozen"), ("api", "Frozen"),
                      ("api", "Suspended"), ("api", "Frozen")):  # fmt: skip
        tell(pool, why)
    tell("api", "Frozen", claim="other")
    told = [(line["nodepool"], line["why"], line["nodeclaim"]) for line in _lines(out)]
    assert told == [
        ("api", "Frozen", "old"),
        ("web", "Frozen", "old"),
        ("api", "Suspended", "old"),
        ("api", "Frozen", "old"),
        ("api", "Frozen", "other"),
    ]


def test_several_levels_of_one_kind_stand_for_themselves(out: io.StringIO) -> None:
    """Two unreadable annotations must not take turns for ever."""
    journal = Journal()

    def report(key: str) -> Report:
        fields = (("nodeclaim", f"{key}-claim"), ("reason", "MalformedState"), ("annotation", key))
        return Report("malformed state", fields, on_change=True, about=key)

    for claim in ("old", "old", "other"):
        journal.record("api", _decision(report("a"), report("b"), claim=claim), NOBODY, "")
    told = [(line["annotation"], line["nodeclaim"], line["reason"]) for line in _lines(out)]
    assert told == [("a", "a-claim", "MalformedState"), ("b", "b-claim", "MalformedState")]


def test_the_memory_is_bounded(out: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LONGEST_MEMORY", 2)
    journal = Journal()

    def tell(pool: str) -> None:
        journal.record(pool, _decision(Report("x", on_change=True)), NOBODY, "")

    for pool in ("a", "b", "a", "c", "a", "b"):
        tell(pool)
    # b was the oldest when c came, and is news again.
    assert [line["nodepool"] for line in _lines(out)] == ["a", "b", "c", "b"]


def test_a_text_that_others_reword_is_no_news(out: io.StringIO) -> None:
    """The scheduler counts its nodes anew in each message; the level stays the same."""
    journal = Journal()
    told = (("old", "0/5 nodes"), ("old", "0/6 nodes"), ("next", "0/6 nodes"))
    for claim, message in told:
        fields = (("message", message),)
        report = Report("placeholder unschedulable", fields, on_change=True, level="x")
        journal.record("api", _decision(report, claim=claim), NOBODY, "")
    lines = [(line["nodeclaim"], line["message"]) for line in _lines(out)]
    assert lines == [told[0], told[2]]


def test_what_people_should_look_at_stays_when_only_warnings_are_logged() -> None:
    stream = io.StringIO()
    configure("warning", stream)
    reports = (Report("attempt failed", warning=True), Report("drain started"))
    Journal().record("api", _decision(*reports), NOBODY, "")
    structlog.reset_defaults()
    assert [(line["event"], line["level"]) for line in _lines(stream)] == [
        ("attempt failed", "warning")
    ]
