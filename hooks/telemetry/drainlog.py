"""Log lines of graceful drains: what was answered to whom, and what became of a rollout.

Owns the lines, and the memory that keeps one from being repeated: evictors ask again every few
seconds and get the same answer. Source: design/observability.md *Log lines*, design/drain.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final

import structlog

from hooks.drain.consequences import Verdict
from hooks.drain.reasons import Answer, Outcome, Reason, Stage
from hooks.drain.writes import Finding
from hooks.recent import Recent

LONGEST_MEMORY: Final = 10_000
"""How many things are remembered; the oldest go first."""
EVENTS: Final[Mapping[Answer, str]] = MappingProxyType(
    {Answer.ALLOW: "eviction allowed", Answer.DENY: "eviction denied"}
)
ENDS: Final[Mapping[Outcome, str]] = MappingProxyType(
    {Outcome.COMPLETED: "rollout complete", Outcome.TIMEOUT: "rollout timed out"}
)
"""Event of a line about an end; all others are that tracking was cleared."""
WARNINGS: Final = frozenset({Outcome.TIMEOUT, Outcome.IMPOSSIBLE, Outcome.UNREADABLE})


class DrainLog:
    """Writes the lines of what has landed."""

    def __init__(self) -> None:
        self._last: Recent[tuple[str, str], int] = Recent(LONGEST_MEMORY)

    def answered(self, namespace: str, pod: str, verdict: Verdict, request_id: str) -> None:
        """Tell an answer to an eviction, unless the Pod's last one was the same."""
        warnings = (*verdict.warnings, *(finding.message for finding in verdict.findings))
        if not self._is_news(f"{namespace}/{pod}", "", (verdict.answer, verdict.reason, warnings)):
            return
        log = structlog.get_logger()
        is_grave = warnings or verdict.reason is Reason.POD_NOT_READ
        tell = log.warning if is_grave else log.info
        tell(
            EVENTS[verdict.answer],
            namespace=namespace,
            pod=pod,
            deployment=verdict.deployment,
            reason=verdict.reason.value,
            message=verdict.message,
            warnings=list(warnings),
            request_id=request_id,
        )

    def rolled(self, deployment: str, stage: Stage, since: str, request_id: str) -> None:
        """Tell that a rollout was begun: once, for the patch that begins it lands once."""
        structlog.get_logger().info(
            "rollout started",
            deployment=deployment,
            reason=stage.value,
            since=since,
            request_id=request_id,
        )

    def ended(
        self,
        deployment: str,
        stage: Stage,
        outcome: Outcome,
        took: timedelta | None,
        request_id: str,
    ) -> None:
        """Tell the end of a tracking; the caller knows that it is told once."""
        log = structlog.get_logger()
        tell = log.warning if outcome in WARNINGS else log.info
        span = {} if took is None else {"took": took.total_seconds()}
        tell(
            ENDS.get(outcome, "tracking cleared"),
            deployment=deployment,
            reason=stage.value,
            outcome=outcome.value,
            **span,
            request_id=request_id,
        )

    def found(self, deployment: str, findings: Iterable[Finding], request_id: str) -> None:
        """Tell what is wrong with a Deployment's annotations, when it is new."""
        for finding in findings:
            if self._is_news(deployment, finding.code, finding.message):
                structlog.get_logger().warning(
                    "annotation unusable",
                    deployment=deployment,
                    reason=finding.code.value,
                    message=finding.message,
                    request_id=request_id,
                )

    def _is_news(self, thing: str, about: str, value: Hashable) -> bool:
        """Of the value only its hash is kept, so that long words cost no memory."""
        kept = hash(value)
        return self._last.note((thing, about), kept) != kept
