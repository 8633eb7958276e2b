"""What all controllers here have in common: look at everything, but only when there is reason to.

Owns when a controller looks again: after a write to a kind that it watches, or when a time has come
that it named. Leaves what it does then to each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from hooks.sandbox.apiport import Resource
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import name_of, namespace_of

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.objects import Obj
    from hooks.sandbox.store.store import ObjectStore

_FIRST_RETRY: Final = timedelta(milliseconds=5)
_LAST_RETRY: Final = timedelta(seconds=1000)


class _Refusal(NamedTuple):
    """Why a write was refused, and how long and until when it isn't tried again."""

    error: ApiError
    wait: timedelta
    again: datetime


class LevelController(ABC):
    """A controller that reads levels; see :class:`hooks.sandbox.controller.Controller`."""

    watches: ClassVar[frozenset[Resource]]
    """The kinds whose changes are a reason to look again."""

    def __init__(self, store: ObjectStore, clock: VirtualClock) -> None:
        self.store = store
        self.clock = clock
        self._seen = -1
        self._due: datetime | None = None
        self._refused: dict[str, _Refusal] = {}

    def step(self) -> bool:
        """Look, if there is reason to, and do what is to be done; tell whether anything was written."""
        before, now = self.store.revision, self.clock.now()
        if not self._has_reason(before, now):
            return False
        # What is written meanwhile is a reason to look again.
        self._seen, self._due = before, None
        try:
            self.reconcile(now)
        except ApiError as error:
            if not (error.is_not_found or error.is_conflict):
                raise
            # Somebody else was faster, a client over HTTP perhaps: look at it all again.
            self._seen = -1
        return self.store.revision != before

    def next_due(self) -> datetime | None:
        """When to look again although nothing has changed."""
        return self._due

    @abstractmethod
    def reconcile(self, now: datetime) -> None:
        """Bring what is there closer to what is wanted, and name with ``wake_at`` when to go on."""

    def wake_at(self, moment: datetime) -> None:
        """Look again then, if not before."""
        if self._due is None or moment < self._due:
            self._due = moment

    def attempt(self, key: str, write: Callable[[], object]) -> ApiError | None:
        """Write, and return why it was refused; one that was is tried again only ever later.

        The waits are those of client-go's rate limiter: 5 ms doubling to 1000 s.
        """
        now = self.clock.now()
        refusal = self._refused.get(key)
        if refusal is not None and refusal.again > now:
            self.wake_at(refusal.again)
            return refusal.error
        wait = _FIRST_RETRY if refusal is None else min(2 * refusal.wait, _LAST_RETRY)
        try:
            write()
        except ApiError as error:
            self._refused[key] = _Refusal(error, wait, now + wait)
            self.wake_at(now + wait)
            return error
        self._refused.pop(key, None)
        return None

    def put_status(self, resource: Resource, obj: Obj, status: Obj) -> None:
        """Write the status of an object, unless it is what it was."""

        def put(it: Obj) -> None:
            it["status"] = status

        if obj.get("status") != status:
            self.store.modify(resource, namespace_of(obj), name_of(obj), put, "status")

    def _has_reason(self, revision: int, now: datetime) -> bool:
        if self._seen < 0 or (self._due is not None and self._due <= now):
            return True
        if revision == self._seen:
            return False
        if any(event.resource in self.watches for event in self.store.events_after(self._seen)):
            return True
        self._seen = revision
        return False


def varied(span: timedelta, spread: float, rng: Random) -> timedelta:
    """Return a span that is longer or shorter by at most this part."""
    return span * (1 + spread * rng.uniform(-1, 1))
