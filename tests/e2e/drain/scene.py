"""One scene's place on the control plane: its nodes, its Deployments, its evictors, its history.

Owns what a scene may do and ask for. Leaves the manifests to :mod:`.shapes` and reading the history
to :mod:`.told`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import requests

from hooks import names
from hooks.verdict.history import Change
from hooks.verdict.questions import annotation, is_leaving, is_ready
from tests.e2e.api import Api, Object
from tests.e2e.control_plane import ControlPlane
from tests.e2e.drain.shapes import NONE, SCENE, node, pace, service, template, workload
from tests.e2e.drain.told import Told
from tests.e2e.history import Recorder
from tests.support.waiting import wait_until

PROTECTED, OPEN = "singletons", "unprotected"
"""The namespaces of all scenes: evictions pass through the webhook in the one and not in the other."""
LONGEST = 90.0
"""Seconds for one wait: far more than anything takes."""
ADMITTED = 201
DENIED = 429
TOUCHED = "noderotation-e2e/touched"
QUICK = "2s"
"""A Go duration: until a successor is ready, where nothing depends on it."""
NEVER = "1h"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an evictor was told: between which seconds (monotonic), the HTTP status and the message."""

    asked: float
    at: float
    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The place called ``name``; ``history`` has Deployments and EndpointSlices beside the usual."""

    name: str
    plane: ControlPlane
    history: Recorder
    say: Callable[[str], None]
    namespace: str = PROTECTED

    @property
    def api(self) -> Api:
        """The API server."""
        return self.plane.api

    def nodes(self, count: int) -> list[str]:
        """Make so many nodes for this scene's Pods."""
        made = [f"{self.name}-{number}" for number in range(1, count + 1)]
        self.api.apply_objects(*(node(one, self.name) for one in made))
        return made

    def singleton(
        self,
        app: str = "",
        *,
        again: str = QUICK,
        dies: str = "",
        timeout: str = "",
        **spec: object,
    ) -> Object:
        """Make a Deployment of one Pod with a Service, and return the Pod, which is Ready.

        Its successor takes ``again`` (a Go duration) to get ready, a Pod ``dies`` to be gone;
        ``timeout`` is the Deployment's own rolloutTimeout.
        """
        annotations = {names.DRAIN_ROLLOUT_TIMEOUT: timeout} if timeout else {}
        self.deploy(app or self.name, pace(again=again, dies=dies), annotations, **spec)
        return self.only_pod(app)

    def deploy(
        self,
        app: str,
        pace_of_pods: Mapping[str, str] = NONE,
        annotations: Mapping[str, str] = NONE,
        **spec: object,
    ) -> None:
        """Make a Deployment with a Service; nothing is waited for."""
        pods = template(app, {SCENE: self.name}, pace_of_pods)
        usual = {"replicas": 1}
        self.api.apply_objects(
            service(app, self.namespace),
            workload("Deployment", app, self.namespace, pods, annotations, **usual | spec),
        )

    def only_pod(self, app: str = "", *, seconds: float = LONGEST) -> Object:
        """The one Pod of an app (the scene's own), once it is Ready and there is no other."""
        found: list[Object] = []

        def is_so() -> bool:
            found[:] = self.pods(app)
            return len(found) == 1 and is_ready(found[0])

        wait_until(f"{app or self.name} has one Pod, Ready", is_so, seconds, every=0.5)
        return found[0]

    def pods(self, app: str = "") -> list[Object]:
        """All Pods of an app that are there."""
        selector = f"app={app or self.name}"
        found = self.api.find("Pod", labelSelector=selector)
        return [one for one in found if one["metadata"]["namespace"] == self.namespace]

    def evict(self, pod: Object, options: Object | None = None, *, dry_run: bool = False) -> Answer:
        """Ask once for the eviction of a Pod."""
        name, asked = pod["metadata"]["name"], time.monotonic()
        got = self.api.evict(name, self.namespace, options, dry_run=dry_run)
        return Answer(asked, time.monotonic(), got.status_code, got.json().get("message", ""))

    def insist(self, pod: Object, *, every: float = 1.0, seconds: float = LONGEST) -> list[Answer]:
        """Ask again and again, as evictors do, until the Pod is gone; all answers.

        One that is being deleted is asked about as well.
        """
        given: list[Answer] = []

        def is_gone() -> bool:
            answer = self.evict(pod)
            if answer.status == requests.codes.not_found:
                return True
            given.append(answer)
            return False

        wait_until(f"{pod['metadata']['name']} is gone", is_gone, seconds, every)
        return given

    def drain(self, node_name: str, *flags: str) -> str:
        """``kubectl drain`` a node; returns when that ends, with what it printed."""
        patience = f"--timeout={LONGEST:.0f}s"
        return self.api.kubectl("drain", node_name, "--ignore-daemonsets", patience, *flags)

    def uncordon(self, node_name: str) -> None:
        """Let Pods onto a node again."""
        self.api.patch("Node", node_name, {"spec": {"unschedulable": None}})

    def change(self, patch: Object, app: str = "") -> Object:
        """Merge something into a Deployment, as its owner."""
        return self.api.patch("Deployment", app or self.name, patch, self.namespace)

    def touch(self) -> None:
        """Change a Deployment's annotation: who looks after it is told now, not after a pause."""
        self.change({"metadata": {"annotations": {TOUCHED: str(time.monotonic())}}})

    def set_status(self, pod: Object, status: Object) -> None:
        """Be the kubelet of a Pod."""
        name = pod["metadata"]["name"]
        self.api.patch("Pod", name, {"status": status}, self.namespace, "status")

    def told(self, app: str = "") -> Told:
        """What the history has told of a Deployment so far."""
        return Told.of(self.history.changes, self.namespace, app or self.name)

    def wait_for(self, what: str, holds: Callable[[Told], bool], app: str = "") -> Told:
        """Wait until it holds of what the history tells."""

        def is_so() -> bool:
            return holds(self.told(app))

        wait_until(f"{app or self.name}: {what}", is_so, LONGEST, every=0.5)
        return self.told(app)

    def restarted(self, app: str = "") -> Told:
        """Wait until a rollout has begun."""
        return self.wait_for("it is restarted", lambda told: told.restarts() != [], app)

    def cleared(self, times: int = 1, app: str = "") -> Told:
        """Wait until tracking has ended, so many times since the beginning."""

        def is_so(told: Told) -> bool:
            return told.tracked().count(None) == times

        return self.wait_for("tracking has ended", is_so, app)

    def at_once(self, app: str, holds: Callable[[Object], bool]) -> Change:
        """Wait for a change of the Deployment, and return in the same moment."""

        def is_it(change: Change) -> bool:
            ours = change.object["metadata"].get("namespace") == self.namespace
            deployment = change.kind == "Deployment" and change.name == app
            return ours and deployment and holds(change.object)

        return self.history.wait_for(f"{app} changes", is_it, LONGEST)


def uid(thing: Object) -> str:
    """The UID of an object."""
    found: str = thing["metadata"]["uid"]
    return found


def node_of(pod: Object) -> str:
    """The name of a Pod's node."""
    found: str = pod["spec"]["nodeName"]
    return found


def restarted_at(deployment: Object) -> str | None:
    """When a Deployment's template was restarted."""
    return annotation(deployment["spec"]["template"], names.POD_TEMPLATE_RESTARTED_AT)


def is_going(pod: Object) -> bool:
    """Whether a Pod is being deleted."""
    return is_leaving(pod)
