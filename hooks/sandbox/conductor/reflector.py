"""Keeping an informer's copy equal to the API server, by list and watch.

Owns the two threads of one kind: one reads the watch, the other tells the handlers, so that a slow
handler never keeps the copy old. A watch that ends goes on where it was; one whose version the
server has forgotten (410) begins with a new list.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import resource_version_of

if TYPE_CHECKING:
    from hooks.sandbox.apiport import ApiPort, Watch
    from hooks.sandbox.conductor.crew import Crew
    from hooks.sandbox.conductor.informer import Informer

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 5.0

_log = logging.getLogger(__name__)


class Reflector:
    """Feeds one informer."""

    def __init__(self, api: ApiPort, informer: Informer, crew: Crew) -> None:
        self._api = api
        self._informer = informer
        self._crew = crew
        self._version = ""
        self._lock = threading.Lock()
        self._watch: Watch | None = None
        self._pause = _FIRST_PAUSE

    def start(self) -> None:
        """Begin to list, watch and tell."""
        kind = self._informer.resource.plural
        self._crew.start(f"watch-{kind}", self._follow)
        self._crew.start(f"tell-{kind}", self._tell)

    def stop(self) -> None:
        """End both threads; ``crew.stopping`` must be set before."""
        with self._lock:
            watch = self._watch
        if watch is not None:
            watch.close()
        self._informer.close()

    def _tell(self) -> None:
        while self._informer.tell_next():
            pass

    def _follow(self) -> None:
        while not self._crew.stopping.is_set():
            try:
                self._follow_once()
            except ApiError as error:
                self._recover(error)

    def _follow_once(self) -> None:
        resource = self._informer.resource
        if not self._version:
            listing = self._api.list_all(resource)
            self._informer.replace(listing.items)
            self._version = listing.resource_version
        watch = self._api.watch(resource, self._version)
        with self._lock:
            self._watch = watch
        if self._crew.stopping.is_set():
            # The stop came between the two lines above and could not see this watch.
            watch.close()
        self._pause = _FIRST_PAUSE
        for event in watch:
            self._informer.apply(event)
            self._version = resource_version_of(event.obj)

    def _recover(self, error: ApiError) -> None:
        if error.is_expired:
            self._version = ""
            return
        if self._crew.stopping.is_set():
            return
        _log.warning("%s: %s", self._informer.resource.plural, error)
        self._crew.stopping.wait(self._pause)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
