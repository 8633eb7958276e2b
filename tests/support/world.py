"""Builds the wire objects of a small pool, in the shape that a real cluster sent.

The templates are objects of the recorded rotation, managedFields left out; each builder changes
only what its arguments say. A :class:`World` is a cluster; it makes the request that Metacontroller
would send of it (or of an older view of it) and the live objects beside it.
"""

from __future__ import annotations

import copy
import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hooks import names
from tests.support.live import CLAIM, NODE, POD, POOL

Json = dict[str, Any]

TEMPLATES = Path(__file__).parent.parent / "fixtures" / "templates"
NOW = "2026-11-29T20:00:00Z"
"""A Sunday evening in the middle of the window of :func:`policy`."""
LONG_AGO = "2026-11-01T08:00:00Z"
DUE = "2026-11-16T20:00:00Z"
"""Created then, a claim is due at NOW, and its deadline is a day away."""
YOUNG = "2026-11-27T20:00:00Z"
E, GRACE = "336h", "2m"


def template(kind: str) -> Json:
    loaded: Json = json.loads((TEMPLATES / f"{kind}.json").read_text())
    return loaded


def _mark(thing: Json, marks: dict[str, str]) -> None:
    notes = thing["metadata"].setdefault("annotations", {})
    for key, value in marks.items():
        full = key if "/" in key else names.PREFIX + key
        notes[full] = value


def nodepool(marks: dict[str, str] | None = None, **spec: Any) -> Json:
    """The pool ``api``; ``marks`` are annotations, those without a slash are ours."""
    pool = template("nodepool")
    pool["metadata"]["creationTimestamp"] = LONG_AGO
    _mark(pool, marks or {})
    template_spec = pool["spec"]["template"]["spec"]
    template_spec |= {"expireAfter": E, "terminationGracePeriod": GRACE}
    for key, value in spec.items():
        if key in {"expireAfter", "terminationGracePeriod", "taints"}:
            if value is None:
                template_spec.pop(key, None)
            else:
                template_spec[key] = value
        else:
            pool["spec"][key] = value
    return pool


