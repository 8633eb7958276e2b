"""The history of a test: every change of the objects that matter, as the API server's watches tell it.

Owns recording and replaying. Leaves what must hold to :mod:`.checks`. All watches of one API server
count in the same revisions (etcd's), so changes of different kinds have one exact order, whichever
watch told them first; arrival times are only used to measure how long things took.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

import requests

from tests.e2e.api import GROUPS, Api, Object, Watch

Objects: TypeAlias = dict[tuple[str, str], Object]
"""(namespace, name) to object."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change: ``type`` is ADDED, MODIFIED or DELETED, ``at`` seconds of a monotonic clock."""

    at: float
    revision: int
    kind: str
    type: str
    object: Object

    @property
    def name(self) -> str:
        """The name of the changed object."""
        name: str = self.object["metadata"]["name"]
        return name


@dataclass(frozen=True, slots=True)
class Moment:
    """A change, the object as it was before it (None: not there), and the world after it."""

    change: Change
    before: Object | None
    world: Mapping[str, Objects]


def replay(changes: Sequence[Change]) -> Iterator[Moment]:
    """The changes in their true order. ``world`` is one dict that goes on changing: look at once."""
    world: dict[str, Objects] = {kind: {} for kind in GROUPS}
    for change in sorted(changes, key=lambda one: one.revision):
        metadata = change.object["metadata"]
        objects = world[change.kind]
        key = (metadata.get("namespace", ""), metadata["name"])
        before = objects.get(key)
        if change.type == "DELETED":
            objects.pop(key, None)
        else:
            objects[key] = change.object
        yield Moment(change, before, world)


class Recorder:
    """Watches all kinds of :data:`.api.GROUPS` from ``with`` on; one thread for each.

    A history with a hole would prove nothing: after a watch that couldn't go on where it was, every
    use raises RuntimeError.
    """

    def __init__(self, api: Api) -> None:
        """Nothing is watched before ``with``."""
        self._api = api
        self._changes: list[Change] = []
        self._news = threading.Condition()
        self._ending = threading.Event()
        self._hole: Object | None = None
        self._watches: dict[str, Watch] = {}
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        """List every kind, then watch from there on."""
        for kind in GROUPS:
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

    def wait_for(self, what: str, holds: Callable[[Change], bool], seconds: float) -> Change:
        """The first change, also of the past, for which it holds; raises :class:`TimeoutError`."""
        end = time.monotonic() + seconds
        looked_at = 0
        while True:
            with self._news:
                while len(self._changes) == looked_at:
                    self._refuse_a_hole()
                    if not self._news.wait(end - time.monotonic()):
                        message = f"not seen within {seconds:.0f} s: {what}"
                        raise TimeoutError(message)
                fresh = self._changes[looked_at:]
            for change in fresh:
                if holds(change):
                    return change
            looked_at += len(fresh)

    def write(self, path: Path) -> None:
        """Write all of it as JSON lines."""
        with path.open("w") as file:
            for one in self.changes:
                line = {"at": one.at, "kind": one.kind, "type": one.type, "object": one.object}
                file.write(json.dumps(line) + "\n")

    def _follow(self, kind: str, version: str) -> None:
        while (watch := self._open(kind, version)) is not None:
            try:
                for event in watch:
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
                watch = self._api.watch(kind, version, seconds=300)
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
        revision = int(thing["metadata"]["resourceVersion"])
        with self._news:
            self._changes.append(Change(time.monotonic(), revision, kind, what, thing))
            self._news.notify_all()


def read(path: Path) -> tuple[Change, ...]:
    """A history that :meth:`Recorder.write` wrote."""
    lines = map(json.loads, path.read_text().splitlines())
    return tuple(
        Change(
            one["at"],
            int(one["object"]["metadata"]["resourceVersion"]),
            one["kind"],
            one["type"],
            one["object"],
        )
        for one in lines
    )
