"""The cluster's API over one state, for one call of the real software: reads, and one write.

What is written is collected as an :class:`Effect`, for the search to put into the next state; the
state itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import jsonpatch
from typing_extensions import override

from hooks import names
from hooks.cluster.errors import Conflict, NotFound
from hooks.cluster.reader import LiveReader
from hooks.rotation.model import Claim, Node, Pod, Pool
from tests.search.state import State, find
from tests.search.things import Thing, going, thing
from tests.support.live import POD, Json
from tests.support.world import workload

CLOCK: Final = (
    "2026-11-29T20:00:00Z",
    "2026-11-29T20:05:30Z",
    "2026-11-29T20:16:30Z",
    "2026-11-29T20:47:00Z",
    "2026-11-29T22:30:00Z",
    "2026-11-29T22:40:00Z",
)
"""The phases of time: at first; past readyTimeout; past the pauses; past the backoff; the window
shut; past readyTimeout then."""
LAST: Final = 4
"""The last phase of a search; only what comes to rest afterwards goes on to the very last."""

RESIDENTS: Final[Mapping[str, tuple[Thing, ...]]] = {
    "node-old": (
        thing(POD, workload("web-1", "old")),
        thing(POD, workload("agent-old", "old", "100m", "128Mi", kind="DaemonSet", name="agent")),
    ),
    "node-other": (thing(POD, workload("web-2", "other")),),
}
"""Who lives on the Nodes that were there from the beginning."""
LANDED: Final = thing(POD, workload("late-1", "new"))
"""A workload that comes to live on a fresh Node."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one write changed: one claim or Node, or an Event (name, outcome) that was created."""

    claim: Thing | None = None
    node: Thing | None = None
    event: tuple[str, str] | None = None
    deletes: bool = False


class Hands:
    """Implements :class:`hooks.cluster.verbs.Api`."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.effect: Effect | None = None
        self.reads = 0

    def within(self, _deadline: float) -> Hands:
        return self

    def briefly(self, _seconds: float) -> Hands:
        return self

    def residents(self, node: str) -> tuple[Thing, ...]:
        """The Pods on a Node."""
        if find(self.state.nodes, node) is None:
            return ()
        own = tuple(p for p in self.state.pods if p.obj["spec"].get("nodeName") == node)
        landed = (LANDED,) if node in self.state.lived_on else ()
        return RESIDENTS.get(node, ()) + landed + own

    def get_nodepool(self, name: str) -> Json | None:
        pool = self.state.pool
        return pool.obj if pool is not None and pool.name == name else None

    def get_nodeclaim(self, name: str) -> Json | None:
        found = find(self.state.claims, name)
        return found.obj if found is not None else None

    def get_node(self, name: str) -> Json | None:
        found = find(self.state.nodes, name)
        return found.obj if found is not None else None

    def get_pod(self, namespace: str, name: str) -> Json | None:
        found = find(self.state.pods, name)
        return found.obj if found is not None and namespace == names.NAMESPACE else None

    def list_pods_on(self, node: str) -> list[Json]:
        return [pod.obj for pod in self.residents(node)]

    def list_poddisruptionbudgets(self) -> list[Json]:
        return []

    def _patched(self, found: Thing | None, ops: Sequence[Json]) -> Thing:
        if found is None:
            raise NotFound("it is gone")
        try:
            obj: Json = jsonpatch.apply_patch(found.obj, list(ops))
        except jsonpatch.JsonPatchException as error:
            raise Conflict(str(error)) from error
        return thing(found.kind, obj)

    def patch_nodeclaim(self, name: str, ops: Sequence[Json]) -> Json:
        made = self._patched(find(self.state.claims, name), ops)
        self.effect = Effect(claim=made)
        return made.obj

    def patch_node(self, name: str, ops: Sequence[Json]) -> Json:
        made = self._patched(find(self.state.nodes, name), ops)
        self.effect = Effect(node=made)
        return made.obj

    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        found = find(self.state.claims, name)
        if found is None:
            raise NotFound(name)
        meta = found.obj["metadata"]
        if (meta["uid"], meta["resourceVersion"]) != (uid, resource_version):
            raise Conflict("the preconditions don't hold")
        now = CLOCK[self.state.phase]
        self.effect = Effect(claim=going(found, now), deletes=True)

    def create_event(self, namespace: str, body: Json) -> bool:
        name = body["metadata"]["name"]
        if any(name == known for known, *_ in self.state.events):
            return False
        assert namespace == names.EVENT_NAMESPACE
        self.effect = Effect(event=(name, str(body["reason"])))
        return True


@dataclass(frozen=True, slots=True)
class Reads(LiveReader):
    """The live reads, of values that have been read once already."""

    api: Hands

    @override
    def briefly(self) -> Reads:
        return self

    @override
    def pool(self, name: str) -> Pool | None:
        self.api.reads += 1
        pool = self.api.state.pool
        value: Pool | None = pool.value if pool is not None and pool.name == name else None
        return value

    @override
    def claim(self, name: str) -> Claim | None:
        self.api.reads += 1
        found = find(self.api.state.claims, name)
        value: Claim | None = found.value if found is not None else None
        return value

    @override
    def node(self, name: str) -> Node | None:
        self.api.reads += 1
        found = find(self.api.state.nodes, name)
        value: Node | None = found.value if found is not None else None
        return value

    @override
    def pods_on(self, node: str) -> tuple[Pod, ...]:
        self.api.reads += 1
        return tuple(pod.value for pod in self.api.residents(node))

    @override
    def placeholder(self, name: str) -> Pod | None:
        self.api.reads += 1
        found = find(self.api.state.pods, name)
        value: Pod | None = found.value if found is not None else None
        return value


def reads(state: State) -> Reads:
    """The reader of one state."""
    return Reads(Hands(state), names.NAMESPACE)
