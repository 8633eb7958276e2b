"""Running the controllers that are applied to the cluster.

Owns which DecoratorControllers run: each is started when its object appears, started anew when its
spec, labels or annotations change (that is when tokens are read again), and stopped when it goes.
One that can't be started gets a CreateError Event and is tried again. The place where a
CompositeController will be started, too.
"""

from __future__ import annotations

import base64
import binascii
import logging
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from hooks.sandbox.answers import decode_customize, decode_sync
from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllerspec import SecretKey, WebhookSpec, read_controller
from hooks.sandbox.crew import Crew
from hooks.sandbox.decorator import Decorator, Hooks, Surroundings
from hooks.sandbox.events import EventRecorder
from hooks.sandbox.failures import ConductorError, InvalidControllerError
from hooks.sandbox.informer import Handler, Informer
from hooks.sandbox.objects import Obj, annotations_of, labels_of, name_of
from hooks.sandbox.reflector import Reflector
from hooks.sandbox.resources import Discovery
from hooks.sandbox.webhook import Hook, HttpTransport
from hooks.sandbox.workqueue import WorkQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hooks.sandbox.apiport import ApiPort

CONTROLLERS: Final = Resource(
    "metacontroller.k8s.io/v1alpha1",
    "decoratorcontrollers",
    "DecoratorController",
    namespaced=False,
)
SECRETS: Final = Resource("v1", "secrets", "Secret", namespaced=True)
WORKERS: Final = 5
_STOP_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class RunningDecorator:
    """One controller with its watches, workers and resync period."""

    def __init__(
        self,
        obj: Obj,
        api: ApiPort,
        discovery: Discovery,
        recorder: EventRecorder,
        on_crash: Callable[[], None],
    ) -> None:
        """Prepare everything; raises ConductorError when the controller can't run."""
        self.obj = obj
        self._api = api
        self._crew = Crew(name_of(obj), on_crash)
        self._lock = threading.Lock()
        self._started = False
        self._reflectors: list[Reflector] = []
        self._transports: list[HttpTransport] = []
        spec = read_controller(obj)
        sync, customize = spec.sync, spec.customize
        hooks = Hooks(
            sync=Hook(self._transport(sync), decode_sync, strict=sync.strict),
            customize=None
            if customize is None
            else Hook(self._transport(customize), decode_customize, strict=customize.strict),
        )
        around = Surroundings(api, discovery, recorder, self._open_informer, time.monotonic)
        self._decorator = Decorator(spec, hooks, around)

    def start(self, workers: int) -> None:
        """Begin to watch; the first sync comes when the first lists are there."""
        with self._lock:
            self._started = True
            for reflector in self._reflectors:
                reflector.start()
        for number in range(workers):
            self._crew.start(f"worker-{number}", self._work)
        self._crew.start("resync", self._resync)

    def halt(self) -> None:
        """Tell everything to end; a hook call that still runs is void from now on."""
        self._crew.stopping.set()
        self._decorator.queue.shut_down()
        for transport in self._transports:
            transport.close()
        with self._lock:
            for reflector in self._reflectors:
                reflector.stop()

    def join(self, seconds: float) -> None:
        """Wait for the threads to end; one that sits in a call is left behind."""
        left = self._crew.join(seconds)
        if left:
            _log.info("%s: not waiting for %s", name_of(self.obj), ", ".join(left))

    def _open_informer(self, resource: Resource, handler: Handler) -> Informer:
        informer = Informer(resource, handler)
        reflector = Reflector(self._api, informer, self._crew)
        with self._lock:
            self._reflectors.append(reflector)
            if self._started and not self._crew.stopping.is_set():
                reflector.start()
        return informer

    def _transport(self, webhook: WebhookSpec) -> HttpTransport:
        secret = webhook.authorization
        authorization = "" if secret is None else _authorization(self._api, secret)
        transport = HttpTransport(webhook.url, webhook.timeout, authorization)
        self._transports.append(transport)
        return transport

    def _work(self) -> None:
        for informer in self._decorator.first_needed:
            while not informer.synced.wait(0.1):
                if self._crew.stopping.is_set():
                    return
        while True:
            key = self._decorator.queue.get()
            if key is None:
                return
            self._decorator.work_on(key)

    def _resync(self) -> None:
        while not self._crew.stopping.wait(self._decorator.spec.resync_period):
            self._decorator.resync()


