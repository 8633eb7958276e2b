"""The sync hook of NodePools: observe -> decide -> apply -> conclude -> record -> answer.

Any failure on the way raises, and the app answers with something else than 200: never a partial
answer, which Metacontroller would apply. Source: design/rotation.md sections 1 and 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock

from hooks.cluster.apply import Applier
from hooks.cluster.errors import ClusterError
from hooks.cluster.reader import LiveReader
from hooks.cluster.verbs import Api
from hooks.protocol.hook import parse_sync
from hooks.rotation.answer import Conclusion, conclude
from hooks.rotation.candidates import OPT_OUT_MEMORY
from hooks.rotation.decision import Decision, stop
from hooks.rotation.model import Observation
from hooks.rotation.phases import decide
from hooks.settings import Settings
from hooks.sync.observe import observe
from hooks.telemetry.log import Journal


class OptOuts:
    """Which claims' Nodes were seen opted out within the last minute: a cache, never the truth."""

    def __init__(self) -> None:
        self._until: dict[str, datetime] = {}
        self._lock = Lock()

    def known(self, now: datetime) -> frozenset[str]:
        """UIDs that need not be read again yet."""
        with self._lock:
            self._until = {uid: until for uid, until in self._until.items() if until > now}
            return frozenset(self._until)

    def remember(self, uids: frozenset[str], now: datetime) -> None:
        """Keep these for a minute."""
        with self._lock:
            self._until |= dict.fromkeys(uids, now + OPT_OUT_MEMORY)


@dataclass(slots=True)
class NodePoolSync:
    """The hook with what it needs: the API, the settings, the clock, and its small memories.

    ``within`` gives a view of the API none of whose calls outlives a deadline (on the monotonic
    clock). ``clock`` is read once for each request.
    """

    settings: Settings
    within: Callable[[float], Api]
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    journal: Journal = field(default_factory=Journal)
    opt_outs: OptOuts = field(default_factory=OptOuts)

    def __call__(self, body: bytes, *, deadline: float, request_id: str = "") -> bytes:
        """Answer one sync request.

        Errors: ShapeError for a body of the wrong shape, ClusterError for API trouble.
        """
        request = parse_sync(body)
        now = self.clock()
        obs = observe(
            request,
            now,
            suspended=self.settings.suspend,
            namespace=self.settings.namespace,
            image=self.settings.placeholder_image,
            opted_out=self.opt_outs.known(now),
        )
        conclusion = self.carry_out(obs, self.within(deadline), request_id)
        self.opt_outs.remember(conclusion.decision.opted_out, now)
        return render(conclusion)

    def carry_out(self, obs: Observation, api: Api, request_id: str) -> Conclusion:
        """Decide on an observation, apply it, log what landed, and conclude.

        Errors: ClusterError for API trouble; what had landed before stays, and is logged.
        """
        reader = LiveReader(api, self.settings.namespace)
        decision = decide(obs, reader)
        applier = Applier(api, reader)
        pool = obs.pool.name
        try:
            stopped = applier.apply(decision.writes)
        except ClusterError:
            self.journal.record(pool, counted_only(decision), applier.counted, request_id)
            raise
        if stopped is not None:
            self.journal.record(pool, counted_only(decision), applier.counted, request_id)
            return conclude(obs, stop(stopped, decision.claim), reader)
        self.journal.record(pool, decision, applier.counted, request_id)
        conclusion = conclude(obs, decision, reader)
        self.journal.record(pool, conclusion.beyond(decision), applier.counted, request_id)
        return conclusion


def counted_only(decision: Decision) -> Decision:
    """The decision with those reports alone that an Event of ours counts: that much has landed."""
    reports = tuple(report for report in decision.reports if report.once is not None)
    return replace(decision, reports=reports)


def seconds(span: timedelta) -> float | int:
    """A span in seconds, whole ones as integers."""
    total = span.total_seconds()
    return int(total) if total.is_integer() else total


def render(conclusion: Conclusion) -> bytes:
    """The answer's bytes: the same conclusion gives the same bytes."""
    decision = conclusion.decision
    answer: dict[str, object] = {}
    if decision.annotations:
        answer["annotations"] = dict(sorted(decision.annotations.items()))
    answer["attachments"] = list(conclusion.attachments)
    answer["resyncAfterSeconds"] = seconds(decision.look_again)
    return json.dumps(answer, separators=(",", ":"), default=_plain).encode()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    message = f"{type(value).__name__} has no place in an answer"
    raise TypeError(message)
