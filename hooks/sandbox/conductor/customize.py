"""Related objects: which ones a parent gets, and which parents a changed one wakes.

Owns the cache of customize answers (per parent UID and generation, 20 minutes), the selection of
related objects by rule, and the matching of events by the object's old AND new labels. Source:
design/rotation.md sections 1 and 2.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, TypeAlias

from hooks.sandbox.failures import ConductorError, HookCallError, RelatedNotSyncedError
from hooks.sandbox.objects import (
    Obj,
    generation_of,
    group_key,
    key_in_group,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.sandbox.apiport import Resource
    from hooks.sandbox.conductor.answers import RelatedRule
    from hooks.sandbox.conductor.informer import Handler, Informer
    from hooks.sandbox.conductor.resources import Discovery
    from hooks.sandbox.conductor.webhook import Hook

Grouped: TypeAlias = dict[str, dict[str, Obj]]
"""Objects by ``Kind.group/version``, then by ``namespace/name`` or ``name``."""

LIFETIME: Final = 1200.0
"""Seconds that a customize answer is kept."""


class AnswerCache:
    """Customize answers by parent UID and generation; safe to use from several threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, int], tuple[float, tuple[RelatedRule, ...]]] = {}

    def get(self, parent: Obj) -> tuple[RelatedRule, ...] | None:
        """Return the answer kept for this generation of the parent, unless it is too old."""
        with self._lock:
            kept = self._answers.get((uid_of(parent), generation_of(parent)))
        return None if kept is None or self._clock() >= kept[0] else kept[1]

    def put(self, parent: Obj, rules: tuple[RelatedRule, ...]) -> None:
        """Keep an answer, and drop those that are too old."""
        now = self._clock()
        with self._lock:
            self._answers = {key: kept for key, kept in self._answers.items() if now < kept[0]}
            self._answers[uid_of(parent), generation_of(parent)] = (now + LIFETIME, rules)


def matches(rule: RelatedRule, resource: Resource, obj: Obj) -> bool:
    """Tell whether a rule selects an object; ``resource`` is the rule's own.

    Raises HookCallError for a rule that names objects and selects by labels at the same time.
    """
    if obj.get("apiVersion") != resource.api_version or obj.get("kind") != resource.kind:
        return False
    if rule.names and rule.labels is not None:
        raise HookCallError(
            "related rule cannot have both names and labelSelector/namespaceSelector specified"
        )
    if resource.namespaced and rule.namespace and namespace_of(obj) != rule.namespace:
        return False
    if rule.names:
        return name_of(obj) in rule.names
    return rule.labels is None or rule.labels.matches(labels_of(obj))


class RelatedObjects:
    """The related objects of one controller's parents."""

    def __init__(
        self,
        document: Obj,
        hook: Hook[tuple[RelatedRule, ...]],
        discovery: Discovery,
        open_informer: Callable[[Resource, Handler], Informer],
        cache: AnswerCache,
    ) -> None:
        """Ask ``hook`` with ``document`` as its controller; open informers as rules need them."""
        self._document = document
        self._hook = hook
        self._discovery = discovery
        self._open_informer = open_informer
        self._cache = cache
        self._lock = threading.Lock()
        self._informers: dict[tuple[str, str], Informer] = {}

    def rules_for(self, parent: Obj) -> tuple[RelatedRule, ...]:
        """Return the parent's rules, from the cache or from the hook."""
        rules = self._cache.get(parent)
        if rules is None:
            rules = self._hook.call({"controller": self._document, "parent": parent})
            self._cache.put(parent, rules)
        return rules

    def select(self, parent: Obj, on_change: Handler) -> Grouped:
        """Return the related objects of a parent, with an entry for each kind in its rules.

        A kind that is new is watched from now on, ``on_change`` being told; until its first list
        is there, raises RelatedNotSyncedError.
        """
        groups: Grouped = {}
        for rule in self.rules_for(parent):
            resource = self._discovery.by_plural(rule.api_version, rule.resource)
            informer = self._informer(resource, on_change)
            if not informer.synced.is_set():
                raise RelatedNotSyncedError
            group = groups.setdefault(group_key(resource.api_version, resource.kind), {})
            for obj in informer.all():
                if matches(rule, resource, obj):
                    group[key_in_group(obj)] = obj
        return groups

    def parents_woken_by(self, states: list[Obj], parents: list[Obj]) -> list[Obj]:
        """Return the parents with a rule that selects an object in any of these states."""
        return [
            parent
            for parent in parents
            if any(
                self._selects(rule, state)
                for rule in self._rules_or_none(parent)
                for state in states
            )
        ]

    def _rules_or_none(self, parent: Obj) -> tuple[RelatedRule, ...]:
        try:
            return self.rules_for(parent)
        except ConductorError:
            # The parent's own sync meets the same error and reports it.
            return ()

    def _selects(self, rule: RelatedRule, state: Obj) -> bool:
        try:
            resource = self._discovery.by_plural(rule.api_version, rule.resource)
            return matches(rule, resource, state)
        except ConductorError:
            return False

    def _informer(self, resource: Resource, on_change: Handler) -> Informer:
        key = (resource.api_version, resource.plural)
        with self._lock:
            informer = self._informers.get(key)
            if informer is None:
                informer = self._open_informer(resource, on_change)
                self._informers[key] = informer
            return informer
