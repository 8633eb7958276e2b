"""A singleton behind a Service on an embedded cluster of plain Nodes, with the true servers.

Owns what a test may do there: drain Nodes as evictors do, kill a server and start it again, take back
what the software wrote. All of it happens on the cluster's clock.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from types import TracebackType
from typing import Final, Self

from hooks import names
from hooks.planning.demo.installation import SERVICE, installation
from hooks.planning.hookserver import EvictionServer, HookServer
from hooks.planning.recording import changes_of
from hooks.sandbox.controller import Pace
from hooks.sandbox.controllers.kubelets import READY_AFTER
from hooks.sandbox.embedded import EmbeddedCluster
from hooks.sandbox.face import Face
from hooks.sandbox.objects import Obj, annotations_of, is_terminating, labels_of, name_of
from hooks.sandbox.store.kinds import (
    DEPLOYMENTS,
    EVENTS,
    NODES,
    PODS,
    SERVED,
)
from hooks.verdict.case import Case
from hooks.verdict.checks import violations
from hooks.verdict.rollouts import one_rollout_each, tracking_ends
from hooks.verdict.singletons import ready_endpoint_remains, ready_pod_remains
from tests.e2e.processes import free_ports
from tests.sandbox.controllers.worlds import workload
from tests.sandbox.face.client import MERGE_PATCH, Client

START: Final = datetime(2026, 11, 30, 9, tzinfo=UTC)
PROMISES: Final = (ready_pod_remains, ready_endpoint_remains, one_rollout_each, tracking_ends)
PACE: Final = Pace(pod_start=timedelta(seconds=4), pod_stop=timedelta(seconds=3), spread=0.0)
SHOP, TILL = "default", "till"
OLD, NEW, SPARE = "n1", "n2", "n3"
"""Nodes, in the order in which they come."""
_KINDS: Final = {one.kind: one for one in SERVED}


class Shop:
    """Deployment ``till`` with one Pod, which is Ready on Node ``n1`` when the test begins."""

    def __init__(self, *, registered: bool = True, ready_after: str = "20s") -> None:
        """With a webhook, registered or not."""
        self.cluster = EmbeddedCluster(START, pace=PACE)
        self.store = self.cluster.store
        self.statuses: list[int] = []
        """The answer to each eviction."""
        self._registered = registered
        self._ready_after = ready_after
        self._stack = ExitStack()
        self._hooks: HookServer | None = None
        self._webhook: EvictionServer | None = None
        # Kept while nobody is there: no other server may answer in place of a dead one.
        self._port, self._webhook_port = free_ports(2)
        self._token = secrets.token_urlsafe(24)
        self._api: Client | None = None

    def __enter__(self) -> Self:
        """Install everything."""
        door = self._stack.enter_context(self.cluster.door())
        self._api = self._stack.enter_context(Client(door.url))
        self.start_hooks()
        self.start_webhook()
        self._install()
        self.node(OLD)
        self._apply(_till(self._ready_after), _service())
        self.wait(60)
        self.node(NEW)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop everything."""
        self.kill_hooks()
        self.kill_webhook()
        self.cluster.close()
        self._stack.close()

    # --- Time ---

    def wait(self, seconds: float) -> None:
        """Let time go by."""
        self.cluster.run(lambda: False, timedelta(seconds=seconds))

    # --- Evictors ---

    def cordon(self, node: str) -> None:
        """Let nothing new go there."""
        self.store.modify(NODES, "", node, lambda it: it["spec"].update(unschedulable=True))

    def drain(self, node: str, *, every: float = 5) -> None:
        """Begin to evict whatever of the shop is on a Node, again and again until nothing is left."""
        self.cordon(node)
        self._evict_all(node, timedelta(seconds=every))

    def evict(self, pod: str, query: str = "") -> int:
        """Evict one Pod; returns the status."""
        assert self._api is not None
        path = f"/api/v1/namespaces/{SHOP}/pods/{pod}/eviction{query}"
        body = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": pod}}
        return self._api.send("POST", path, body).status_code

    def _evict_all(self, node: str, every: timedelta) -> None:
        pods = [pod for pod in self.pods() if pod["spec"].get("nodeName") == node]
        for pod in pods:
            if not is_terminating(pod):
                self.statuses.append(self.evict(name_of(pod)))
        if pods:
            again = partial(self._evict_all, node, every)
            self.cluster.at(self.cluster.clock.now() + every, again)

    # --- Servers ---

    def start_hooks(self) -> None:
        """Start the hook server, at the port that it had."""
        now = self.cluster.clock.now
        self._hooks = HookServer(self._door(), now, port=self._port, token=self._token)
        self._hooks.__enter__()

    def kill_hooks(self) -> None:
        """End it, if it runs."""
        server, self._hooks = self._hooks, None
        if server is not None:
            server.kill()

    def start_webhook(self) -> None:
        """Start the server of the webhook."""
        now = self.cluster.clock.now
        self._webhook = EvictionServer(self._door(), now, port=self._webhook_port)
        self._webhook.__enter__()
        self.cluster.services[SERVICE] = self._webhook.url

    def kill_webhook(self) -> None:
        """End it, if it runs."""
        server, self._webhook = self._webhook, None
        if server is not None:
            server.kill()

    def _door(self) -> Face:
        door = self.cluster.door()
        door.start()
        return door

    # --- Objects ---

    def node(self, name: str, **annotations: str) -> None:
        """One more Node."""
        metadata = {"name": name, "annotations": annotations}
        self.store.create(NODES, {"metadata": metadata, "spec": {}})
        status = {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"},
            "conditions": [{"type": "Ready", "status": "True"}],
        }
        self.store.modify(NODES, "", name, lambda it: it.update(status=status), "status")

    def patch(self, change: Obj) -> None:
        """Merge a change into the Deployment."""
        self.store.patch(DEPLOYMENTS, SHOP, TILL, change, MERGE_PATCH)

    def revert_restart(self) -> None:
        """Take back what the software wrote into the template, as GitOps does."""
        self.patch(_annotated({names.POD_TEMPLATE_RESTARTED_AT: None}))

    def pods(self) -> list[Obj]:
        """The Pods of the shop."""
        return [pod for pod in self.store.all(PODS) if labels_of(pod).get("app") == TILL]

    def pod(self) -> Obj:
        """The one Pod."""
        (pod,) = self.pods()
        return pod

    @property
    def marks(self) -> dict[str, str]:
        """Our annotations of the Deployment, without the prefix."""
        annotations = annotations_of(self.store.get(DEPLOYMENTS, SHOP, TILL))
        return {
            key.removeprefix(names.DRAIN_PREFIX): value
            for key, value in annotations.items()
            if key.startswith(names.DRAIN_PREFIX)
        }

    @property
    def told(self) -> list[str]:
        """The reasons of our Events, in their order."""
        events = self.store.all(EVENTS)
        ours = [one for one in events if one["reason"] in names.DRAIN_EVENTS]
        return [one["reason"] for one in sorted(ours, key=lambda one: str(one["eventTime"]))]

    @property
    def broken(self) -> list[str]:
        """The promises that the history breaks, by their names."""
        case = Case(changes_of(self.store, START), "")
        return [one.check for one in violations(case, PROMISES)]

    def _install(self) -> None:
        left_out = set() if self._registered else {"ValidatingWebhookConfiguration"}
        url = f"http://127.0.0.1:{self._port}"
        everything = installation(url, self._token)
        self._apply(*(one for one in everything if one["kind"] not in left_out))

    def _apply(self, *objects: Obj) -> None:
        for one in objects:
            self.store.create(_KINDS[one["kind"]], one)


def _till(ready_after: str) -> Obj:
    deployment = workload(TILL, replicas=1) | {"kind": "Deployment"}
    template = deployment["spec"]["template"]["metadata"]
    template["annotations"] = {READY_AFTER: ready_after}
    return deployment


def _service() -> Obj:
    spec = {"selector": {"app": TILL}, "ports": [{"port": 80}]}
    return {"kind": "Service", "metadata": {"name": TILL, "namespace": SHOP}, "spec": spec}


def _annotated(annotations: dict[str, str | None]) -> Obj:
    return {"spec": {"template": {"metadata": {"annotations": annotations}}}}
