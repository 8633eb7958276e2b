"""Watches: what happens to the objects that a query means.

Owns the stream of events, in real time. An object that begins or ceases to match the selectors is
ADDED or DELETED for the watch. Seen in: apiserver v0.36.3 pkg/storage/cacher (cache_watcher.go:
convertToWatchEvent), pkg/endpoints/handlers/watch.go.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from hooks.sandbox.face.bodies import encoded, failure
from hooks.sandbox.face.reading import matcher_of
from hooks.sandbox.face.targets import Target, is_set
from hooks.sandbox.face.wire import Request
from hooks.sandbox.objects import Obj, name_of, namespace_of
from hooks.sandbox.store.doors import outwards, stored_kind
from hooks.sandbox.store.matching import Matcher
from hooks.sandbox.store.refusals import bad_request, too_old

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore, StoreEvent

_DEFAULT_SECONDS: Final = 1800.0
_LOOK_AGAIN_SECONDS: Final = 0.5
_BOOKMARK_SECONDS: Final = 60.0
_INITIAL_END: Final = {"k8s.io/initial-events-end": "true"}

Event: TypeAlias = tuple[str, Obj]
Key: TypeAlias = tuple[str, str]


@dataclass(slots=True)
class _Watch:
    """One watch: up to where it has told, and what it counts as there."""

    store: ObjectStore
    target: Target
    matcher: Matcher
    bookmarks: bool
    told: int
    there: dict[Key, Obj] = field(default_factory=dict)

    def recall(self, until: int) -> None:
        """Learn what matched at a revision, without telling it."""
        if self.matcher.takes_all:
            return
        for event in self.store.events_after(0):
            if event.revision > until:
                break
            self._event_of(event)

    def initial(self) -> Iterator[Event]:
        """Tell everything that is there now."""
        items, self.told = self.store.snapshot(
            stored_kind(self.target.resource), self.target.namespace
        )
        for obj in items:
            shown = outwards(self.target.resource, obj)
            if self.matcher.matches(shown):
                self.there[_key(obj)] = shown
                yield "ADDED", shown

    def news(self) -> Iterator[Event]:
        """Tell what has happened since."""
        for event in self.store.events_after(self.told):
            self.told = event.revision
            told = self._event_of(event)
            if told is not None:
                yield told

    def bookmark(self, annotations: dict[str, str] | None = None) -> Event:
        """Tell up to where everything has been told."""
        metadata: Obj = {"resourceVersion": str(self.told)}
        if annotations:
            metadata["annotations"] = annotations
        resource = self.target.resource
        kind = {"kind": resource.kind, "apiVersion": resource.api_version}
        return "BOOKMARK", {**kind, "metadata": metadata}

    def _event_of(self, event: StoreEvent) -> Event | None:
        target = self.target
        if event.resource != stored_kind(target.resource):
            return None
        if target.namespace not in {None, namespace_of(event.obj)}:
            return None
        shown = outwards(target.resource, event.obj)
        if self.matcher.takes_all:
            return event.type, shown
        before = self.there.pop(_key(event.obj), None)
        if event.type != "DELETED" and self.matcher.matches(shown):
            self.there[_key(event.obj)] = shown
            return ("ADDED" if before is None else "MODIFIED"), shown
        if before is None:
            return None
        # As it was when it still matched, but under the version that ended that.
        version = shown["metadata"]["resourceVersion"]
        return "DELETED", before | {"metadata": before["metadata"] | {"resourceVersion": version}}


def watch(
    store: ObjectStore, target: Target, request: Request, stopped: Callable[[], bool]
) -> Iterator[bytes]:
    """Return the events, each as a line of JSON; raises ApiError 400 before the first.

    ``timeoutSeconds=0`` ends it when all is told that has happened; the real server would take it
    for its default.
    """
    matcher = matcher_of(target, request)
    version = request.query.get("resourceVersion") or "0"
    if not version.isdecimal():
        raise bad_request(f"resourceVersion: Invalid value: {version!r}")
    seconds = float(request.query.get("timeoutSeconds") or _DEFAULT_SECONDS)
    bookmarks = is_set(request, "allowWatchBookmarks")
    opened = _Watch(store, target, matcher, bookmarks, int(version))
    wants_all = version == "0" or is_set(request, "sendInitialEvents")
    return _lines(opened, seconds, stopped, wants_all=wants_all, request=request)


def _lines(
    opened: _Watch,
    seconds: float,
    stopped: Callable[[], bool],
    *,
    wants_all: bool,
    request: Request,
) -> Iterator[bytes]:
    if opened.told > opened.store.revision:
        yield _line("ERROR", failure(too_old(str(opened.told))))
        return
    if wants_all:
        yield from (_line(*event) for event in opened.initial())
        if is_set(request, "sendInitialEvents"):
            yield _line(*opened.bookmark(_INITIAL_END))
    else:
        opened.recall(opened.told)
    yield from _news(opened, time.monotonic() + seconds, stopped)


def _news(opened: _Watch, end: float, stopped: Callable[[], bool]) -> Iterator[bytes]:
    next_bookmark = time.monotonic() + _BOOKMARK_SECONDS
    while not stopped():
        yield from (_line(*event) for event in opened.news())
        now = time.monotonic()
        if opened.bookmarks and now >= min(next_bookmark, end):
            yield _line(*opened.bookmark())
            next_bookmark = now + _BOOKMARK_SECONDS
        if now >= end:
            return
        opened.store.wait_for_change(opened.told, min(_LOOK_AGAIN_SECONDS, end - now))


def _line(event: str, obj: Obj) -> bytes:
    return encoded({"type": event, "object": obj}) + b"\n"


def _key(obj: Obj) -> Key:
    return namespace_of(obj), name_of(obj)
