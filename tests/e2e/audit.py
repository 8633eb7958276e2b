"""What our service account asked of the API server, from the audit log.

Owns reading the log, and the list of what may be asked: the verbs of the design, no more. Source:
design/rotation.md section 4.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

ALLOWED = frozenset(
    {
        ("get", "nodepools"),
        ("list", "nodepools"),
        ("get", "nodeclaims"),
        ("list", "nodeclaims"),
        ("patch", "nodeclaims"),
        ("delete", "nodeclaims"),
        ("get", "nodes"),
        ("list", "nodes"),
        ("patch", "nodes"),
        ("get", "pods"),
        ("list", "pods"),
        ("delete", "pods"),
        ("list", "poddisruptionbudgets"),
        ("create", "events"),
    }
)
"""(verb, resource). To list Nodes and claims, and to delete Pods, is for the sweep at the start."""
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call: verb, resource, the object's name (or ""), and the status it was answered with."""

    verb: str
    resource: str
    name: str
    status: int

    @property
    def writes(self) -> bool:
        """Whether it can change anything."""
        return self.verb in WRITES


def calls(log: Path) -> list[Call]:
    """All calls to resources so far (discovery left out)."""
    found = []
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        about = entry.get("objectRef", {})
        if "resource" in about:
            status = entry.get("responseStatus", {}).get("code", 0)
            found.append(Call(entry["verb"], about["resource"], about.get("name", ""), status))
    return found


def excesses(made: list[Call]) -> list[Call]:
    """The calls that go beyond :data:`ALLOWED`, or that RBAC refused."""
    return [one for one in made if (one.verb, one.resource) not in ALLOWED or one.status == 403]
