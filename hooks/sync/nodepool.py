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
from hooks.cluster.herald import PAUSE, Announced, Herald
from hooks.cluster.reader import LiveReader
from hooks.cluster.verbs import Api
from hooks.protocol.hook import parse_sync
from hooks.recent import Recent
from hooks.rotation.answer import Conclusion, conclude
from hooks.rotation.candidates import OPT_OUT_MEMORY
from hooks.rotation.decision import Decision, stop
from hooks.rotation.model import Observation
from hooks.rotation.phases import decide
from hooks.rotation.writes import Announce
from hooks.settings import Settings
from hooks.sync.observe import observe
from hooks.telemetry.log import LONGEST_MEMORY, Journal
from hooks.telemetry.metrics import Metrics


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
    metrics: Metrics = field(default_factory=Metrics)
    announced: Announced = field(default_factory=lambda: Announced(PAUSE))
    opt_outs: OptOuts = field(default_factory=OptOuts)
    unlisted: Recent[str, datetime] = field(default_factory=lambda: Recent(LONGEST_MEMORY))
    """When a NodePool, by its UID, was last answered without a placeholder."""

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
            unlisted_at=self.unlisted.get(request.pool.uid),
        )
        conclusion = self.carry_out(obs, self.within(deadline), request_id)
        self.opt_outs.remember(conclusion.decision.opted_out, now)
        if not conclusion.attachments:
            self.unlisted.note(obs.pool.uid, now)
        return render(conclusion)

    def carry_out(self, obs: Observation, api: Api, request_id: str) -> Conclusion:
        """Decide on an observation, apply it, conclude, and then tell of what landed.

        Errors: ClusterError for API trouble; what had landed before stays, and is told.
        """
        self.metrics.heard(obs.pool.name)
        reader = LiveReader(api, self.settings.namespace)
        decision = decide(obs, reader)
        herald = Herald(api, self.announced)
        told = counted_only(decision)
        beyond = None
        try:
            stopped = Applier(api, reader, herald).apply(decision.writes)
            if stopped is not None:
                conclusion = conclude(obs, stop(stopped, decision.claim), reader)
            else:
                conclusion = conclude(obs, decision, reader)
                if conclusion.decision.row == decision.row:
                    told, beyond = decision, conclusion.beyond(decision)
                    herald.tell((*beyond.announcements, *decision.announcements))
        finally:
            self._record(obs, told, herald, request_id)
        if beyond is not None:
            self._record(obs, beyond, herald, request_id)
        self.metrics.show(obs.pool.name, decision.figures, conclusion.decision.reason)
        return conclusion

    def _record(self, obs: Observation, told: Decision, herald: Herald, request_id: str) -> None:
        pool = obs.pool.name
        self.journal.record(pool, told, herald.counted, request_id)
        self.metrics.count(pool, told, herald.counted)


def counted_only(decision: Decision) -> Decision:
    """The decision with that alone to tell which an Event among its writes counts.

    It is what has landed when a pass ends early.
    """
    events = {write.name for write in decision.writes if isinstance(write, Announce)}
    reports = tuple(report for report in decision.reports if report.once in events)
    return replace(decision, reports=reports, announcements=())


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
