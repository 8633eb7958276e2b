"""Writing an answer's labels, annotations and status to the parent.

Owns step 3 of design/rotation.md section 1: one update with the resourceVersion of the cache, only
if something changes; a conflict, or a parent that is gone, ends the pass without an error.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Literal

from hooks.sandbox.failures import ApiError, ConductorError
from hooks.sandbox.objects import Obj, annotations_of, labels_of, name_of, namespace_of

if TYPE_CHECKING:
    from hooks.sandbox.apiport import ApiPort, Resource
    from hooks.sandbox.conductor.answers import SyncAnswer

Outcome = Literal["unchanged", "updated", "stopped"]


def changed(current: dict[str, str], changes: dict[str, str | None]) -> dict[str, str]:
    """Return labels or annotations after an answer; a null deletes its key."""
    merged = {key: value for key, value in current.items() if changes.get(key, value) is not None}
    return merged | {key: value for key, value in changes.items() if value is not None}


def update_parent(api: ApiPort, resource: Resource, parent: Obj, answer: SyncAnswer) -> Outcome:
    """Bring a parent to what an answer says; "stopped" means that the pass ends here.

    Raises ConductorError when the API server refuses the update for another reason than a
    conflict or a parent that is gone.
    """
    labels = changed(labels_of(parent), answer.labels)
    annotations = changed(annotations_of(parent), answer.annotations)
    status = parent.get("status") if answer.status is None else answer.status
    status_changes = answer.status is not None and status != parent.get("status")
    if labels == labels_of(parent) and annotations == annotations_of(parent) and not status_changes:
        return "unchanged"
    updated = copy.deepcopy(parent)
    updated["metadata"] |= {"labels": labels, "annotations": annotations}
    if status is not None:
        updated["status"] = status
    try:
        if status_changes and resource.has_status:
            # The update of the object itself ignores its status, so the status goes first.
            stored = api.update(resource, updated, "status")
            updated["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
        api.update(resource, updated)
    except ApiError as error:
        if error.is_conflict or error.is_not_found:
            return "stopped"
        subject = f"{resource.kind} {namespace_of(parent)}/{name_of(parent)}"
        raise ConductorError(f"can't update {subject}: {error}") from error
    return "updated"
