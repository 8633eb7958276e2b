"""Objects known by their content: equal ones are one, and none is ever changed.

A state of the search is made of these, so that a world is forked by copying a few tuples, and two
equal worlds are the same key. The resourceVersion that the software sees is the content's digest;
who may still write on which version is kept beside (:class:`tests.search.state.Flight`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from typing_extensions import override

from hooks import names
from hooks.protocol.core import node_of, pod_of
from hooks.protocol.karpenter import claim_of, pool_of
from hooks.protocol.policy import policy_of
from tests.support.live import CLAIM, NODE, POD, POOL, Json
from tests.support.metamodel import POLICY

READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    POOL: pool_of,
    CLAIM: claim_of,
    NODE: node_of,
    POD: pod_of,
    POLICY: policy_of,
}


class Interned:
    """Something whose key says all of it; see :func:`interned`."""

    __slots__ = ("_hash", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        digest = hashlib.blake2b(key.encode(), digest_size=7).digest()
        self._hash = int.from_bytes(digest, "big")

    @override
    def __hash__(self) -> int:
        return self._hash


class Thing(Interned):
    """One object: as JSON, and as the value that the rotation's readings make of it."""

    __slots__ = ("deleting", "kind", "labelled", "name", "notes", "obj", "uid", "value")

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(kind + text)
        self.kind = kind
        self.obj: Json = json.loads(text)
        self.obj["metadata"]["resourceVersion"] = f"{hash(self):x}"
        self.name: str = self.obj["metadata"]["name"]
        self.notes: Mapping[str, str] = self.obj["metadata"].get("annotations", {})
        meta = self.obj["metadata"]
        self.uid: str = meta["uid"]
        self.deleting = "deletionTimestamp" in meta
        """Whether it is on its way out."""
        self.labelled = names.SURGE_FOR in meta.get("labels", {})
        """Whether a Node is related to the pool: it carries our label."""
        self.value: Any = READ[kind](self.obj)

    def copy(self) -> Json:
        """The object, to make another one of it."""
        made: Json = json.loads(self.key[len(self.kind) :])
        return made

    def note(self, key: str) -> str | None:
        """One of its annotations."""
        return self.notes.get(key)


_THINGS: dict[str, Thing] = {}


def thing(kind: str, obj: Json) -> Thing:
    """The one Thing of this content; ``obj`` is taken over."""
    obj["metadata"]["resourceVersion"] = "0"
    text = json.dumps(obj, sort_keys=True)
    found = _THINGS.get(kind + text)
    if found is None:
        found = _THINGS[kind + text] = Thing(kind, text)
    return found


def changed(old: Thing, change: Callable[[Json], object]) -> Thing:
    """The Thing after a change of its JSON."""
    obj = old.copy()
    change(obj)
    return thing(old.kind, obj)


@cache
def noted(old: Thing, notes: tuple[tuple[str, str | None], ...]) -> Thing:
    """The Thing with some annotations set, or removed."""

    def change(obj: Json) -> None:
        there = obj["metadata"].setdefault("annotations", {})
        for key, value in notes:
            if value is None:
                there.pop(key, None)
            else:
                there[key] = value

    return changed(old, change)


@cache
def going(old: Thing, since: str) -> Thing:
    """The Thing on its way out."""
    return changed(old, lambda obj: obj["metadata"].setdefault("deletionTimestamp", since))


@cache
def with_meta(old: Thing, **meta: str) -> Thing:
    """The Thing with other metadata."""
    return changed(old, lambda obj: obj["metadata"].update(meta))


@cache
def with_spec(old: Thing, key: str, value: str | bool) -> Thing:
    """The Thing with another field of its spec."""
    return changed(old, lambda obj: obj["spec"].update({key: value}))


@cache
def with_status(old: Thing, key: str, value: str) -> Thing:
    """The Thing with another field of its status."""
    return changed(old, lambda obj: obj["status"].update({key: value}))


@cache
def tainted(old: Thing, key: str) -> Thing:
    """The Node with a taint."""
    taint = {"key": key, "effect": "NoSchedule"}
    return changed(old, lambda obj: obj["spec"].update(taints=[taint]))


@cache
def with_condition(old: Thing, kind: str, status: str) -> Thing:
    """The Thing with another condition."""

    def change(obj: Json) -> None:
        conditions = obj["status"].setdefault("conditions", [])
        there = next((c for c in conditions if c["type"] == kind), None)
        if there is None:
            conditions.append({"type": kind, "status": status})
        else:
            there["status"] = status

    return changed(old, change)
