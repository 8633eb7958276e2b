"""One call of each kind, for what must hold of all of them; they need a Node ``n1``."""

from __future__ import annotations

from collections.abc import Callable

from hooks.cluster.connection import Connection

NODES = "/api/v1/nodes"
NODE = f"{NODES}/n1"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
ADD = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]

Call = Callable[[Connection], object]
CALLS: list[tuple[str, Call]] = [
    ("GET", lambda c: c.get(NODE)),
    ("POST", lambda c: c.create(EVENTS, {"metadata": {"name": "e"}})),
    ("PATCH", lambda c: c.patch(NODE, ADD)),
    ("DELETE", lambda c: c.delete(NODE, uid="uid-n1")),
]
IDS = [verb for verb, _ in CALLS]
