"""JSON Patches of marks: from the object as observed to what it should carry.

Owns the pointers and the order of operations. Every patch opens with a test of the observed
resourceVersion, so it can't land on an object that has changed since. Pure. Source:
design/rotation.md section 4 (Patches), design/cases.md (kubernetes-client 93).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from hooks import names
from hooks.cluster.answers import Json

NOTHING: Mapping[str, str | None] = MappingProxyType({})


def pointer(*keys: str) -> str:
    """Write a JSON pointer; a key may hold slashes and tildes (RFC 6901)."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


def amend(
    observed: Json,
    *,
    annotations: Mapping[str, str | None] = NOTHING,
    labels: Mapping[str, str | None] = NOTHING,
    unschedulable: bool | None = None,
    restarted_at: str | None = None,
) -> list[Json]:
    """Compute the patch that sets, or with None removes, these keys; [] when nothing changes.

    ``unschedulable`` sets or removes a Node's ``spec.unschedulable``. ``restarted_at`` is set on a
    Deployment's Pod template, as ``kubectl rollout restart`` does. Removing what isn't there is no
    change.
    """
    changes = [
        *_changes(observed, "annotations", annotations),
        *_changes(observed, "labels", labels),
        *(() if unschedulable is None else _cordon(observed, cordoned=unschedulable)),
        *(() if restarted_at is None else _restart(observed, restarted_at)),
    ]
    return [_version_test(observed), *changes] if changes else []


def failing(ops: Sequence[Json], live: Json) -> Json | None:
    """Return the first ``test`` of a patch that doesn't hold on the live object, else None."""
    for op in ops:
        if op["op"] == "test" and _at(live, op["path"]) != op["value"]:
            return op
    return None


def _version_test(observed: Json) -> Json:
    version = observed["metadata"]["resourceVersion"]
    return {"op": "test", "path": pointer("metadata", "resourceVersion"), "value": version}


def _changes(observed: Json, group: str, wanted: Mapping[str, str | None]) -> list[Json]:
    present: Mapping[str, str] = observed["metadata"].get(group) or {}
    values = {key: value for key, value in wanted.items() if value is not None}
    if values and not present:
        return [{"op": "add", "path": pointer("metadata", group), "value": values}]
    changes = []
    for key, value in wanted.items():
        path = pointer("metadata", group, key)
        if value is None and key in present:
            changes.append({"op": "remove", "path": path})
        elif value is not None and present.get(key) != value:
            changes.append({"op": "add", "path": path, "value": value})
    return changes


def _cordon(observed: Json, *, cordoned: bool) -> list[Json]:
    path = pointer("spec", "unschedulable")
    present = (observed.get("spec") or {}).get("unschedulable")
    if cordoned:
        return [] if present is True else [{"op": "add", "path": path, "value": True}]
    return [] if present is None else [{"op": "remove", "path": path}]


def _restart(observed: Json, at: str) -> list[Json]:
    template = (observed.get("spec") or {}).get("template") or {}
    meta = template.get("metadata") or {}
    present = meta.get("annotations") or {}
    steps = ["spec", "template", "metadata"]
    value: object = at
    if present.get(names.POD_TEMPLATE_RESTARTED_AT) == at:
        return []
    if present:
        steps += ["annotations", names.POD_TEMPLATE_RESTARTED_AT]
    elif meta:
        steps, value = [*steps, "annotations"], {names.POD_TEMPLATE_RESTARTED_AT: at}
    else:
        value = {"annotations": {names.POD_TEMPLATE_RESTARTED_AT: at}}
    return [{"op": "add", "path": pointer(*steps), "value": value}]


def _at(document: Json, path: str) -> object:
    found: object = document
    for token in path.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found
