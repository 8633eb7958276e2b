"""One CompositeController without children at work: its hook says what the parents' status is.

Owns the order of the steps, and how a status is written: read live, then compared, then through the
subresource, tried again on a conflict. Leaves the rest of a controller's life to
:mod:`hooks.sandbox.conductor.syncloop`. Source: Metacontroller's ``pkg/controller/composite``
(syncParentObject, updateParentStatus) and ``pkg/dynamic/clientset`` (AtomicStatusUpdate); the
requests in tests/fixtures/metacontroller/policy-status.jsonl.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from hooks.sandbox.conductor.syncloop import Hooks, Surroundings, SyncLoop
from hooks.sandbox.failures import ApiError, ConductorError, InvalidControllerError
from hooks.sandbox.objects import Obj, generation_of, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from hooks.sandbox.apiport import ApiPort, Resource
    from hooks.sandbox.conductor.controllerspec import ControllerSpec
    from hooks.sandbox.conductor.parent import Outcome
    from hooks.sandbox.conductor.parents import ParentKey

TRIES: Final = 4
"""client-go's retry.DefaultBackoff; its pauses, 10 ms and more, are left out."""

_log = logging.getLogger(__name__)


class Composite(SyncLoop):
    """A CompositeController. Its parents' kind must have a status subresource."""

    def __init__(self, spec: ControllerSpec, hooks: Hooks, around: Surroundings) -> None:
        for rule in spec.parents:
            resource = around.discovery.by_plural(rule.api_version, rule.resource)
            if not resource.has_status:
                raise InvalidControllerError(
                    f"{resource.kind} does not have subresource 'Status' enabled"
                )
        super().__init__(spec, hooks, around)

    @override
    def _sync_parent(self, key: ParentKey, parent: Obj) -> None:
        subject = f"{key.kind} {key.namespace}/{key.name}"
        request = {
            "controller": self.spec.document,
            "parent": parent,
            "children": {},
            "related": self._related_to(parent),
            "finalizing": False,
        }
        answer = self._ask(request, f"sync hook failed for {subject}")
        self._look_again(key, answer)
        resource = self._around.discovery.by_kind(key.api_version, key.kind)
        # The generation that the hook has seen, whatever it says and whatever there is by now.
        status = (answer.status or {}) | {"observedGeneration": generation_of(parent)}
        try:
            outcome = update_status(self._around.api, resource, parent, status)
        except ApiError as error:
            raise ConductorError(f"can't update status for {subject}: {error}") from error
        _log.info(
            "%s %s: status %s, again in %gs",
            *(self.spec.name, key.shown, outcome, answer.resync_after),
        )


def update_status(api: ApiPort, resource: Resource, parent: Obj, status: Obj) -> Outcome:
    """Bring a parent's status to what an answer says; "stopped" means gone, or changed all the time.

    Raises ApiError when the API server refuses for another reason. Of a parent that has changed
    meanwhile the status is written all the same: its next sync is under way.
    """
    for _ in range(TRIES):
        try:
            live = api.get(resource, namespace_of(parent), name_of(parent))
            if uid_of(live) != uid_of(parent):
                return "stopped"
            if live.get("status") == status:
                return "unchanged"
            api.update(resource, live | {"status": status}, "status")
        except ApiError as error:
            if error.is_not_found:
                return "stopped"
            if not error.is_conflict:
                raise
        else:
            return "updated"
    return "stopped"
