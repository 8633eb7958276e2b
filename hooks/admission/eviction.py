"""The webhook of evictions: parse -> read in stages -> judge -> record intent -> answer -> tell.

Owns that order and what a fault of ours becomes: an eviction that is allowed, and told so. Leaves
every decision to :mod:`hooks.drain`; it rolls nothing out. Three live reads at most, a fourth after
a patch that was lost, all of it before the deadline; the API server waits for nothing else. Source:
seed 004, design/drain.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

import structlog

from hooks.admission.answer import render
from hooks.admission.memory import Memory
from hooks.admission.reading import Reads
from hooks.cluster.drain import DrainApi, event_body, send
from hooks.cluster.errors import ClusterError, Conflict, OutOfTime
from hooks.cluster.herald import Announced, Herald
from hooks.drain.consequences import Verdict
from hooks.drain.model import Case, Kind, Read, Review, Terms, Unread
from hooks.drain.reasons import Reason
from hooks.drain.verdict import failed, judge
from hooks.protocol.errors import ShapeError
from hooks.protocol.review import parse_review
from hooks.settings import Settings
from hooks.telemetry.drainlog import DrainLog
from hooks.telemetry.drains import Evictions

ATTEMPTS: Final = 2
"""A patch that is lost to a newer resourceVersion is tried once more, on what is there then."""
NOBODY: Final = Review(namespace="", pod="", is_eviction=False)
"""For the log, where a review can't be understood."""


def at_once(job: Callable[[], None]) -> None:
    """Don't wait for the answer to be sent."""
    job()


@dataclass(slots=True)
class EvictionReview:
    """The webhook with what it needs: the API, the settings, the clock, and its small memories.

    ``within`` gives a view of the API none of whose calls outlives a deadline (on the monotonic
    clock). ``clock`` is read once for each review.
    """

    settings: Settings
    within: Callable[[float], DrainApi]
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    counts: Evictions = field(default_factory=Evictions)
    log: DrainLog = field(default_factory=DrainLog)
    announced: Announced = field(default_factory=Announced)
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        """It remembers for longer than a rollout may take."""
        self.memory = Memory(self.settings.rollout_timeout)

    def __call__(
        self,
        body: bytes,
        *,
        deadline: float,
        request_id: str = "",
        afterwards: Callable[[Callable[[], None]], None] = at_once,
    ) -> bytes:
        """Answer one review; raises ShapeError when it names no uid to answer to.

        The Events are a job for ``afterwards``: what they tell of has landed by then. They have
        their own limit of time, and may be created long after the answer is out.
        """
        question = parse_review(body)
        verdict = self._verdict(question.review, deadline, request_id)
        if verdict.announcements:
            afterwards(lambda: self._tell(verdict))
        about = NOBODY if isinstance(question.review, ShapeError) else question.review
        self.counts.answered(verdict.answer, verdict.reason)
        self.log.answered(about.namespace, about.pod, verdict, request_id)
        return render(question, verdict)

    def _verdict(self, review: Review | ShapeError, deadline: float, request_id: str) -> Verdict:
        if isinstance(review, ShapeError):
            return failed(Reason.MALFORMED_REVIEW, f"the review can't be understood ({review})")
        try:
            return self._reviewed(review, self.within(deadline))
        except OutOfTime:
            return failed(Reason.OUT_OF_TIME, "there was no time left to look at it")
        except ClusterError as error:
            return failed(Reason.INTERNAL_ERROR, str(error))
        except Exception:
            log = structlog.get_logger()
            log.exception("review failed", request_id=request_id)
            return failed(Reason.INTERNAL_ERROR, f"a defect; its log says more of {request_id}")

    def _reviewed(self, review: Review, api: DrainApi) -> Verdict:
        settings = self.settings
        terms = Terms(self.clock(), settings.rollout_timeout, settings.enabled_annotation)
        case, reads = Case(review, terms), Reads(api)
        for _ in range(ATTEMPTS):
            case, verdict = self._judged(case, reads)
            if verdict.patch is None:
                break
            try:
                send(api, verdict.patch, reads.deployment)
            except OutOfTime:
                raise
            except Conflict:
                # Another review of this Pod may have been the winner.
                case = self.memory.recall(replace(case, deployment=Unread.UNREAD))
            except ClusterError as error:
                return failed(Reason.TRACKING_NOT_WRITTEN, f"tracking can't be written ({error})")
            else:
                break
        else:
            what = "tracking can't be written (the Deployment changes at every moment)"
            return failed(Reason.TRACKING_NOT_WRITTEN, what)
        self.memory.note(case, verdict)
        return verdict

    def _judged(self, case: Case, reads: Reads) -> tuple[Case, Verdict]:
        """Make the reads that the decision asks for, one after the other, until there is one."""
        while isinstance(found := judge(case), Read):
            case = reads.into(case, found)
            if found.kind is Kind.POD:
                case = self.memory.recall(case)
        return case, found

    def _tell(self, verdict: Verdict) -> None:
        herald = Herald(self.within(math.inf), self.announced)
        with suppress(OutOfTime):
            for one in verdict.announcements:
                herald.post(event_body(one))
