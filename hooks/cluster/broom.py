"""Changes many objects one by one and keeps account of each: the mechanics of a sweep.

Owns conflicts, dry runs and per-item errors. Leaves what is to be changed to
:mod:`hooks.cluster.sweep`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.connection import Connection
from hooks.cluster.errors import ClusterError, Conflict, NotFound, NotServed
from hooks.cluster.resources import (
    DEPLOYMENTS,
    NODECLAIMS,
    NODEPOOLS,
    NODES,
    PODS,
    REPLICASETS,
    Resource,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind as people call it, and where it lives.

    ``custom`` tells that a CRD brings it, so that it may have gone before we are swept.
    """

    name: str
    resource: Resource
    custom: bool = False


NODEPOOL: Final = Kind("NodePool", NODEPOOLS, custom=True)
NODECLAIM: Final = Kind("NodeClaim", NODECLAIMS, custom=True)
NODE: Final = Kind("Node", NODES)
POD: Final = Kind("Pod", PODS)
DEPLOYMENT: Final = Kind(names.DEPLOYMENT, DEPLOYMENTS)
REPLICASET: Final = Kind("ReplicaSet", REPLICASETS)


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to one object: the keys that changed, none where it was deleted itself."""

    kind: str
    name: str
    namespace: str | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be done, and why. ``name`` is ``*`` where not even a list came back."""

    kind: str
    name: str
    error: str
    namespace: str | None = None


@dataclass(slots=True)
class Broom:
    """Sweeps through one connection; ``attempts`` bounds the patches of one object.

    In a dry run nothing is written and ``changes`` are those that it would have made.
    """

    connection: Connection
    attempts: int
    dry_run: bool = False
    changes: list[Change] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def collect(
        self, kind: Kind, keys: Collection[str], namespace: str | None = None
    ) -> list[Json] | None:
        """List the objects with any of these annotations or labels; None if that failed.

        Of a custom kind that isn't served there is nothing.
        """
        try:
            items = self.connection.items(kind.resource.every(namespace))
            return [item for item in items if carries(item, keys)]
        except ClusterError as error:
            if kind.custom and isinstance(error, NotServed):
                return []
            self.failures.append(Failure(kind.name, "*", str(error)))
            return None

    def amend(self, kind: Kind, seen: Json, wanted: Callable[[Json], list[Json]]) -> None:
        """Patch an object with what ``wanted`` computes from it as it was seen."""
        name, namespace = _place(seen)
        try:
            ops = self._amended(kind, seen, wanted, self.attempts)
        except NotFound:
            return
        except ClusterError as error:
            self.failures.append(Failure(kind.name, name, str(error), namespace))
            return
        if ops:
            self.changes.append(Change(kind.name, name, namespace, _touched(ops)))

    def delete(self, kind: Kind, seen: Json) -> None:
        """Delete exactly the object that was seen."""
        name, namespace = _place(seen)
        try:
            if not self.dry_run:
                path = kind.resource.one(name, namespace)
                self.connection.delete(path, uid=seen["metadata"]["uid"])
        except NotFound:
            return
        except ClusterError as error:
            self.failures.append(Failure(kind.name, name, str(error), namespace))
            return
        self.changes.append(Change(kind.name, name, namespace))

    def _amended(
        self, kind: Kind, seen: Json, wanted: Callable[[Json], list[Json]], attempts: int
    ) -> list[Json]:
        ops = wanted(seen)
        if not ops or self.dry_run:
            return ops
        path = kind.resource.one(*_place(seen))
        try:
            self.connection.patch(path, ops)
        except Conflict:
            if attempts <= 1:
                raise
            return self._amended(kind, self.connection.get(path), wanted, attempts - 1)
        return ops


def carries(item: Json, keys: Collection[str]) -> bool:
    """Whether an object carries any of these annotations or labels."""
    meta = item["metadata"]
    present = (meta.get("annotations") or {}).keys() | (meta.get("labels") or {}).keys()
    return not present.isdisjoint(keys)


def _place(item: Json) -> tuple[str, str | None]:
    meta = item["metadata"]
    return meta["name"], meta.get("namespace")


def _touched(ops: list[Json]) -> tuple[str, ...]:
    last = (op["path"].rpartition("/")[2] for op in ops if op["op"] != "test")
    return tuple(dict.fromkeys(key.replace("~1", "/").replace("~0", "~") for key in last))
