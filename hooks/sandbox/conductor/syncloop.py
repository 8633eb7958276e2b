"""What every controller does: which parents are queued, and what becomes of a sync that fails.

Owns the queue, the parents, the related objects and the treatment of failures (design/rotation.md
section 1). Leaves the steps of one sync to :class:`~hooks.sandbox.conductor.decorator.Decorator` and
:class:`~hooks.sandbox.conductor.composite.Composite`. Has no thread, socket or clock of its own, so
that tests drive it step by step; the threads that work on ``queue`` are in
:mod:`hooks.sandbox.conductor.fleet`.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hooks.sandbox.conductor.customize import AnswerCache, Grouped, RelatedObjects
from hooks.sandbox.conductor.parents import ParentKey, Parents
from hooks.sandbox.conductor.workqueue import WorkQueue
from hooks.sandbox.failures import (
    ConductorError,
    HookCallError,
    RelatedNotSyncedError,
    StoppedError,
    TooManyRequestsError,
)
from hooks.sandbox.objects import Obj, is_same_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.sandbox.apiport import ApiPort, Resource
    from hooks.sandbox.conductor.answers import RelatedRule, SyncAnswer
    from hooks.sandbox.conductor.controllerspec import ControllerSpec
    from hooks.sandbox.conductor.events import EventRecorder
    from hooks.sandbox.conductor.informer import Handler, Informer
    from hooks.sandbox.conductor.resources import Discovery
    from hooks.sandbox.conductor.webhook import Hook

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a controller works with; ``clock`` counts seconds and never goes back."""

    api: ApiPort
    discovery: Discovery
    recorder: EventRecorder
    open_informer: Callable[[Resource, Handler], Informer]
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of one controller."""

    sync: Hook[SyncAnswer]
    customize: Hook[tuple[RelatedRule, ...]] | None


class SyncLoop(ABC):
    """A controller; its informers are opened, and raise ConductorError, when it is made."""

    def __init__(self, spec: ControllerSpec, hooks: Hooks, around: Surroundings) -> None:
        self.spec = spec
        self.queue: WorkQueue[ParentKey] = WorkQueue(around.clock)
        self._hooks = hooks
        self._around = around
        self._related = None
        if hooks.customize is not None:
            self._related = RelatedObjects(
                spec.document,
                hooks.customize,
                around.discovery,
                around.open_informer,
                AnswerCache(around.clock),
            )
        find, watch = around.discovery.by_plural, around.open_informer
        parents = [(rule, find(rule.api_version, rule.resource)) for rule in spec.parents]
        self._parents = Parents([(rule, watch(each, self.on_parent)) for rule, each in parents])

    @property
    def first_needed(self) -> list[Informer]:
        """Return the informers whose first list must be there before the first sync."""
        return list(self._parents.informers)

    def resync(self) -> None:
        """Tell every parent again, as the resync period does."""
        for informer in self._parents.informers:
            informer.resync()

    # --- What wakes a parent ---

    def on_parent(self, old: Obj | None, new: Obj | None) -> None:
        """Queue a parent that was created, changed, deleted or told again."""
        ignored = old is not None and new is not None and self._parents.ignores(old, new)
        parent = old if new is None else new
        if parent is not None and not ignored:
            self._enqueue(parent)

    def on_related(self, old: Obj | None, new: Obj | None) -> None:
        """Queue the parents whose rules select an object as it was or as it is."""
        if self._related is None or is_same_version(old, new):
            return
        states = [state for state in (old, new) if state is not None]
        for parent in self._related.parents_woken_by(states, self._parents.all()):
            self._enqueue(parent)

    def _enqueue(self, parent: Obj) -> None:
        if self._parents.selects(parent):
            self.queue.add(ParentKey.of(parent))

    # --- Work ---

    def work_on(self, key: ParentKey) -> None:
        """Sync a parent that the queue handed out, and queue it again as its outcome demands."""
        try:
            self._sync(key)
        except TooManyRequestsError as error:
            _log.info("%s %s: %s", self.spec.name, key.shown, error)
            self.queue.add_after(key, error.after_seconds)
        except (RelatedNotSyncedError, StoppedError):
            self.queue.add_rate_limited(key)
        except ConductorError as error:
            _log.warning("%s %s: failed to sync: %s", self.spec.name, key.shown, error)
            self.queue.add_rate_limited(key)
        else:
            self.queue.forget(key)
        finally:
            self.queue.done(key)

    def _sync(self, key: ParentKey) -> None:
        parent = self._parents.get(key)
        if parent is None or not self._parents.selects(parent):
            return
        try:
            self._sync_parent(key, parent)
        except (TooManyRequestsError, RelatedNotSyncedError, StoppedError):
            raise
        except ConductorError as error:
            self._around.recorder.warn(parent, "SyncError", f"Sync error: {error}")
            raise

    @abstractmethod
    def _sync_parent(self, key: ParentKey, parent: Obj) -> None:
        """Ask the sync hook about a parent, and do what it answers."""

    def _related_to(self, parent: Obj) -> Grouped:
        return {} if self._related is None else self._related.select(parent, self.on_related)

    def _ask(self, request: Obj, complaint: str) -> SyncAnswer:
        try:
            return self._hooks.sync.call(request)
        except HookCallError as error:
            raise HookCallError(f"{complaint}: {error}") from error

    def _look_again(self, key: ParentKey, answer: SyncAnswer) -> None:
        """Schedule what the answer asks for, before anything that may end the pass."""
        if answer.resync_after > 0:
            self.queue.add_after(key, answer.resync_after)
