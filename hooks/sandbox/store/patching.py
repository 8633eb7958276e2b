"""Patches: what the patched object looks like.

Owns JSON Patch (RFC 6902) as the API server applies it, and merge patch (RFC 7386). Leaves lists
with keys to :mod:`hooks.sandbox.store.strategic`. Seen in: apiserver v0.36.3
pkg/endpoints/handlers/patch.go, gopkg.in/evanphx/json-patch.v4.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

import jsonpatch
import jsonpointer

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.identity import copied
from hooks.sandbox.store.kinds import is_custom
from hooks.sandbox.store.refusals import RefusedError, bad_request, inapplicable_patch
from hooks.sandbox.store.strategic import strategically_merged

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"


def patched(resource: Resource, stored: Obj, patch: Obj | list[Obj], content_type: str) -> Obj:
    """Return a new object; raises ApiError 422 for a JSON Patch that can't be applied.

    A server-side apply counts as a merge patch: fields have no owners here.
    """
    if isinstance(patch, list):
        if content_type != JSON_PATCH:
            raise bad_request("error decoding patch: a list is no merge patch")
        if not all(isinstance(operation, dict) for operation in patch):
            raise bad_request("error decoding patch: an operation is no object")
        return _json_patched(copied(stored), patch)
    if content_type == JSON_PATCH:
        raise bad_request("error decoding patch: json: cannot unmarshal object into Go value")
    if content_type == STRATEGIC_PATCH:
        if is_custom(resource):
            raise RefusedError(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}",
            )
        return copied(strategically_merged(stored, patch))
    return copied(_merged(stored, patch))


def _json_patched(obj: Obj, operations: list[Obj]) -> Obj:
    for operation in operations:
        try:
            if _tests_for_nothing(obj, operation):
                continue
            obj = jsonpatch.apply_patch(obj, [operation], in_place=True)
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
            raise inapplicable_patch() from error
    return obj


def _tests_for_nothing(obj: Obj, operation: Obj) -> bool:
    """Tell whether this is a test for null where nothing is, which Go's library lets pass."""
    if operation.get("op") != "test" or operation.get("value", "") is not None:
        return False
    pointer = jsonpointer.JsonPointer(operation.get("path", ""))
    return pointer.resolve(obj, default=None) is None


def _merged(target: Obj, patch: Obj) -> Obj:
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            before = result.get(key)
            result[key] = _merged(before if isinstance(before, dict) else {}, value)
        else:
            result[key] = value
    return result
