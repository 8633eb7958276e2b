"""One DecoratorController at work: what one sync does, in order.

Owns the order of the steps (design/rotation.md section 1) and the wake-up by an attachment. Leaves
the rest of a controller's life to :mod:`hooks.sandbox.conductor.syncloop`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from typing_extensions import override

from hooks.sandbox.conductor.attachments import manage, observed, wanted
from hooks.sandbox.conductor.parent import update_parent
from hooks.sandbox.conductor.syncloop import Hooks, Surroundings, SyncLoop
from hooks.sandbox.objects import Obj, is_same_version, is_terminating

if TYPE_CHECKING:
    from hooks.sandbox.conductor.controllerspec import ControllerSpec
    from hooks.sandbox.conductor.customize import Grouped
    from hooks.sandbox.conductor.informer import Informer
    from hooks.sandbox.conductor.parents import ParentKey

_log = logging.getLogger(__name__)


class Decorator(SyncLoop):
    """A DecoratorController."""

    def __init__(self, spec: ControllerSpec, hooks: Hooks, around: Surroundings) -> None:
        super().__init__(spec, hooks, around)
        find, watch = around.discovery.by_plural, around.open_informer
        children = [find(rule.api_version, rule.resource) for rule in spec.attachments]
        self._children = [watch(each, self.on_attachment) for each in children]

    @property
    @override
    def first_needed(self) -> list[Informer]:
        return [*super().first_needed, *self._children]

    def on_attachment(self, old: Obj | None, new: Obj | None) -> None:
        """Queue the parent that owns an attachment, whoever created it."""
        if is_same_version(old, new):
            return
        attachment = old if new is None else new
        parent = None if attachment is None else self._parents.owner_of(attachment)
        if parent is not None:
            self._enqueue(parent)

    @override
    def _sync_parent(self, key: ParentKey, parent: Obj) -> None:
        api, discovery, name = self._around.api, self._around.discovery, self.spec.name
        there = observed(parent, name, self._children)
        answer = self._ask(self._request(parent, there), "sync hook failed")
        self._look_again(key, answer)
        resource = discovery.by_kind(key.api_version, key.kind)
        outcome = update_parent(api, resource, parent, answer)
        if outcome == "stopped":
            # The newer parent is an event that queues it again; this answer is void.
            _log.info("%s %s: changed or gone meanwhile, stopped", name, key.shown)
            return
        if is_terminating(parent):
            # Without a finalize hook its attachments are the garbage collector's.
            return
        done = manage(api, discovery, parent, there, wanted(answer.attachments, name))
        _log.info(
            "%s %s: %s, deleted %s, created %s, again in %gs",
            *(name, key.shown, outcome, done.deleted, done.created, answer.resync_after),
        )

    def _request(self, parent: Obj, there: Grouped) -> Obj:
        return {
            "controller": self.spec.document,
            "object": parent,
            "attachments": there,
            "related": self._related_to(parent),
            "finalizing": False,
        }
