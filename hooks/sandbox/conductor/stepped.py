"""The conductor on a store in memory, moved on step by step on a virtual clock.

Owns feeding the caches from the store's log and handing out one sync at a time; the caches are as
fresh as the last step. Everything else is what :mod:`.fleet` runs with threads. A
:class:`hooks.sandbox.controller.Controller`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hooks.sandbox.apiport import Resource, WatchEvent
from hooks.sandbox.conductor.calls import connect
from hooks.sandbox.conductor.controllerspec import read_controller
from hooks.sandbox.conductor.events import EventRecorder
from hooks.sandbox.conductor.fleet import is_same
from hooks.sandbox.conductor.informer import Handler, Informer
from hooks.sandbox.conductor.kinds import CONTROLLERS, engine
from hooks.sandbox.conductor.resources import Discovery
from hooks.sandbox.conductor.syncloop import Surroundings
from hooks.sandbox.failures import ConductorError
from hooks.sandbox.objects import name_of
from hooks.sandbox.store.port import StorePort

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.conductor.fleet import ControllerKey
    from hooks.sandbox.conductor.syncloop import SyncLoop
    from hooks.sandbox.conductor.webhook import HttpTransport
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Feed:
    """One cache, and up to which revision it has been fed; None before its first list."""

    informer: Informer
    revision: int | None = None


@dataclass(slots=True)
class _Running:
    """One controller at work."""

    obj: Obj
    feeds: list[_Feed] = field(default_factory=list)
    transports: list[HttpTransport] = field(default_factory=list)
    engine: SyncLoop | None = None
    resync_at: float = 0.0


class SteppedConductor:
    """All controllers of a store."""

    def __init__(self, store: ObjectStore, clock: VirtualClock) -> None:
        """Run whatever controllers the store has or will have."""
        self._store = store
        self._clock = clock
        self._api = StorePort(store)
        self._running: dict[ControllerKey, _Running] = {}
        self._looked_at = -1
        self.syncs = 0
        """How many syncs have been handed out so far."""

    def step(self) -> bool:
        """Bring the caches up to date and work on one parent; tell whether there was one."""
        self._reconcile()
        for running in list(self._running.values()):
            loop = running.engine
            if loop is None:
                continue
            self._feed(running)
            if self._clock.seconds() >= running.resync_at:
                running.resync_at = self._clock.seconds() + loop.spec.resync_period
                loop.resync()
                self._feed(running)
            key = loop.queue.take()
            if key is not None:
                self.syncs += 1
                loop.work_on(key)
                return True
        return False

    def next_due(self) -> datetime | None:
        """When the next delayed sync or resync comes."""
        dues: list[float] = []
        for running in self._running.values():
            if running.engine is not None:
                due = running.engine.queue.next_due()
                dues += [running.resync_at] if due is None else [running.resync_at, due]
        if not dues:
            return None
        # Rounded up, so that the moment never lies a fraction before what is due.
        waiting = max(min(dues) - self._clock.seconds(), 0.0)
        return self._clock.now() + timedelta(seconds=waiting) + timedelta(microseconds=1)

    def close(self) -> None:
        """Void all connections to hooks."""
        for running in self._running.values():
            for transport in running.transports:
                transport.close()

    def _reconcile(self) -> None:
        if self._looked_at == self._store.revision:
            return
        self._looked_at = self._store.revision
        there = {
            (resource.kind, name_of(obj)): obj
            for resource in CONTROLLERS
            for obj in self._store.all(resource)
        }
        for key, running in list(self._running.items()):
            obj = there.get(key)
            if obj is None or not is_same(running.obj, obj):
                del self._running[key]
        for key, obj in there.items():
            if key not in self._running:
                self._running[key] = self._start(obj)

    def _start(self, obj: Obj) -> _Running:
        running = _Running(obj)
        recorder = EventRecorder(self._api, self._clock.now)

        def open_informer(resource: Resource, handler: Handler) -> Informer:
            informer = Informer(resource, handler)
            running.feeds.append(_Feed(informer))
            return informer

        try:
            spec = read_controller(obj)
            hooks, running.transports = connect(spec, self._api, self._clock.now)
            around = Surroundings(
                self._api, Discovery(self._api), recorder, open_informer, self._clock.seconds
            )
            running.engine = engine(spec, hooks, around)
            running.resync_at = self._clock.seconds() + spec.resync_period
        except ConductorError as error:
            _log.warning("controller %s: %s", name_of(obj), error)
            recorder.warn(obj, "CreateError", f"Cannot create new controller: {error}")
        return running

    def _feed(self, running: _Running) -> None:
        for feed in running.feeds:
            if feed.revision is None:
                feed.revision = self._store.revision
                feed.informer.replace(self._store.all(feed.informer.resource))
            elif feed.revision != self._store.revision:
                news = self._store.events_after(feed.revision)
                feed.revision = news[-1].revision
                for event in news:
                    if event.resource == feed.informer.resource:
                        feed.informer.apply(WatchEvent(event.type, event.obj))
            feed.informer.tell_pending()
