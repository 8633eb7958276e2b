"""The attachments of a parent: what is there, what is wanted, and getting from one to the other.

Owns step 4 of design/rotation.md section 1 and the marks that Metacontroller puts on what it
creates. Existing attachments are never changed (OnDelete), terminating ones are left alone.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hooks.sandbox.failures import ApiError, ConductorError, ManagementError
from hooks.sandbox.objects import (
    Obj,
    annotations_of,
    described,
    group_key,
    is_terminating,
    key_in_group,
    name_of,
    namespace_of,
    uid_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.sandbox.apiport import ApiPort
    from hooks.sandbox.conductor.customize import Grouped
    from hooks.sandbox.conductor.informer import Informer
    from hooks.sandbox.conductor.resources import Discovery

CREATED_BY: Final = "metacontroller.k8s.io/decorator-controller"
LAST_APPLIED: Final = "metacontroller.k8s.io/last-applied-configuration"
_ESCAPED: Final = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})
"""Go's JSON escapes these, so that the annotation is the same text byte by byte."""


@dataclass(slots=True)
class Managed:
    """What was done, as ``Kind namespace/name``, in order."""

    deleted: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def observed(parent: Obj, controller: str, informers: Iterable[Informer]) -> Grouped:
    """Return the parent's attachments that this controller created, with an entry for each kind.

    A namespaced parent can only have attachments in its own namespace.
    """
    groups: Grouped = {}
    namespace = namespace_of(parent)
    for informer in informers:
        resource = informer.resource
        group = groups.setdefault(group_key(resource.api_version, resource.kind), {})
        for obj in informer.owned_by(uid_of(parent)):
            is_ours = annotations_of(obj).get(CREATED_BY) == controller
            if is_ours and namespace in ("", namespace_of(obj)):
                group[key_in_group(obj)] = obj
    return groups


def wanted(attachments: Iterable[Obj], controller: str) -> Grouped:
    """Return an answer's attachments by group and key, each marked as this controller's."""
    groups: Grouped = {}
    for attachment in attachments:
        marked = copy.deepcopy(attachment)
        metadata: Obj = marked.setdefault("metadata", {})
        metadata["annotations"] = annotations_of(marked) | {CREATED_BY: controller}
        key = group_key(marked.get("apiVersion", ""), marked["kind"])
        groups.setdefault(key, {})[key_in_group(marked)] = marked
    return groups


def manage(
    api: ApiPort, discovery: Discovery, parent: Obj, there: Grouped, desired: Grouped
) -> Managed:
    """Delete what is there and not desired, then create what is desired and not there.

    A failure doesn't keep the others from being tried; raises ManagementError for all of them
    at the end.
    """
    done = Managed()
    for group, objects in there.items():
        for key, obj in objects.items():
            if key not in desired.get(group, {}) and not is_terminating(obj):
                _delete(api, discovery, obj, done)
    for group, objects in desired.items():
        for key, obj in objects.items():
            if key not in there.get(group, {}):
                _create(api, discovery, parent, obj, done)
    if done.problems:
        subject = f"{parent['kind']} {namespace_of(parent)}/{name_of(parent)}"
        raise ManagementError(subject, done.problems)
    return done


def _delete(api: ApiPort, discovery: Discovery, obj: Obj, done: Managed) -> None:
    try:
        api.delete(discovery.by_kind(obj["apiVersion"], obj["kind"]), obj)
        done.deleted.append(described(obj))
    except ConductorError as error:
        if not (isinstance(error, ApiError) and error.is_not_found):
            done.problems.append(f"can't delete {described(obj)}: {error}")


def _create(api: ApiPort, discovery: Discovery, parent: Obj, obj: Obj, done: Managed) -> None:
    try:
        resource = discovery.by_kind(obj.get("apiVersion", ""), obj["kind"])
        api.create(resource, as_created(parent, obj))
        done.created.append(described(obj))
    except ConductorError as error:
        if not (isinstance(error, ApiError) and error.is_already_exists):
            done.problems.append(str(error))


def as_created(parent: Obj, desired: Obj) -> Obj:
    """Return a marked attachment as it is created: with what was asked for, and its owner."""
    asked_for = json.dumps(desired, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    created = copy.deepcopy(desired)
    metadata = created["metadata"]
    metadata["annotations"][LAST_APPLIED] = asked_for.translate(_ESCAPED)
    metadata["ownerReferences"] = [
        *(metadata.get("ownerReferences") or []),
        {
            "apiVersion": parent["apiVersion"],
            "kind": parent["kind"],
            "name": name_of(parent),
            "uid": uid_of(parent),
            "controller": True,
            "blockOwnerDeletion": True,
        },
    ]
    return created
