"""What our service accounts asked of the API server, from the audit log, and what they may ask.

Owns reading the log and the rights out of rendered manifests, and comparing the two. Which rights
are to be granted is judged in ``tests/test_manifests.py``. Source: design/rotation.md section 4.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

from tests.scenarios.stage import Object

HOOKS = "noderotation-hooks"
"""The hook server's service account, which is asked about unless another one is named."""
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})

UNUSED: Mapping[Right, str] = {}
"""The rights that no scenario uses, each with the reason why it is granted all the same."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of our service account: verb, resource, the object's name (or ""), and the status."""

    verb: str
    resource: str
    name: str
    status: int

    @property
    def writes(self) -> bool:
        """Whether it can change anything."""
        return self.verb in WRITES


class Right(NamedTuple):
    """One verb on one resource, in one namespace or (``""``) in the whole cluster."""

    verb: str
    group: str
    resource: str
    namespace: str = ""

    def covers(self, one: Asked) -> bool:
        """Whether a call needs no more than this."""
        what = (one.call.verb, one.group, one.call.resource)
        return what == self[:3] and self.namespace in {"", one.namespace}


@dataclass(frozen=True, slots=True)
class Asked:
    """One call, with what a right is bound to beside its verb and resource."""

    call: Call
    group: str
    namespace: str


def granted(manifests: Iterable[Object], account: str) -> frozenset[Right]:
    """All rights that the roles in some manifests give to a ServiceAccount of theirs."""
    everything = list(manifests)
    roles = {
        (one["kind"], _namespace(one), one["metadata"]["name"]): one["rules"]
        for one in everything
        if one["kind"] in {"ClusterRole", "Role"}
    }
    found: set[Right] = set()
    for binding in everything:
        if binding["kind"] not in {"ClusterRoleBinding", "RoleBinding"}:
            continue
        if account not in {subject["name"] for subject in binding["subjects"]}:
            continue
        namespace, role = _namespace(binding), binding["roleRef"]
        own = "" if role["kind"] == "ClusterRole" else namespace
        for rule in roles[role["kind"], own, role["name"]]:
            every = product(rule["verbs"], rule["apiGroups"], rule["resources"])
            found |= {Right(*one, namespace) for one in every}
    return frozenset(found)


def asked(log: Path, account: str = HOOKS) -> list[Asked]:
    """All calls of a service account to resources so far (discovery left out)."""
    found = []
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        about = entry.get("objectRef", {})
        whose = entry["user"]["username"].rpartition(":")[2]
        if "resource" in about and whose == account:
            status = entry.get("responseStatus", {}).get("code", 0)
            parts = (about["resource"], about.get("subresource"))
            resource = "/".join(part for part in parts if part)
            call = Call(entry["verb"], resource, about.get("name", ""), status)
            found.append(Asked(call, about.get("apiGroup", ""), about.get("namespace", "")))
    return found


def calls(log: Path) -> list[Call]:
    """The same without what only rights are bound to."""
    return [one.call for one in asked(log)]


def excesses(made: Sequence[Asked], rights: Iterable[Right]) -> list[Asked]:
    """The calls that no right covers, or that RBAC refused."""
    known = list(rights)
    return [
        one
        for one in made
        if one.call.status == 403 or not any(right.covers(one) for right in known)
    ]


def idle(made: Sequence[Asked], rights: Iterable[Right]) -> set[Right]:
    """The rights that no call needed."""
    distinct = {(one.call.verb, one.call.resource, one.group, one.namespace): one for one in made}
    return {right for right in rights if not any(map(right.covers, distinct.values()))}


def _namespace(thing: Object) -> str:
    namespace: str = thing["metadata"].get("namespace", "")
    return namespace