class Fleet:
    """All controllers of a cluster, or only those of the given names."""

    def __init__(
        self, api: ApiPort, names: Collection[str] = (), *, workers: int = WORKERS
    ) -> None:
        self.crashed = threading.Event()
        self.ended = threading.Event()
        self._api = api
        self._names = frozenset(names)
        self._workers = workers
        self._discovery = Discovery(api)
        self._recorder = EventRecorder(api, lambda: datetime.now(UTC))
        self._crew = Crew("fleet", self._crash)
        self._queue: WorkQueue[str] = WorkQueue(time.monotonic)
        self._informer = Informer(CONTROLLERS, self._on_controller)
        self._reflector = Reflector(api, self._informer, self._crew)
        self._running: dict[str, RunningDecorator] = {}

    def start(self) -> None:
        """Begin to watch for controllers."""
        self._reflector.start()
        self._crew.start("controllers", self._work)

    def stop(self) -> None:
        """Stop every controller, in less than two seconds."""
        self._crew.stopping.set()
        self._queue.shut_down()
        self._reflector.stop()
        halted = list(self._running.values())
        for running in halted:
            running.halt()
        deadline = time.monotonic() + _STOP_SECONDS
        for running in halted:
            running.join(max(deadline - time.monotonic(), 0.0))
        self._crew.join(max(deadline - time.monotonic(), 0.0))

    def _crash(self) -> None:
        self.crashed.set()
        self.ended.set()

    def _on_controller(self, old: Obj | None, new: Obj | None) -> None:
        obj = old if new is None else new
        if obj is not None and (not self._names or name_of(obj) in self._names):
            self._queue.add(name_of(obj))

    def _work(self) -> None:
        while True:
            name = self._queue.get()
            if name is None:
                return
            try:
                self._reconcile(name)
            except ConductorError as error:
                _log.warning("controller %s: %s", name, error)
                self._queue.add_rate_limited(name)
            else:
                self._queue.forget(name)
            finally:
                self._queue.done(name)

    def _reconcile(self, name: str) -> None:
        obj = self._informer.get("", name)
        running = self._running.get(name)
        if running is not None and obj is not None and _is_same(running.obj, obj):
            return
        if running is not None:
            del self._running[name]
            running.halt()
            running.join(_STOP_SECONDS)
            _log.info("controller %s: stopped", name)
        if obj is not None:
            self._start(name, obj)

    def _start(self, name: str, obj: Obj) -> None:
        try:
            running = RunningDecorator(obj, self._api, self._discovery, self._recorder, self._crash)
        except ConductorError as error:
            self._recorder.warn(obj, "CreateError", f"Cannot create new controller: {error}")
            raise
        if self._crew.stopping.is_set():
            return
        self._running[name] = running
        running.start(self._workers)
        _log.info("controller %s: started", name)


def _is_same(old: Obj, new: Obj) -> bool:
    return (
        old.get("spec") == new.get("spec")
        and labels_of(old) == labels_of(new)
        and annotations_of(old) == annotations_of(new)
    )


def _authorization(api: ApiPort, secret: SecretKey) -> str:
    data: dict[str, str] = api.get(SECRETS, secret.namespace, secret.name).get("data") or {}
    where = f"authorization secret {secret.namespace}/{secret.name}"
    if secret.key not in data:
        raise InvalidControllerError(f"{where} does not contain key {secret.key!r}")
    try:
        token = base64.b64decode(data[secret.key], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidControllerError(f"{where}: key {secret.key!r} is no text") from error
    return f"{secret.scheme} {token.strip()}"
