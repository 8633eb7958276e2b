"""A controller, its hooks and an API server in memory, moved on step by step."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.answers import decode_composite, decode_customize, decode_sync
from hooks.sandbox.conductor.controllerspec import read_controller
from hooks.sandbox.conductor.events import EventRecorder
from hooks.sandbox.conductor.informer import Handler, Informer
from hooks.sandbox.conductor.kinds import engine
from hooks.sandbox.conductor.resources import Discovery
from hooks.sandbox.conductor.syncloop import Hooks, Surroundings
from hooks.sandbox.conductor.webhook import Hook, Reply, Transport
from hooks.sandbox.failures import HookCallError
from hooks.sandbox.objects import Obj, metadata_of
from tests.sandbox.conductor.memory_api import MemoryApi

POOLS = Resource("toy.io/v1", "pools", "Pool", namespaced=False, has_status=True)
APPS = Resource("apps/v1", "deployments", "Deployment", namespaced=True, has_status=True)
PODS = Resource("v1", "pods", "Pod", namespaced=True, has_status=True)
NODES = Resource("v1", "nodes", "Node", namespaced=False, has_status=True)
CONFIGMAPS = Resource("v1", "configmaps", "ConfigMap", namespaced=True)
EVENTS = Resource("v1", "events", "Event", namespaced=True)
SERVED = (POOLS, APPS, PODS, NODES, CONFIGMAPS, EVENTS)

NODES_OF_POOL = {
    "relatedResources": [
        {"apiVersion": "v1", "resource": "nodes", "labelSelector": {"matchLabels": {"pool": "p"}}}
    ]
}


def controller(**spec: object) -> Obj:
    hook = {"version": "v2", "webhook": {"url": "http://hook.invalid/sync"}}
    default = {
        "resources": [{"apiVersion": "toy.io/v1", "resource": "pools"}],
        "attachments": [{"apiVersion": "v1", "resource": "pods"}],
        "hooks": {"sync": hook, "customize": hook},
    }
    return {
        "apiVersion": "metacontroller.k8s.io/v1alpha1",
        "kind": "DecoratorController",
        "metadata": {"name": "toy", "uid": "uid-toy"},
        "spec": default | spec,
    }


def composite(**spec: object) -> Obj:
    """A CompositeController of the pools, with both hooks."""
    hook = {"version": "v2", "webhook": {"url": "http://hook.invalid/sync"}}
    default = {
        "parentResource": {"apiVersion": "toy.io/v1", "resource": "pools"},
        "hooks": {"sync": hook, "customize": hook},
        "generateSelector": True,
    }
    return controller() | {"kind": "CompositeController", "spec": default | spec}


def pool(name: str = "p", **metadata: object) -> Obj:
    return {"apiVersion": "toy.io/v1", "kind": "Pool", "metadata": {"name": name} | metadata}


def node(name: str, **labels: str) -> Obj:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def pod(name: str, **metadata: object) -> Obj:
    own = {"name": name, "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": own | metadata, "spec": {"a": "<b>"}}


class FakeHook:
    """A transport that answers one thing after the other, the last one for ever."""

    def __init__(self, *answers: Obj | Reply | HookCallError) -> None:
        self.answers = list(answers)
        self.requests: list[Obj] = []
        self.meanwhile: Callable[[], object] | None = None

    def post(self, body: bytes) -> Reply:
        self.requests.append(json.loads(body))
        if self.meanwhile is not None:
            self.meanwhile()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, HookCallError):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(200, json.dumps(answer).encode())

    @property
    def last(self) -> Obj:
        return self.requests[-1]


class World:
    """Everything around one controller; nothing happens unless a test asks for it."""

    def __init__(
        self,
        *objects: Obj,
        runs: Obj | None = None,
        sync: FakeHook | None = None,
        customize: FakeHook | None = None,
        api: MemoryApi | None = None,
        transport: Transport | None = None,
        customizing: Transport | None = None,
    ) -> None:
        self.api = MemoryApi(*SERVED) if api is None else api
        for obj in objects:
            self.api.put(obj)
        self.seconds = 0.0
        self.sync_hook = sync or FakeHook({})
        self.customize_hook = customize or FakeHook({})
        self._versions: dict[int, str] = {}
        self._informers: list[Informer] = []
        spec = read_controller(controller() if runs is None else runs)
        decode = decode_composite if spec.kind == "CompositeController" else decode_sync
        self.engine = engine(
            spec,
            Hooks(
                sync=Hook(transport or self.sync_hook, decode, now=self.now),
                customize=Hook(customizing or self.customize_hook, decode_customize, now=self.now)
                if spec.customize
                else None,
            ),
            Surroundings(
                api=self.api,
                discovery=Discovery(self.api),
                recorder=EventRecorder(self.api, self.now),
                open_informer=self._open_informer,
                clock=lambda: self.seconds,
            ),
        )

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def deliver(self) -> None:
        """Let every cache catch up with the server, and tell the controller what changed."""
        for number, informer in enumerate(list(self._informers)):
            self._catch_up(number, informer)
            informer.tell_pending()

    def relist(self, resource: Resource) -> None:
        """Let the caches of a kind take over a new list, as after a watch that ended in 410."""
        for number, informer in enumerate(self._informers):
            if informer.resource == resource:
                del self._versions[number]

    def step(self) -> bool:
        """Sync one parent that is ready; False when none is."""
        key = self.engine.queue.take()
        if key is None:
            return False
        self.engine.work_on(key)
        return True

    def settle(self) -> int:
        """Deliver and sync until nothing is left to do now; return the number of syncs."""
        for syncs in range(50):
            self.deliver()
            if not self.step():
                return syncs
        raise AssertionError("the controller never comes to rest")

    def settle_with_related(self) -> None:
        """As settle, over the backoff of the very first sync, whose related kinds are unlisted."""
        self.settle()
        self.seconds += 0.005
        self.settle()

    def warnings(self) -> list[tuple[str, str, int]]:
        """Return reason, message and count of every Event, oldest first."""
        events = self.api.list_all(EVENTS).items
        return [(event["reason"], event["message"], event["count"]) for event in events]

    def pool(self, name: str = "p") -> Obj:
        return self.api.get(POOLS, "", name)

    def annotations(self) -> dict[str, str]:
        found: dict[str, str] = metadata_of(self.pool()).get("annotations", {})
        return found

    def _open_informer(self, resource: Resource, handler: Handler) -> Informer:
        informer = Informer(resource, handler)
        self._informers.append(informer)
        return informer

    def _catch_up(self, number: int, informer: Informer) -> None:
        if number not in self._versions:
            listing = self.api.list_all(informer.resource)
            informer.replace(listing.items)
            self._versions[number] = listing.resource_version
            return
        after = int(self._versions[number])
        for version, event in self.api.events_after(informer.resource, after):
            informer.apply(event)
            self._versions[number] = str(version)
