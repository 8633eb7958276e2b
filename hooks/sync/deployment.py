"""The sync hook of tracked Deployments: see -> step -> the one patch -> tell -> answer.

Owns that order. The one patch, and the end that is told, rest on what is live, not on the request,
whose cache may be behind: the marker that goes with the patch says that it was sent, and it never
lands twice. Tracking is cleared by
answering null. Any failure on the way raises: never a partial answer. Leaves every decision to
:mod:`hooks.drain`. Source: design/drain.md, seed 004.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hooks import names
from hooks.cluster.drain import DrainApi, event_body, send
from hooks.cluster.errors import Conflict, NotFound, OutOfTime
from hooks.cluster.herald import LONGEST_MEMORY, PAUSE, Announced, Herald
from hooks.cluster.reader import reading
from hooks.drain.model import Deployment, Terms
from hooks.drain.progress import SOON, Ending, Step, confirm, progress
from hooks.drain.writes import PatchDeployment
from hooks.protocol.apps import deployment_of
from hooks.protocol.deployment_calls import parse_deployment_sync
from hooks.recent import Recent
from hooks.settings import Settings
from hooks.sync.nodepool import seconds
from hooks.telemetry.drainlog import DrainLog
from hooks.telemetry.drains import Rollouts


@dataclass(slots=True)
class DeploymentSync:
    """The hook with what it needs: the API, the settings, the clock, and its small memories.

    ``within`` gives a view of the API none of whose calls outlives a deadline (on the monotonic
    clock). ``clock`` is read once for each request.
    """

    settings: Settings
    within: Callable[[float], DrainApi]
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    counts: Rollouts = field(default_factory=Rollouts)
    log: DrainLog = field(default_factory=DrainLog)
    announced: Announced = field(default_factory=lambda: Announced(PAUSE))
    begun: Recent[str, str] = field(default_factory=lambda: Recent(LONGEST_MEMORY))
    """The tracking values that this process began a rollout for, should the marker be taken away."""

    def __call__(self, body: bytes, *, deadline: float, request_id: str = "") -> bytes:
        """Answer one sync request.

        Errors: ShapeError for a body of the wrong shape, ClusterError for API trouble.
        """
        deployment = parse_deployment_sync(body)
        settings = self.settings
        terms = Terms(self.clock(), settings.rollout_timeout, settings.enabled_annotation)
        step = progress(deployment, terms, begun=self.begun.get(_tracked(deployment)) is not None)
        self.log.found(_name(deployment), step.findings, request_id)
        if step.patch is not None or step.ending is not None:
            step = self._act(deployment, terms, self.within(deadline), request_id)
        return render(step)

    def _act(self, deployment: Deployment, terms: Terms, api: DrainApi, request_id: str) -> Step:
        """Do what the live Deployment asks for, if anything."""
        namespace, name = deployment.namespace, deployment.name
        found = api.get_deployment(namespace, name)
        live = None if found is None else reading(deployment_of, f"Deployment {name}", found)
        if found is None or live is None or live.uid != deployment.uid:
            return confirm(None, terms)
        step = confirm(live, terms, begun=self.begun.get(_tracked(live)) is not None)
        if step.ending is not None:
            self._end(_name(live), step, step.ending, api, request_id)
        if step.patch is None:
            return step
        try:
            send(api, step.patch, found)
        except (Conflict, NotFound):
            # Lost: looked at again soon.
            return replace(step, patch=None, announcements=(), look_again=SOON)
        self.begun.note(_tracked(live), _tracked(live))
        self._tell_start(step, step.patch, api, request_id)
        return step

    def _tell_start(
        self, step: Step, landed: PatchDeployment, api: DrainApi, request_id: str
    ) -> None:
        since = dict(landed.annotations)[names.DRAIN_ROLLED_FOR] or ""
        self.log.rolled(f"{landed.namespace}/{landed.name}", step.stage, since, request_id)
        herald = Herald(api, self.announced)
        # The patch has landed, and the webhook has told of it before.
        with suppress(OutOfTime):
            for one in step.announcements:
                herald.post(event_body(one))

    def _end(self, name: str, step: Step, ending: Ending, api: DrainApi, request_id: str) -> None:
        """Tell the end before the answer that clears tracking: whoever creates its Event counts it.

        An end without an Event counts once in each process.
        """
        herald = Herald(api, self.announced)
        for one in step.announcements:
            herald.post(event_body(one))
        is_silent = not step.announcements
        if ending.key in herald.counted or (is_silent and self.announced.count(ending.key)):
            self.counts.ended(ending.outcome, ending.took)
            self.log.ended(name, step.stage, ending.outcome, ending.took, request_id)


def render(step: Step) -> bytes:
    """The answer's bytes: the same step gives the same bytes."""
    answer: dict[str, object] = {}
    if step.clear:
        answer["annotations"] = {names.DRAIN_RESTARTED_AT: None}
    if step.look_again is not None:
        answer["resyncAfterSeconds"] = seconds(step.look_again)
    return json.dumps(answer, separators=(",", ":")).encode()


def _name(deployment: Deployment) -> str:
    return f"{deployment.namespace}/{deployment.name}"


def _tracked(deployment: Deployment) -> str:
    return f"{deployment.uid} {deployment.restarted_at}"
