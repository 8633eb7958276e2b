"""The queue of evictions: each Pod is asked for again until the API lets it go.

Owns the backoff: 100 ms, doubling to 10 s. Leaves whether it may go to the eviction API. Seen in
``pkg/controllers/node/termination/terminator/eviction.go`` and on the wire (design/cluster.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.eviction import evict
from hooks.sandbox.failures import ApiError
from hooks.sandbox.karpenter.reconciler import Reconciler
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

FIRST_DELAY: Final = timedelta(milliseconds=100)
LAST_DELAY: Final = timedelta(seconds=10)

EvictionCall: TypeAlias = Callable[[str, str, str], None]
"""Evicts a Pod of this namespace, name and UID, or raises ApiError."""


@dataclass(slots=True)
class _Request:
    """A Pod that is to go."""

    namespace: str
    name: str
    due: datetime
    delay: timedelta = FIRST_DELAY


class Evictions(Reconciler):
    """The Pods that drains want to be gone."""

    watches: ClassVar[frozenset[Resource]] = frozenset()

    def __init__(self, world: World, call: EvictionCall | None = None) -> None:
        """Begin empty. Without a ``call`` no admission webhook is asked."""
        super().__init__(world)
        self._call = call or self._evict
        self._requests: dict[str, _Request] = {}

    def add(self, pods: Iterable[Obj], now: datetime) -> None:
        """Ask for Pods, unless they are asked for already."""
        for pod in pods:
            if uid_of(pod) not in self._requests:
                self._requests[uid_of(pod)] = _Request(namespace_of(pod), name_of(pod), now)
                self.wake_at(now)

    @override
    def reconcile(self, now: datetime) -> None:
        for uid, request in list(self._requests.items()):
            if request.due <= now and self._is_done(uid, request):
                del self._requests[uid]
        for request in self._requests.values():
            if request.due <= now:
                request.due = now + request.delay
                request.delay = min(2 * request.delay, LAST_DELAY)
            self.wake_at(request.due)

    def _is_done(self, uid: str, request: _Request) -> bool:
        try:
            self._call(request.namespace, request.name, uid)
        except ApiError as error:
            # Gone, or another one of its name: nothing is left to ask for.
            return error.is_not_found or error.is_conflict
        return True

    def _evict(self, namespace: str, name: str, uid: str) -> None:
        evict(self.store, self.clock, namespace, name, uid=uid)
