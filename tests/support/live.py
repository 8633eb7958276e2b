"""A cluster in memory behind the verbs of one pass: what live reads answer, and what was written.

It keeps the API server's word where the software relies on it: resourceVersions move with every
change, a JSON Patch whose test fails is a Conflict, a delete with stale preconditions too, and an
object with finalizers stays, marked, until somebody takes them off.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jsonpatch

from hooks.cluster.errors import ClusterError, Conflict, NotFound

Json = dict[str, Any]

EVENING = "2026-11-29T20:00:00Z"
CLAIM, POOL, NODE, POD = "nodeclaims", "nodepools", "nodes", "pods"
BUDGET = "poddisruptionbudgets"


class Live:
    """Objects by kind and name, a log of the writes, and faults to inject.

    ``fault`` is called before each call with (verb, name); it may raise, or return "after" to let
    the call land and lose its answer.
    """

    def __init__(self, objects: dict[str, dict[str, Json]], now: str = EVENING) -> None:
        self.objects = {
            kind: copy.deepcopy(objects.get(kind, {})) for kind in (CLAIM, POOL, NODE, POD, BUDGET)
        }
        self.now = now
        self.events: dict[str, Json] = {}
        self.writes: list[Json] = []
        self.reads: list[str] = []
        self.fault: Callable[[str, str], str | None] = lambda _verb, _name: None
        self._version = 1_000_000

    def within(self, _deadline: float) -> Live:
        return self

    def briefly(self, _seconds: float) -> Live:
        return self

    # --- reads ---

    def _get(self, kind: str, name: str) -> Json | None:
        self.reads.append(f"get {kind} {name}")
        self.fault(f"get {kind}", name)
        found = self.objects[kind].get(name)
        return copy.deepcopy(found) if found is not None else None

    def get_nodepool(self, name: str) -> Json | None:
        return self._get(POOL, name)

    def get_nodeclaim(self, name: str) -> Json | None:
        return self._get(CLAIM, name)

    def get_node(self, name: str) -> Json | None:
        return self._get(NODE, name)

    def get_pod(self, namespace: str, name: str) -> Json | None:
        return self._get(POD, f"{namespace}/{name}")

    def list_pods_on(self, node: str) -> list[Json]:
        self.reads.append(f"list pods {node}")
        self.fault("list pods", node)
        return [
            copy.deepcopy(pod)
            for pod in self.objects[POD].values()
            if pod["spec"].get("nodeName") == node
        ]

    def list_poddisruptionbudgets(self) -> list[Json]:
        self.reads.append("list poddisruptionbudgets")
        self.fault("list poddisruptionbudgets", "")
        return [copy.deepcopy(budget) for budget in self.objects[BUDGET].values()]

    # --- writes ---

    def touch(self, thing: Json) -> None:
        """Move an object's resourceVersion, as every change does."""
        self._version += 1
        thing["metadata"]["resourceVersion"] = str(self._version)

    def _patch(self, kind: str, name: str, ops: Sequence[Json]) -> Json:
        after = self.fault(f"patch {kind}", name)
        current = self.objects[kind].get(name)
        if current is None:
            raise NotFound(f"{kind} {name}")
        try:
            changed: Json = jsonpatch.apply_patch(current, list(ops))
        except jsonpatch.JsonPatchException as error:
            raise Conflict(str(error)) from error
        self.objects[kind][name] = changed
        self.touch(changed)
        bare = [op for op in ops if op["op"] != "test"]
        self.writes.append({"patch": f"{kind}/{name}", "ops": bare})
        if after == "after":
            raise ClusterError("the answer was lost")
        return copy.deepcopy(changed)

    def patch_nodeclaim(self, name: str, ops: Sequence[Json]) -> Json:
        return self._patch(CLAIM, name, ops)

    def patch_node(self, name: str, ops: Sequence[Json]) -> Json:
        return self._patch(NODE, name, ops)

    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        after = self.fault("delete nodeclaims", name)
        current = self.objects[CLAIM].get(name)
        if current is None:
            raise NotFound(name)
        meta = current["metadata"]
        if (meta["uid"], meta["resourceVersion"]) != (uid, resource_version):
            raise Conflict("the preconditions don't hold")
        self.writes.append({"delete": f"nodeclaims/{name}", "uid": uid})
        if meta.get("finalizers"):
            meta.setdefault("deletionTimestamp", self.now)
            self.touch(current)
        else:
            del self.objects[CLAIM][name]
        if after == "after":
            raise ClusterError("the answer was lost")

    def create_event(self, namespace: str, body: Json) -> bool:
        name = body["metadata"]["name"]
        after = self.fault("create events", name)
        if name in self.events:
            return False
        self.events[name] = copy.deepcopy(body)
        told = {key: body[key] for key in ("reason", "type", "note")} | {"name": name}
        kind, regarding = body["regarding"]["kind"], body["regarding"]["name"]
        self.writes.append({"event": f"{namespace}/{kind}", "regarding": regarding, **told})
        if after == "after":
            raise ClusterError("the answer was lost")
        return True
