"""Creates, updates, patches and deletes.

Owns what a request must be before the store sees it, and dry runs. Seen in: apiserver v0.36.3
pkg/endpoints/handlers (create.go, update.go, patch.go, delete.go).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.face.bodies import answer, decoded, decoded_object, deleted, success
from hooks.sandbox.face.reading import matcher_of
from hooks.sandbox.face.targets import Target
from hooks.sandbox.face.wire import Answer, Request
from hooks.sandbox.objects import Obj, metadata_of, name_of, namespace_of, resource_version_of
from hooks.sandbox.store import deletion, patching
from hooks.sandbox.store.doors import NEW_EVENTS, inwards, outwards, stored_kind
from hooks.sandbox.store.kinds import answers_with_the_deleted, is_custom
from hooks.sandbox.store.refusals import (
    FieldProblem,
    RefusedError,
    bad_request,
    invalid,
    version_needed,
)

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore

_PATCHES: Final = (
    patching.JSON_PATCH,
    patching.MERGE_PATCH,
    patching.STRATEGIC_PATCH,
    patching.APPLY_PATCH,
)
_POLICIES: Final = (deletion.FOREGROUND, deletion.BACKGROUND, deletion.ORPHAN)
_OPTIONS: Final = {
    "POST": "CreateOptions",
    "PUT": "UpdateOptions",
    "PATCH": "PatchOptions",
    "DELETE": "DeleteOptions",
}


class Writer:
    """Makes the writes of one store."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def create(self, target: Target, request: Request) -> Answer:
        """Store a new object."""
        obj = self._object(target, request)
        kind, stored = stored_kind(target.resource), inwards(target.resource, obj)
        created = self._store.create(kind, stored, dry_run=is_dry_run(request))
        return answer(outwards(target.resource, created), HTTPStatus.CREATED)

    def update(self, target: Target, request: Request) -> Answer:
        """Replace an object, or its status."""
        obj = self._object(target, request)
        if name_of(obj) != target.name:
            raise bad_request(
                f"the name of the object ({name_of(obj)}) does not match the name on the URL "
                f"({target.name})"
            )
        if is_custom(target.resource) and not resource_version_of(obj):
            raise version_needed(target.resource, target.name)
        kind, stored = stored_kind(target.resource), inwards(target.resource, obj)
        updated = self._store.update(kind, stored, target.subresource, dry_run=is_dry_run(request))
        return answer(outwards(target.resource, updated))

    def patch(self, target: Target, request: Request) -> Answer:
        """Apply a patch of any of the four kinds."""
        content_type = request.content_type.partition(";")[0].strip()
        if content_type not in _PATCHES:
            raise RefusedError(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "UnsupportedMediaType",
                "415: Unsupported Media Type",
                {},
            )
        patch = decoded(request.body)
        if target.resource == NEW_EVENTS:
            return self._patch_event(target, patch, content_type, dry_run=is_dry_run(request))
        before = self._store.find(target.resource, target.place, target.name)
        patched = self._store.patch(
            target.resource,
            target.place,
            target.name,
            patch,
            content_type,
            target.subresource,
            dry_run=is_dry_run(request),
        )
        return answer(patched, HTTPStatus.CREATED if before is None else HTTPStatus.OK)

    def delete(self, target: Target, request: Request) -> Answer:
        """Delete one object as the options say."""
        options = decoded_object(request.body)
        gone = self._delete(target, target.place, target.name, options, request)
        kind = stored_kind(target.resource)
        left = self._store.find(kind, target.place, target.name)
        if left is None and not answers_with_the_deleted(kind):
            return deleted(target.resource, gone)
        return answer(outwards(target.resource, gone))

    def delete_all(self, target: Target, request: Request) -> Answer:
        """Delete every object that the query means."""
        options, matcher = decoded_object(request.body), matcher_of(target, request)
        for obj in self._store.all(stored_kind(target.resource), target.namespace):
            if matcher.matches(outwards(target.resource, obj)):
                self._delete(target, namespace_of(obj), name_of(obj), options, request)
        return success()

    def _delete(
        self, target: Target, namespace: str, name: str, options: Obj, request: Request
    ) -> Obj:
        preconditions: Obj = options.get("preconditions") or {}
        grace: object = options.get("gracePeriodSeconds", request.query.get("gracePeriodSeconds"))
        return self._store.delete(
            stored_kind(target.resource),
            namespace,
            name,
            uid=preconditions.get("uid") or "",
            resource_version=preconditions.get("resourceVersion") or "",
            grace_seconds=None if grace is None else int(str(grace)),
            propagation=_propagation(options, request),
            dry_run=is_dry_run(request) or bool(options.get("dryRun")),
        )

    def _patch_event(
        self, target: Target, patch: Obj | list[Obj], content_type: str, *, dry_run: bool
    ) -> Answer:
        kind = stored_kind(target.resource)
        shown = outwards(target.resource, self._store.get(kind, target.place, target.name))
        wanted = patching.patched(kind, shown, patch, content_type)
        updated = self._store.update(kind, inwards(target.resource, wanted), dry_run=dry_run)
        return answer(outwards(target.resource, updated))

    def _object(self, target: Target, request: Request) -> Obj:
        """Read the object of a request, in the namespace of its path."""
        obj = decoded_object(request.body)
        resource = target.resource
        if obj.get("kind", resource.kind) != resource.kind:
            raise bad_request(
                f'{obj["kind"]} in version "{obj.get("apiVersion", "")}" cannot be handled as a '
                f"{resource.kind}"
            )
        metadata = metadata_of(obj)
        if target.namespace is not None:
            if metadata.get("namespace") not in {None, "", target.namespace}:
                raise bad_request(
                    "the namespace of the provided object does not match the namespace sent on "
                    "the request"
                )
            metadata = metadata | {"namespace": target.namespace}
        return obj | {"metadata": metadata}


def _propagation(options: Obj, request: Request) -> str:
    """Return what becomes of what the object owns; raises ApiError 422 for an unknown word."""
    chosen = str(options.get("propagationPolicy") or request.query.get("propagationPolicy", ""))
    if chosen not in {"", *_POLICIES}:
        kind = Resource("meta.k8s.io/v1", "", _OPTIONS["DELETE"], namespaced=False)
        words = ", ".join(f'"{one}"' for one in (*_POLICIES, "nil"))
        message = f'Unsupported value: "{chosen}": supported values: {words}'
        raise invalid(
            kind, "", FieldProblem("propagationPolicy", "FieldValueNotSupported", message)
        )
    orphan = options.get("orphanDependents")
    if orphan is None:
        return chosen
    return deletion.ORPHAN if orphan else deletion.BACKGROUND


def is_dry_run(request: Request) -> bool:
    """Tell whether nothing may be stored; raises ApiError 422 for another word than All."""
    word = request.query.get("dryRun", "")
    if word not in {"", "All"}:
        options = Resource("meta.k8s.io/v1", "", _OPTIONS[request.method], namespaced=False)
        message = f'Unsupported value: ["{word}"]: supported values: "All"'
        raise invalid(options, "", FieldProblem("dryRun", "FieldValueNotSupported", message))
    return word == "All"
