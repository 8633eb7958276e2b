"""Running the controllers that are applied to the cluster.

Owns which controllers run: each is started when its object appears, started anew when its spec,
labels or annotations change (that is when tokens are read again), and stopped when it goes. One that
can't be started gets a CreateError Event and is tried again.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from hooks.sandbox.conductor.calls import connect
from hooks.sandbox.conductor.controllerspec import read_controller
from hooks.sandbox.conductor.crew import Crew
from hooks.sandbox.conductor.events import EventRecorder
from hooks.sandbox.conductor.informer import Handler, Informer
from hooks.sandbox.conductor.kinds import CONTROLLERS, engine
from hooks.sandbox.conductor.reflector import Reflector
from hooks.sandbox.conductor.resources import Discovery
from hooks.sandbox.conductor.syncloop import Surroundings
from hooks.sandbox.conductor.workqueue import WorkQueue
from hooks.sandbox.failures import ConductorError
from hooks.sandbox.objects import Obj, annotations_of, labels_of, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hooks.sandbox.apiport import ApiPort, Resource

ControllerKey: TypeAlias = tuple[str, str]
"""Kind and name."""
WORKERS: Final = 5
_STOP_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class RunningController:
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
        spec = read_controller(obj)
        hooks, self._transports = connect(spec, api)
        around = Surroundings(api, discovery, recorder, self._open_informer, time.monotonic)
        self._engine = engine(spec, hooks, around)

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
        self._engine.queue.shut_down()
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

    def _work(self) -> None:
        for informer in self._engine.first_needed:
            while not informer.synced.wait(0.1):
                if self._crew.stopping.is_set():
                    return
        while True:
            key = self._engine.queue.get()
            if key is None:
                return
            self._engine.work_on(key)

    def _resync(self) -> None:
        while not self._crew.stopping.wait(self._engine.spec.resync_period):
            self._engine.resync()


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
        self._queue: WorkQueue[ControllerKey] = WorkQueue(time.monotonic)
        self._informers = {each.kind: Informer(each, self._on_controller) for each in CONTROLLERS}
        self._reflectors = [Reflector(api, each, self._crew) for each in self._informers.values()]
        self._running: dict[ControllerKey, RunningController] = {}

    def start(self) -> None:
        """Begin to watch for controllers."""
        for reflector in self._reflectors:
            reflector.start()
        self._crew.start("controllers", self._work)

    def stop(self) -> None:
        """Stop every controller, in less than two seconds."""
        self._crew.stopping.set()
        self._queue.shut_down()
        for reflector in self._reflectors:
            reflector.stop()
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
            self._queue.add((obj["kind"], name_of(obj)))

    def _work(self) -> None:
        while True:
            key = self._queue.get()
            if key is None:
                return
            try:
                self._reconcile(key)
            except ConductorError as error:
                _log.warning("%s %s: %s", *key, error)
                self._queue.add_rate_limited(key)
            else:
                self._queue.forget(key)
            finally:
                self._queue.done(key)

    def _reconcile(self, key: ControllerKey) -> None:
        kind, name = key
        obj = self._informers[kind].get("", name)
        running = self._running.get(key)
        if running is not None and obj is not None and is_same(running.obj, obj):
            return
        if running is not None:
            del self._running[key]
            running.halt()
            running.join(_STOP_SECONDS)
            _log.info("%s %s: stopped", kind, name)
        if obj is not None:
            self._start(key, obj)

    def _start(self, key: ControllerKey, obj: Obj) -> None:
        try:
            running = RunningController(
                obj, self._api, self._discovery, self._recorder, self._crash
            )
        except ConductorError as error:
            self._recorder.warn(obj, "CreateError", f"Cannot create new controller: {error}")
            raise
        if self._crew.stopping.is_set():
            return
        self._running[key] = running
        running.start(self._workers)
        _log.info("%s %s: started", *key)


def is_same(old: Obj, new: Obj) -> bool:
    """Tell whether a running controller need not be started anew."""
    return (
        old.get("spec") == new.get("spec")
        and labels_of(old) == labels_of(new)
        and annotations_of(old) == annotations_of(new)
    )
