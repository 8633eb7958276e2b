"""Recording the history of a test, as the API server's watches tell it.

All watches of one API server count in the same revisions (etcd's), so changes of different kinds
have one exact order, whichever watch told them first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import requests

from hooks.verdict.history import Change, Object, write
from tests.e2e.api import GROUPS, Api, Watch

WATCHED = 3600
"""Seconds for one watch. Events have no bookmarks: where nobody says anything for minutes, a second
watch would begin at a version that is compacted by then."""


class Recorder:
    """Watches ``kinds`` of :data:`.api.PATHS` from ``with`` on; one thread for each.

    A history with a hole would prove nothing: after a watch that couldn't go on where it was, every
    use raises RuntimeError. Only where ``expect_a_gap()`` was called before is a kind listed again
    instead, and what has changed meanwhile is one change for each object.
    """

    def __init__(self, api: Api, kinds: Iterable[str] = tuple(GROUPS)) -> None:
        """Nothing is watched before ``with``."""
        self._api = api
        self._changes: list[Change] = []
        self._news = threading.Condition()
        self._ending = threading.Event()
        self._hole: Object | None = None
        self._gaps: set[str] = set()
        self._known: dict[str, dict[str, Object]] = {kind: {} for kind in kinds}
        self._watches: dict[str, Watch] = {}
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        """List every kind, then watch from there on."""
        for kind in self._known:
            items, version = self._api.snapshot(kind)
            for item in items:
                self._record(kind, "ADDED", item)
            thread = threading.Thread(target=self._follow, args=(kind, version), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop watching: an API server with open watches takes its time to end."""
        with self._news:
            self._ending.set()
            for watch in self._watches.values():
                watch.close()
        for thread in self._threads:
            thread.join()

    @property
    def changes(self) -> tuple[Change, ...]:
        """All that has been seen so far, in the order of arrival."""
        with self._news:
            self._refuse_a_hole()
            return tuple(self._changes)

    def wait_for(
        self, what: str, holds: Callable[[Change], bool], seconds: float, since: int = 0
    ) -> Change:
        """The first change, also of the past, for which it holds; raises :class:`TimeoutError`.

        The first ``since`` changes are left out.
        """
        end = time.monotonic() + seconds
        looked_at = since
        while True:
            with self._news:
                while len(self._changes) <= looked_at:
                    self._refuse_a_hole()
                    if not self._news.wait(end - time.monotonic()):
                        message = f"not seen within {seconds:.0f} s: {what}"
                        raise TimeoutError(message)
                fresh = self._changes[looked_at:]
            for change in fresh:
                if holds(change):
                    return change
            looked_at += len(fresh)

    def expect_a_gap(self) -> None:
        """The API server will be started anew: its watches don't go back to before that.

        Nothing changes while it is away, so all that can be lost is what its last watches didn't
        tell any more.
        """
        with self._news:
            self._gaps = set(self._known)

    def write(self, path: Path) -> None:
        """Write all of it as JSON lines."""
        write(self.changes, path)

    def _follow(self, kind: str, version: str) -> None:
        while (watch := self._open(kind, version)) is not None:
            try:
                for event in watch:
                    if event["type"] == "ERROR" and kind in self._gaps:
                        version = self._list_again(kind)
                        break
                    if self._is_hole(event):
                        return
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._record(kind, event["type"], event["object"])
            except requests.RequestException:
                # The watch was cut: the next one goes on where it was.
                continue

    def _open(self, kind: str, version: str) -> Watch | None:
        """The next watch of a kind; None at the end."""
        while not self._ending.is_set():
            try:
                watch = self._api.watch(kind, version, seconds=WATCHED)
            except requests.RequestException:
                self._ending.wait(0.5)
                continue
            with self._news:
                # Either the end is seen here, or the end sees the watch and closes it.
                if not self._ending.is_set():
                    self._watches[kind] = watch
                    return watch
            watch.close()
        return None

    def _list_again(self, kind: str) -> str:
        """Tell what has changed since the last change of the kind; the version of the present."""
        items, version = self._api.snapshot(kind)
        before = dict(self._known[kind])
        for item in items:
            old = before.pop(item["metadata"]["uid"], None)
            if old is None or _version(old) != _version(item):
                self._record(kind, "MODIFIED" if old else "ADDED", item)
        for old in before.values():
            gone = {**old, "metadata": {**old["metadata"], "resourceVersion": version}}
            self._record(kind, "DELETED", gone)
        with self._news:
            self._gaps.discard(kind)
        return version

    def _is_hole(self, event: Object) -> bool:
        if event["type"] != "ERROR":
            return False
        with self._news:
            self._hole = event["object"]
            self._news.notify_all()
        return True

    def _refuse_a_hole(self) -> None:
        if self._hole is not None:
            message = f"a watch has lost changes: {self._hole}"
            raise RuntimeError(message)

    def _record(self, kind: str, what: str, thing: Object) -> None:
        thing["metadata"].pop("managedFields", None)
        revision = int(_version(thing))
        uid = thing["metadata"]["uid"]
        if what == "DELETED":
            self._known[kind].pop(uid, None)
        else:
            self._known[kind][uid] = thing
        with self._news:
            self._changes.append(Change(time.monotonic(), revision, kind, what, thing))
            self._news.notify_all()


def _version(thing: Object) -> str:
    version: str = thing["metadata"]["resourceVersion"]
    return version


def is_of(name: str, change: Change) -> bool:
    """Whether a change is of the pools whose names begin so, or of what belongs to them."""
    metadata = change.object["metadata"]
    if change.kind in {"Pod", "Node", "NodeClaim"}:
        labels = metadata.get("labels", {})
        of = labels.get("karpenter.sh/nodepool") or labels.get("pool")
        return (of or change.name.removeprefix("noderotation-surge-")).startswith(name)
    if change.kind == "Event":
        about: str = change.object["involvedObject"].get("name", "")
        return about.startswith(name)
    return change.name.startswith(name)
