"""A history: every change of the objects that matter, in the exact order in which they happened.

Owns its shape, replaying it, and its file (JSON lines). Leaves recording to whoever can see the
cluster, and what must hold to :mod:`.checks`. All changes of one API server count in the same
revisions, whichever watch told them; arrival times are only used to measure how long things took.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]
"""A Kubernetes object as JSON."""
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


class Replay:
    """A world that goes through its changes one after the other."""

    def __init__(self) -> None:
        """Begin with an empty world."""
        self._world: defaultdict[str, Objects] = defaultdict(dict)

    def see(self, change: Change) -> Moment:
        """Go on by one change. ``world`` is one dict that goes on changing: look at once."""
        metadata = change.object["metadata"]
        objects = self._world[change.kind]
        key = (metadata.get("namespace", ""), metadata["name"])
        before = objects.get(key)
        if change.type == "DELETED":
            objects.pop(key, None)
        else:
            objects[key] = change.object
        return Moment(change, before, self._world)


def replay(changes: Sequence[Change]) -> Iterator[Moment]:
    """The changes in their true order; each moment is to be looked at before the next one."""
    world = Replay()
    return map(world.see, sorted(changes, key=lambda one: one.revision))


def write(changes: Iterable[Change], path: Path) -> None:
    """Write changes as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for one in changes:
            line = {"at": one.at, "kind": one.kind, "type": one.type, "object": one.object}
            file.write(json.dumps(line) + "\n")


def read(path: Path) -> tuple[Change, ...]:
    """Read a history that :func:`write` wrote; other lines are left to :mod:`.record`."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return tuple(
        Change(
            one["at"],
            int(one["object"]["metadata"]["resourceVersion"]),
            one["kind"],
            one["type"],
            one["object"],
        )
        for one in lines
        if "object" in one
    )
