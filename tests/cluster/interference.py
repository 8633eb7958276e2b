"""What may get in the way of a write: somebody else's change, and a missing right."""

from __future__ import annotations

from tests.cluster.standin import Reply, Rule, Seen, StandIn, status_of


def annotations_of(server: StandIn, path: str) -> dict[str, str]:
    found: dict[str, str] = server.objects[path]["metadata"]["annotations"]
    return found


def moving(server: StandIn, path: str, *, times: int) -> Rule:
    """Let somebody else change an object just before each of the first patches of it."""
    left = [times]

    def rule(seen: Seen) -> Reply | None:
        if seen.method == "PATCH" and seen.path == path and left[0]:
            left[0] -= 1
            server.objects[path]["metadata"]["resourceVersion"] += "0"
        return None

    return rule


def forbidding(method: str, path: str) -> Rule:
    def rule(seen: Seen) -> Reply | None:
        if (seen.method, seen.path) != (method, path):
            return None
        return status_of(403, "Forbidden", message="no")

    return rule
