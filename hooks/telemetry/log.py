"""Log lines: one JSON object a line on stdout, written only after what they tell is durable.

Owns the set-up of structlog and the memory that keeps a line which depends on a level from being
repeated. Source: design/observability.md *Log lines*.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict

from hooks.recent import Recent
from hooks.rotation.decision import Decision, Report

LONGEST_MEMORY: Final = 10_000
"""How many (pool, event, thing) are remembered; the oldest go first."""


def configure(level: str, stream: TextIO | None = None) -> None:
    """Set up the one log of the process; ``level`` is a name that ``logging`` knows."""
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            _stamp,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(file=stream or sys.stdout),
        cache_logger_on_first_use=False,
    )


def _stamp(_logger: object, _method: str, line: EventDict) -> EventDict:
    """Add ``ts``: RFC 3339 in UTC, milliseconds."""
    line["ts"] = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return line


class Journal:
    """Writes the lines of a decision that has landed."""

    def __init__(self) -> None:
        self._last: Recent[tuple[str, str, str], tuple[str, ...]] = Recent(LONGEST_MEMORY)

    def record(
        self,
        pool: str,
        decision: Decision,
        counted: AbstractSet[str],
        request_id: str,
    ) -> None:
        """Write the lines that are due: counted ones once, level-dependent ones on change."""
        log = structlog.get_logger()
        for report in decision.reports:
            if report.once is not None and report.once not in counted:
                continue
            if report.on_change and not self._is_news(pool, decision, report):
                continue
            line: dict[str, object] = {
                "nodepool": pool,
                "nodeclaim": decision.claim,
                "reason": decision.reason.value,
                "request_id": request_id,
            }
            tell = log.warning if report.warning else log.info
            tell(report.event, **line | dict(report.fields))

    def _is_news(self, pool: str, decision: Decision, report: Report) -> bool:
        key = (pool, report.event, report.about)
        context = () if report.about else (decision.claim, decision.reason)
        value = (*context, report.level or repr(report.fields))
        return self._last.note(key, value) != value
