"""A cluster whose every write passes a point where something may happen: the place of a mishap.

Owns the points: one before and one after each write of the hook's client, and of Metacontroller's
application of an answer. What happens there is for :mod:`tests.support.mishaps` to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from typing_extensions import override

from tests.support.live import POD, Json
from tests.support.metamodel import Cluster

T = TypeVar("T")

CLIENT = ("patch nodeclaims", "patch nodes", "delete nodeclaims", "create events")
"""What the hook writes itself, in the words of :class:`tests.support.live.Live`."""
UPDATE, REMOVE, CREATE = "update parent", "delete attachment", "create attachment"
ANSWER = (UPDATE, REMOVE, CREATE)
"""What Metacontroller writes, in its order."""
BEFORE, AFTER = "before", "after"


class Stage(Cluster):
    """``at`` is called with (before or after, the kind of write, the object's name)."""

    at: Callable[[str, str, str], None]

    def __init__(self, objects: dict[str, dict[str, Json]], policies: dict[str, Json]) -> None:
        super().__init__(objects, policies)
        self.at = quiet
        self.denies = False
        """Whether a quota keeps every new Pod out."""
        self._answering = False

    def fork(self) -> Stage:
        """Give the same cluster once more; its past, the log of writes and ``at`` stay behind."""
        things, policies = json.loads(json.dumps([self.objects, self.policies]))
        other = Stage(things, policies)
        other.now = self.now
        other.events = dict(self.events)
        other.versions = self.versions
        other.denies = self.denies
        return other

    @property
    def versions(self) -> int:
        """The last resourceVersion that was given."""
        return self._version

    @versions.setter
    def versions(self, last: int) -> None:
        self._version = last

    def _through(self, kind: str, name: str, write: Callable[[], T]) -> T:
        self.at(BEFORE, kind, name)
        done = write()
        self.at(AFTER, kind, name)
        return done

    @override
    def patch_nodeclaim(self, name: str, ops: Sequence[Json]) -> Json:
        write = super().patch_nodeclaim
        return self._through(CLIENT[0], name, lambda: write(name, ops))

    @override
    def patch_node(self, name: str, ops: Sequence[Json]) -> Json:
        write = super().patch_node
        return self._through(CLIENT[1], name, lambda: write(name, ops))

    @override
    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        write = super().delete_nodeclaim
        self._through(
            CLIENT[2], name, lambda: write(name, uid=uid, resource_version=resource_version)
        )

    @override
    def create_event(self, namespace: str, body: Json) -> bool:
        write = super().create_event
        name = body["metadata"]["name"]
        return self._through(CLIENT[3], name, lambda: write(namespace, body))

    @override
    def apply(self, request: Json, body: bytes) -> None:
        self._answering = True
        try:
            super().apply(request, body)
        finally:
            self._answering = False

    @override
    def _update_parent(self, cached: Json, changes: dict[str, str | None]) -> bool:
        write = super()._update_parent
        notes = self.notes(cached)
        if all(notes.get(key) == value for key, value in changes.items()):
            return write(cached, changes)
        name = cached["metadata"]["name"]
        return self._through(UPDATE, name, lambda: write(cached, changes))

    @override
    def remove_pod(self, name: str) -> None:
        write = super().remove_pod
        if not self._answering:
            write(name)
        elif "deletionTimestamp" not in self.objects[POD][name]["metadata"]:
            self._through(REMOVE, name, lambda: write(name))

    @override
    def _create(self, name: str, manifest: Json) -> None:
        write = super()._create
        if self.denies:
            return
        self._through(CREATE, name, lambda: write(name, manifest))


def quiet(_moment: str, _kind: str, _name: str) -> None:
    """Nothing happens."""


def wants(answer: bytes) -> Json:
    """What an answer asks for."""
    asked: Json = json.loads(answer)
    return asked
