"""What an update may change, and what it leaves as it was.

Owns the split between an object and its status, the parts of the metadata that only the server
writes, and generations. Seen in: apiserver v0.36.3 pkg/registry/rest/update.go, kubernetes v1.36.3
pkg/registry/*/strategy.go, apiextensions-apiserver v0.36.3 pkg/registry/customresource.
"""

from __future__ import annotations

from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import (
    Obj,
    annotations_of,
    is_terminating,
    metadata_of,
    name_of,
    resource_version_of,
    uid_of,
)
from hooks.sandbox.store import kinds
from hooks.sandbox.store.defaults import complete
from hooks.sandbox.store.pods import check_pod_update
from hooks.sandbox.store.refusals import FieldProblem, bad_request, conflict, invalid
from hooks.sandbox.store.syntax import check_metadata

STATUS: Final = "status"
BINDING: Final = "binding"
"""A Pod's way to its Node: spec and status in one write that is no new generation."""
_SERVERS_OWN: Final = (
    "name",
    "uid",
    "namespace",
    "creationTimestamp",
    "generateName",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
)


def merged(resource: Resource, stored: Obj, wanted: Obj, subresource: str) -> Obj:
    """Return what is to be stored; the stored object itself when nothing changes.

    ``wanted`` is used up. Raises ApiError when it names another version or UID than the stored one.
    """
    _check_identity(resource, stored, wanted)
    result = _parts(resource, stored, wanted, subresource)
    result["apiVersion"], result["kind"] = resource.api_version, resource.kind
    _keep_servers_own(stored, result)
    if result == stored:
        return stored
    _check_finalizers(resource, stored, result)
    check_metadata(resource, result)
    if subresource != STATUS:
        _check_fixed_parts(resource, stored, result)
    if kinds.counts_generations(resource) and subresource == "" and _grows(stored, result):
        result["metadata"]["generation"] = metadata_of(stored).get("generation", 0) + 1
    return result


def tidy_metadata(metadata: Obj) -> None:
    """Take away the parts that are empty, which aren't stored."""
    for key in ("labels", "annotations", "finalizers", "ownerReferences"):
        if not metadata.get(key):
            metadata.pop(key, None)


def _check_identity(resource: Resource, stored: Obj, wanted: Obj) -> None:
    name = name_of(stored)
    if name_of(wanted) not in {"", name}:
        raise bad_request(
            f"the name of the object ({name_of(wanted)}) does not match the name on the URL ({name})"
        )
    if uid_of(wanted) not in {"", uid_of(stored)}:
        why = (
            f"Precondition failed: UID in precondition: {uid_of(wanted)}, "
            f"UID in object meta: {uid_of(stored)}"
        )
        raise conflict(resource, name, why)
    if resource_version_of(wanted) not in {"", resource_version_of(stored)}:
        raise conflict(resource, name)


def _parts(resource: Resource, stored: Obj, wanted: Obj, subresource: str) -> Obj:
    if not wanted.get("metadata"):
        wanted["metadata"] = {}
    if subresource == BINDING:
        return wanted
    if subresource != STATUS:
        complete(resource, wanted)
        return _with(wanted, STATUS, stored.get(STATUS)) if resource.has_status else wanted
    result = stored | {"metadata": dict(metadata_of(stored))}
    if not kinds.is_custom(resource):
        # A status write of a built-in kind takes labels and annotations along.
        result["metadata"] = wanted["metadata"]
    return _with(result, STATUS, wanted.get(STATUS))


def _with(obj: Obj, key: str, value: object) -> Obj:
    """Set a key, or take it away with None."""
    if value is None:
        obj.pop(key, None)
    else:
        obj[key] = value
    return obj


def _keep_servers_own(stored: Obj, result: Obj) -> None:
    before, after = metadata_of(stored), result["metadata"]
    for key in _SERVERS_OWN:
        _with(after, key, before.get(key))
    tidy_metadata(after)


def _check_finalizers(resource: Resource, stored: Obj, result: Obj) -> None:
    if not is_terminating(stored):
        return
    before = set(metadata_of(stored).get("finalizers") or ())
    added = set(metadata_of(result).get("finalizers") or ()) - before
    if added:
        listed = ", ".join(f'"{each}"' for each in sorted(added))
        message = (
            "Forbidden: no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{listed}}}"
        )
        problem = FieldProblem("metadata.finalizers", "FieldValueForbidden", message)
        raise invalid(resource, name_of(stored), problem)


def _check_fixed_parts(resource: Resource, stored: Obj, result: Obj) -> None:
    if resource == kinds.PODS:
        check_pod_update(stored, result)
    if resource == kinds.NODECLAIMS and stored.get("spec") != result.get("spec"):
        # A rule of Karpenter's CRD.
        problem = FieldProblem("spec", "FieldValueInvalid", "Invalid value: spec is immutable")
        raise invalid(resource, name_of(stored), problem)


def _grows(stored: Obj, result: Obj) -> bool:
    """Tell whether more than metadata and status differs.

    Binding a Pod doesn't count; the annotations of a Deployment do.
    """
    if result["kind"] == kinds.DEPLOYMENTS.kind and annotations_of(stored) != annotations_of(
        result
    ):
        return True
    keys = (stored.keys() | result.keys()) - {"metadata", STATUS}
    changed = [key for key in keys if stored.get(key) != result.get(key)]
    if changed == ["spec"] and result["kind"] == kinds.PODS.kind:
        before: Obj = stored.get("spec") or {}
        after: Obj = result.get("spec") or {}
        return before | {"nodeName": after.get("nodeName")} != after
    return bool(changed)
