"""From the template of a workload to its Pods.

Owns what a controller adds: name, owner and hash. The real hash is that of Go's memory dump of the
template; here it is a checksum of its JSON, in the same letters. Seen in Kubernetes v1.36.3
``pkg/controller/controller_utils.go`` (GetPodFromTemplate, ComputeHash) and apimachinery
``pkg/util/rand`` (SafeEncodeString).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from zlib import crc32

from hooks.sandbox.objects import (
    annotations_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.store.identity import copied

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


def hash_of(template: Obj) -> str:
    """Return the hash of a template, in letters that make no words."""
    value = crc32(json.dumps(template, sort_keys=True).encode())
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(value))


def owner_reference(owner: Obj) -> Obj:
    """Return the reference to the controller of an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_from(owner: Obj) -> Obj:
    """Return a Pod of a workload's template, still without a name of its own."""
    template: Obj = owner["spec"]["template"]
    metadata: Obj = {
        "generateName": f"{name_of(owner)}-",
        "namespace": namespace_of(owner),
        "labels": dict(labels_of(template)),
        "ownerReferences": [owner_reference(owner)],
    }
    if annotations_of(template):
        metadata["annotations"] = dict(annotations_of(template))
    if metadata_of(template).get("finalizers"):
        metadata["finalizers"] = list(metadata_of(template)["finalizers"])
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": copied(template["spec"]),
    }
