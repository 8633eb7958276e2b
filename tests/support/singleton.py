"""Builds the wire objects of a Deployment with one replica, in the shape that a real cluster sent.

The review, the Deployment and the controller are recorded ones, managedFields of objects left out;
each builder changes only what its arguments say. The ReplicaSet and the Pod are made to match.
"""

from __future__ import annotations

import copy
from typing import Any

from hooks import names
from tests.support.live import POD
from tests.support.singletonlive import DEPLOYMENT, REPLICASET
from tests.support.world import template

Json = dict[str, Any]

NOW = "2026-11-29T20:01:00Z"
TRACKED = "2026-11-29T20:00:49Z"
"""A tracking value eleven seconds old."""
OLD, NEW = "6d6cd94fd5", "7c5c657b74"
"""Hashes of the Pod templates of the first and the second revision."""
OLD_POD, NEW_POD = f"single-{OLD}-sjv82", f"single-{NEW}-x7k2p"
OLD_UID, NEW_UID = "ec66e88c-4156-4514-b790-e3437ec1ca63", "f0a1b2c3-0d4e-4f5a-8b6c-7d8e9f0a1b2c"
SETS = {OLD: "6b1a4e8e-6a8a-4a3c-8f43-0a0b1c2d3e4f", NEW: "7c2b5f9f-7b9b-4b4d-9054-1b1c2d3e4f50"}
UIDS = {OLD_POD: OLD_UID, NEW_POD: NEW_UID}
REMOVED = object()
"""Stands for a field that isn't there."""


def put(thing: Json, path: str, value: object) -> Json:
    """A copy with the field at a dotted path set, or removed by REMOVED."""
    changed = copy.deepcopy(thing)
    *steps, last = path.split(".")
    holder = changed
    for step in steps:
        holder = holder.setdefault(step, {})
    if value is REMOVED:
        holder.pop(last, None)
    else:
        holder[last] = value
    return changed


def review(pod: str = OLD_POD, **changes: object) -> Json:
    """Karpenter's review; ``changes`` are fields of the request, ``object__a`` for ``object.a``."""
    asked = template("evictionreview")
    for path in ("request.name", "request.object.metadata.name"):
        asked = put(asked, path, pod)
    asked = put(asked, "request.object.deleteOptions.preconditions.uid", UIDS.get(pod, OLD_UID))
    for field, value in changes.items():
        asked = put(asked, f"request.{field.replace('__', '.')}", value)
    return asked


def evicted(name: str = OLD_POD, *, ready: bool = True, **changes: object) -> Json:
    """A Pod of the Deployment; ``changes`` as for a review, from the Pod itself on."""
    pod = template("evictedpod")
    meta, template_hash = pod["metadata"], name.split("-")[1]
    meta |= {"name": name, "uid": UIDS[name], "generateName": f"single-{template_hash}-"}
    meta["labels"]["pod-template-hash"] = template_hash
    meta["ownerReferences"][0] |= {"name": f"single-{template_hash}", "uid": SETS[template_hash]}
    for condition in pod["status"]["conditions"]:
        if condition["type"] in {"Ready", "ContainersReady"} and not ready:
            condition["status"] = "False"
    for path, value in changes.items():
        pod = put(pod, path.replace("__", "."), value)
    return pod


def replica_set(template_hash: str = OLD, **changes: object) -> Json:
    """A ReplicaSet of the Deployment; the second one has revision 2."""
    made = template("replicaset")
    meta = made["metadata"]
    meta |= {"name": f"single-{template_hash}", "uid": SETS[template_hash]}
    meta["annotations"][names.REVISION] = "1" if template_hash == OLD else "2"
    for labels in (
        meta["labels"],
        made["spec"]["selector"]["matchLabels"],
        made["spec"]["template"]["metadata"]["labels"],
    ):
        labels["pod-template-hash"] = template_hash
    for path, value in changes.items():
        made = put(made, path.replace("__", "."), value)
    return made


def deployment(marks: dict[str, str] | None = None, **changes: object) -> Json:
    """The Deployment ``single``, settled; ``marks`` are annotations, without a slash ours."""
    made = template("deployment")
    for key, text in (marks or {}).items():
        made["metadata"]["annotations"][key if "/" in key else names.DRAIN_PREFIX + key] = text
    for path, value in changes.items():
        made = put(made, path.replace("__", "."), value)
    return made


def rolling(marks: dict[str, str], *, ready: int = 1, **changes: object) -> Json:
    """The Deployment in the middle of a rollout: a Pod of each revision, the new one ready or not."""
    made = deployment(
        {names.REVISION: "2", **marks},
        metadata__generation=3,
        status__observedGeneration=3,
        status__replicas=2,
        status__readyReplicas=ready,
        status__availableReplicas=ready,
        status__updatedReplicas=1,
        status__unavailableReplicas=2 - ready or REMOVED,
        **changes,
    )
    restarted = {names.POD_TEMPLATE_RESTARTED_AT: TRACKED}
    made["spec"]["template"]["metadata"]["annotations"] = restarted
    return made


def rolled(marks: dict[str, str], **changes: object) -> Json:
    """The Deployment after its rollout: one Pod, of the second revision."""
    made = deployment(
        {names.REVISION: "2", **marks},
        metadata__generation=3,
        status__observedGeneration=3,
        **changes,
    )
    restarted = {names.POD_TEMPLATE_RESTARTED_AT: TRACKED}
    made["spec"]["template"]["metadata"]["annotations"] = restarted
    return made


def cluster(*things: Json) -> Json:
    """Live objects by kind and namespace/name."""
    kinds = {"Pod": POD, "ReplicaSet": REPLICASET, "Deployment": DEPLOYMENT}
    found: Json = {kind: {} for kind in kinds.values()}
    for thing in things:
        meta = thing["metadata"]
        found[kinds[thing["kind"]]][f"{meta['namespace']}/{meta['name']}"] = thing
    return found


def sync_request(parent: Json) -> Json:
    """What Metacontroller sends of a tracked Deployment."""
    return {
        "controller": template("draincontroller"),
        "object": parent,
        "attachments": {},
        "related": {},
        "finalizing": False,
    }
