"""Metacontroller as a model: requests that may be stale, answers applied in its order.

After design/rotation.md section 1: the parent first, with the resourceVersion of the cache, and
only if something changes (a conflict ends it silently); then attachments, those left out deleted,
those newly listed created, existing ones never changed.
"""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from typing_extensions import override

from hooks import names
from tests.support.live import CLAIM, NODE, POD, POOL, Json, Live
from tests.support.world import template

POLICY = "policies"
GROUPS = (POOL, CLAIM, NODE, POD, POLICY)
DEEPEST = 4
NOTHING: Mapping[str, int] = MappingProxyType({})
PREFIX = f"{names.NAMESPACE}/"


class Cluster(Live):
    """A cluster with policies, each of whose groups remembers how it was some changes ago."""

    def __init__(self, objects: dict[str, dict[str, Json]], policies: dict[str, Json]) -> None:
        super().__init__(objects)
        self.policies = policies
        self.watch: Callable[[str, Json], None] = lambda _event, _thing: None
        """Told of each delete of a claim before it lands, and of each placeholder created."""
        self._history: dict[str, deque[Json]] = {group: deque(maxlen=DEEPEST) for group in GROUPS}
        self._marks: dict[str, Any] = {}
        self.remember()

    @property
    def pool(self) -> Json:
        """The one NodePool, or what is left of it."""
        return self.objects[POOL].get("api", {})

    def notes(self, thing: Json | None = None) -> Json:
        """The annotations of an object, by default of the pool."""
        chosen = self.pool if thing is None else thing
        found: Json = chosen["metadata"].setdefault("annotations", {}) if chosen else {}
        return found

    def remember(self) -> None:
        """Take note of what has changed since the last time."""
        for group, things in self._groups().items():
            marks = {name: t["metadata"]["resourceVersion"] for name, t in things.items()}
            if marks != self._marks.get(group):
                self._history[group].append(copy.deepcopy(things))
                self._marks[group] = marks

    def _groups(self) -> dict[str, Json]:
        return {
            POOL: self.objects[POOL],
            CLAIM: self.objects[CLAIM],
            NODE: {
                name: node
                for name, node in self.objects[NODE].items()
                if names.SURGE_FOR in node["metadata"]["labels"]
            },
            POD: {name: pod for name, pod in self.objects[POD].items() if name.startswith(PREFIX)},
            POLICY: self.policies,
        }

    def request(self, stale: Mapping[str, int] = NOTHING) -> Json | None:
        """The next sync request; None when the pool is gone.

        ``stale`` says for some groups how many changes ago they are shown.
        """
        self.remember()
        view = {
            group: past[max(-len(past), -1 - stale.get(group, 0))]
            for group, past in self._history.items()
        }
        pool = view[POOL].get("api")
        if pool is None:
            return None
        return copy.deepcopy(
            {
                "controller": CONTROLLER,
                "object": pool,
                "attachments": {names.POD_GROUP: view[POD]},
                "related": {
                    names.NODE_GROUP: view[NODE],
                    names.NODECLAIM_GROUP: view[CLAIM],
                    names.ROTATIONPOLICY_GROUP: view[POLICY],
                },
                "finalizing": False,
            }
        )

    @override
    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        current = self.objects[CLAIM].get(name)
        if current is not None and current["metadata"]["resourceVersion"] == resource_version:
            self.watch("delete", current)
        super().delete_nodeclaim(name, uid=uid, resource_version=resource_version)

    def apply(self, request: Json, body: bytes) -> None:
        """Do with an answer what Metacontroller does."""
        answer = json.loads(body)
        if self._update_parent(request["object"], answer.get("annotations", {})):
            self._update_attachments(request, answer["attachments"])

    def _update_parent(self, cached: Json, changes: dict[str, str | None]) -> bool:
        notes = dict(self.notes(cached))
        for key, value in changes.items():
            if value is None:
                notes.pop(key, None)
            else:
                notes[key] = value
        if notes == self.notes(cached):
            return True
        if (
            not self.pool
            or self.pool["metadata"]["resourceVersion"] != (cached["metadata"]["resourceVersion"])
        ):
            return False
        self.pool["metadata"]["annotations"] = notes
        self.touch(self.pool)
        self.remember()
        return True

    def _update_attachments(self, request: Json, listed: list[Json]) -> None:
        if not self.pool or "deletionTimestamp" in request["object"]["metadata"]:
            return
        wanted = {f"{p['metadata']['namespace']}/{p['metadata']['name']}": p for p in listed}
        observed = request["attachments"][names.POD_GROUP]
        for name in observed.keys() - wanted.keys():
            there = self.objects[POD].get(name)
            if there is not None and _uid(there) == _uid(observed[name]):
                self.remove_pod(name)
        for name in wanted.keys() - observed.keys():
            if name not in self.objects[POD]:
                self.watch("create", wanted[name])
                self._create(name, wanted[name])

    def remove_pod(self, name: str) -> None:
        """Delete a Pod: a bound one terminates until its kubelet says so, another is gone."""
        pod = self.objects[POD][name]
        if "nodeName" in pod["spec"]:
            pod["metadata"].setdefault("deletionTimestamp", self.now)
            self.touch(pod)
        else:
            del self.objects[POD][name]

    def _create(self, name: str, manifest: Json) -> None:
        pod = copy.deepcopy(manifest)
        pod["status"] = {"phase": "Pending", "conditions": []}
        self.touch(pod)
        uid = f"pod-{pod['metadata']['resourceVersion']}"
        pod["metadata"] |= {"uid": uid, "creationTimestamp": self.now}
        self.objects[POD][name] = pod


def _uid(thing: Json) -> str:
    uid: str = thing["metadata"]["uid"]
    return uid


CONTROLLER = template("controller")
