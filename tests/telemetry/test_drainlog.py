"""Log lines of graceful drains: on change, once, and as grave as they are."""

from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from hooks.drain.consequences import Verdict
from hooks.drain.reasons import Answer, Outcome, Reason, Stage
from hooks.drain.writes import Code, Finding
from hooks.telemetry import drainlog as module
from hooks.telemetry.drainlog import DrainLog

WAITS = Verdict(Answer.DENY, Reason.ROLLOUT_IN_PROGRESS, "wait", deployment="shop/web")
READY = Verdict(Answer.ALLOW, Reason.SUCCESSOR_READY, deployment="shop/web")
ODD = Finding(Code.TIMEOUT_INVALID, "is no duration")


def lines_of(*verdicts: Verdict, log: DrainLog | None = None) -> list[Any]:
    used = log or DrainLog()
    with capture_logs() as lines:
        for verdict in verdicts:
            used.answered("shop", "web-1", verdict, "r1")
    return list(lines)


def test_an_answer_that_is_repeated_is_told_once() -> None:
    lines = lines_of(WAITS, WAITS, WAITS, READY, READY, WAITS)
    assert [line["event"] for line in lines] == [
        "eviction denied",
        "eviction allowed",
        "eviction denied",
    ]
    assert lines[0] == {
        "event": "eviction denied",
        "log_level": "info",
        "namespace": "shop",
        "pod": "web-1",
        "deployment": "shop/web",
        "reason": "RolloutInProgress",
        "message": "wait",
        "warnings": [],
        "request_id": "r1",
    }


@pytest.mark.parametrize(
    ("verdict", "level", "warnings"),
    [
        (READY, "info", []),
        (Verdict(Answer.ALLOW, Reason.OUT_OF_TIME, warnings=("late",)), "warning", ["late"]),
        (
            Verdict(Answer.DENY, Reason.ROLLOUT_IN_PROGRESS, findings=(ODD,)),
            "warning",
            ["is no duration"],
        ),
        (Verdict(Answer.DENY, Reason.POD_NOT_READ, "try again"), "warning", []),
    ],
)
def test_what_somebody_should_look_at_is_a_warning(
    verdict: Verdict, level: str, warnings: list[str]
) -> None:
    (line,) = lines_of(verdict)
    assert (line["log_level"], line["warnings"]) == (level, warnings)


def test_other_words_are_news() -> None:
    one, other = (
        Verdict(Answer.ALLOW, Reason.MALFORMED_REVIEW, warnings=(text,)) for text in ("a", "b")
    )
    assert len(lines_of(one, one, other)) == 2


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_MEMORY", 2)
    log = DrainLog()
    with capture_logs() as lines:
        for pod in ("a", "b", "c", "a", "c"):
            log.answered("shop", pod, WAITS, "r1")
    assert [line["pod"] for line in lines] == ["a", "b", "c", "a"]


def test_long_words_cost_no_memory() -> None:
    log = DrainLog()
    told = Verdict(Answer.ALLOW, Reason.MALFORMED_REVIEW, warnings=("x" * 1_000_000,))
    assert len(lines_of(told, told, log=log)) == 1
    assert len(pickle.dumps(vars(vars(log)["_last"])["_kept"])) < 1000


def test_a_rollout_that_began() -> None:
    with capture_logs() as lines:
        DrainLog().rolled("shop/web", Stage.ROLLS, "2026-11-29T20:00:00Z", "r1")
    assert lines == [
        {
            "event": "rollout started",
            "log_level": "info",
            "deployment": "shop/web",
            "reason": "RolloutStarted",
            "since": "2026-11-29T20:00:00Z",
            "request_id": "r1",
        }
    ]


@pytest.mark.parametrize(
    ("outcome", "event", "level"),
    [
        (Outcome.COMPLETED, "rollout complete", "info"),
        (Outcome.TIMEOUT, "rollout timed out", "warning"),
        (Outcome.IMPOSSIBLE, "tracking cleared", "warning"),
        (Outcome.UNREADABLE, "tracking cleared", "warning"),
        (Outcome.SCALED, "tracking cleared", "info"),
        (Outcome.OPTED_OUT, "tracking cleared", "info"),
        (Outcome.DELETED, "tracking cleared", "info"),
    ],
)
def test_an_end(outcome: Outcome, event: str, level: str) -> None:
    log = DrainLog()
    with capture_logs() as lines:
        log.ended("shop/web", Stage.COMPLETED, outcome, timedelta(seconds=20.5), "r1")
        log.ended("shop/web", Stage.COMPLETED, outcome, None, "r1")
    first, second = lines
    assert (first["event"], first["log_level"], first["took"]) == (event, level, 20.5)
    assert "took" not in second


def test_a_finding_is_told_when_it_is_new() -> None:
    log = DrainLog()
    with capture_logs() as lines:
        for finding in (ODD, ODD, Finding(Code.TIMEOUT_INVALID, "is another"), ODD):
            log.found("shop/web", (finding,), "r1")
    assert [line["message"] for line in lines] == ["is no duration", "is another", "is no duration"]
    assert lines[0] == {
        "event": "annotation unusable",
        "log_level": "warning",
        "deployment": "shop/web",
        "reason": "RolloutTimeoutInvalid",
        "message": "is no duration",
        "request_id": "r1",
    }
