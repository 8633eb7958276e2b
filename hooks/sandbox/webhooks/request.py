"""A request as admission sees it.

Owns its shape, and the managed fields that an object has when webhooks see it. Seen in apiserver
v0.36.3 ``pkg/endpoints/handlers/create.go`` and in the recording eviction-reviews.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hooks.sandbox.objects import Obj, metadata_of
from hooks.sandbox.store.identity import stamp

_NOT_MANAGED: Final = frozenset({"apiVersion", "kind", "metadata"})
_NOT_MANAGED_OF_METADATA: Final = frozenset(
    {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"}
)
_LONGEST_MANAGER: Final = 128


@dataclass(frozen=True, slots=True)
class Group:
    """A kind or a resource with its group and version."""

    group: str
    version: str
    name: str


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """One write; ``options`` are those of the query, ``dry_run`` is what they say."""

    operation: str
    kind: Group
    resource: Group
    subresource: str
    namespace: str
    name: str
    obj: Obj
    options: Obj
    dry_run: bool


def manager_of(field_manager: str, user_agent: str) -> str:
    """Return who counts as the writer: who says so, or the program's name."""
    return (field_manager or user_agent.partition("/")[0])[:_LONGEST_MANAGER]


def with_managed_fields(obj: Obj, manager: str, subresource: str, now: datetime) -> Obj:
    """Return a new object with the entry of its writer; one that sets nothing gets none."""
    fields = _fields_of(obj)
    if not fields:
        return obj
    entry = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": obj["apiVersion"],
        "time": stamp(now),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "subresource": subresource,
    }
    return obj | {"metadata": metadata_of(obj) | {"managedFields": [entry]}}


def _fields_of(obj: Obj) -> Obj:
    metadata = {
        f"f:{key}": _set(value)
        for key, value in sorted(metadata_of(obj).items())
        if key not in _NOT_MANAGED_OF_METADATA
    }
    others = {
        f"f:{key}": _set(value) for key, value in sorted(obj.items()) if key not in _NOT_MANAGED
    }
    return {**({"f:metadata": metadata} if metadata else {}), **others}


def _set(value: object) -> Obj:
    if not isinstance(value, dict) or not value:
        return {}
    inner = {f"f:{key}": _set(item) for key, item in sorted(value.items())}
    return {".": {}, **inner}