def uid_of(name: str) -> str:
    """A UID that is the same for the same name."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def nodeclaim(
    name: str,
    marks: dict[str, str] | None = None,
    *,
    created: str = DUE,
    deleted: str | None = None,
    ready: bool = True,
    registered: bool = True,
    **spec: Any,
) -> Json:
    """A claim of the pool ``api`` whose Node is ``node-<name>``."""
    claim = template("nodeclaim")
    claim["spec"] |= {"expireAfter": E, "terminationGracePeriod": GRACE}
    meta = claim["metadata"]
    meta |= {"name": name, "uid": uid_of(name), "creationTimestamp": created}
    meta["labels"][names.HOSTNAME_LABEL] = name
    if deleted is not None:
        meta["deletionTimestamp"] = deleted
    _mark(claim, marks or {})
    for key, value in spec.items():
        if value is None:
            claim["spec"].pop(key, None)
        else:
            claim["spec"][key] = value
    claim["status"]["nodeName"] = f"node-{name}" if registered else ""
    for condition in claim["status"]["conditions"]:
        if condition["type"] == "Ready":
            condition["status"] = "True" if ready else "False"
        if condition["type"] == "Registered" and not registered:
            condition["status"] = "Unknown"
    return claim


def node(
    claim: str,
    marks: dict[str, str] | None = None,
    *,
    frozen_for: str | None = None,
    cordoned: bool = False,
    unschedulable: bool = False,
    ready: bool = True,
    taints: list[Json] | None = None,
    created: str = DUE,
) -> Json:
    """The Node of a claim; ``frozen_for`` puts our marks on it, ``cordoned`` our cordon too."""
    made = template("node")
    meta = made["metadata"]
    meta |= {"name": f"node-{claim}", "uid": uid_of(f"node-{claim}")}
    meta["creationTimestamp"] = created
    meta["labels"][names.HOSTNAME_LABEL] = claim
    meta["ownerReferences"][0] |= {"name": claim, "uid": uid_of(claim)}
    if frozen_for is not None:
        meta["labels"][names.SURGE_FOR] = frozen_for
        ours = {names.DO_NOT_DISRUPT: "true", "do-not-disrupt-owned": "true"}
        _mark(made, ours | {"surge-for": frozen_for})
    if cordoned:
        _mark(made, {"cordoned": "true"})
    if cordoned or unschedulable:
        made["spec"]["unschedulable"] = True
    _mark(made, marks or {})
    if taints:
        made["spec"]["taints"] = taints
    for condition in made["status"]["conditions"]:
        if condition["type"] == "Ready":
            condition["status"] = "True" if ready else "False"
    return made


def workload(name: str, /, on: str, cpu: str = "1500m", memory: str = "1Gi", **owner: Any) -> Json:
    """A running Pod of a ReplicaSet on the Node of claim ``on``."""
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid_of(name),
            "resourceVersion": "900",
            "creationTimestamp": DUE,
            "ownerReferences": [reference | {"uid": uid_of(owner.get("name", "web"))} | owner],
        },
        "spec": {
            "nodeName": f"node-{on}",
            "containers": [
                {
                    "name": "app",
                    "image": "registry.example/app:1",
                    "resources": {"requests": {"cpu": cpu, "memory": memory}},
                }
            ],
        },
        "status": {"phase": "Running"},
    }


def placeholder(
    claim: str,
    phase: str = "Pending",
    on: str | None = None,
    *,
    deleted: str | None = None,
    unschedulable: str | None = None,
) -> Json:
    """The placeholder Pod of a claim, bound to the Node of claim ``on`` when given."""
    pod = template("placeholder")
    meta = pod["metadata"]
    meta |= {"name": names.PLACEHOLDER_PREFIX + claim, "uid": uid_of(f"surge-{claim}")}
    meta["labels"] = {names.SURGE_FOR: claim}
    meta["annotations"][names.SURGE_FOR] = claim
    pod["spec"].pop("nodeName", None)
    pod["status"] = {"phase": phase, "conditions": []}
    if on is not None:
        pod["spec"]["nodeName"] = f"node-{on}"
        pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]
    if unschedulable is not None:
        pod["status"]["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": unschedulable,
            }
        ]
    if deleted is not None:
        meta["deletionTimestamp"] = deleted
        meta["deletionGracePeriodSeconds"] = 0
    return pod


def policy(name: str = "api", *, labels: dict[str, str] | None = None, **spec: Any) -> Json:
    """A policy for the pool ``api``: nightly 18:00 to 22:00 UTC, K 2, nothing to be found wrong.

    P 24h, t_rot 9m (5m + 2m + 2m), A 287h51m, cooldownAfter and failurePause 10m.
    """
    made = template("rotationpolicy")
    made["metadata"]["creationTimestamp"] = LONG_AGO
    made["spec"] |= {"ageThreshold": "auto", "minRotationChances": 2}
    made["spec"]["maintenanceWindows"][0] |= {"start": "18:00", "end": "22:00"}
    made["spec"]["surge"] |= {"cooldownAfter": "10m"}
    made["metadata"]["name"] = name
    made["metadata"]["uid"] = uid_of(f"policy-{name}")
    selector = {"matchLabels": {"workload": "api"} if labels is None else labels}
    made["spec"]["nodePoolSelector"] = selector
    for key, value in spec.items():
        if key in made["spec"]["surge"] or key in SURGE_FIELDS:
            made["spec"]["surge"][key] = value
        elif value is None:
            made["spec"].pop(key, None)
        else:
            made["spec"][key] = value
    return made


SURGE_FIELDS = {
    "maxUnavailable",
    "readyTimeout",
    "cooldownAfter",
    "failurePause",
    "drainEstimate",
    "provisioningEstimate",
    "retryBackoff",
    "matchNodeRequirements",
    "forcefulFallback",
}


@dataclass
class World:
    """A cluster with one pool. Lists hold wire objects; change them freely."""

    pool: Json = field(default_factory=nodepool)
    policies: list[Json] = field(default_factory=lambda: [policy()])
    claims: list[Json] = field(default_factory=list)
    nodes: list[Json] = field(default_factory=list)
    pods: list[Json] = field(default_factory=list)

    def copy(self) -> World:
        return copy.deepcopy(self)

    def request(self) -> Json:
        """What Metacontroller sends: of the Nodes only those with our label, of Pods only ours."""
        related = [n for n in self.nodes if names.SURGE_FOR in n["metadata"].get("labels", {})]
        ours = [p for p in self.pods if p["metadata"]["namespace"] == names.NAMESPACE]
        return {
            "controller": template("controller"),
            "object": self.pool,
            "attachments": {
                names.POD_GROUP: {
                    f"{p['metadata']['namespace']}/{p['metadata']['name']}": p for p in ours
                }
            },
            "related": {
                names.NODE_GROUP: {n["metadata"]["name"]: n for n in related},
                names.NODECLAIM_GROUP: {c["metadata"]["name"]: c for c in self.claims},
                names.ROTATIONPOLICY_GROUP: {p["metadata"]["name"]: p for p in self.policies},
            },
            "finalizing": False,
        }

    def live(self) -> dict[str, dict[str, Json]]:
        """The objects that live reads find, by kind and name."""
        return {
            POOL: {self.pool["metadata"]["name"]: self.pool},
            CLAIM: {c["metadata"]["name"]: c for c in self.claims},
            NODE: {n["metadata"]["name"]: n for n in self.nodes},
            POD: {f"{p['metadata']['namespace']}/{p['metadata']['name']}": p for p in self.pods},
        }
