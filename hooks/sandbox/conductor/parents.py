"""Which objects are a controller's parents.

Owns the selection by kind, labels and annotations, and the way from an attachment to the parent
that owns it. Versions of a kind don't matter, group and kind do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hooks.sandbox.objects import (
    Obj,
    annotations_of,
    controller_ref,
    generation_of,
    group_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)

if TYPE_CHECKING:
    from hooks.sandbox.conductor.controllerspec import ParentRule
    from hooks.sandbox.conductor.informer import Informer


class ParentKey(NamedTuple):
    """One parent by its names."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, parent: Obj) -> ParentKey:
        """Return the key of an object."""
        names = (namespace_of(parent), name_of(parent))
        return cls(parent["apiVersion"], parent["kind"], *names)

    @property
    def shown(self) -> str:
        """Return the key for log lines: ``NodePool api``, ``Deployment ns/web``."""
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {where}"


class Parents:
    """The parents of one controller, seen through the informers of their kinds."""

    def __init__(self, watched: list[tuple[ParentRule, Informer]]) -> None:
        self.informers = [informer for _, informer in watched]
        self._rules = {_group_kind(informer): rule for rule, informer in watched}

    def all(self) -> list[Obj]:
        """Return every object of the parents' kinds, selected or not."""
        return [parent for informer in self.informers for parent in informer.all()]

    def get(self, key: ParentKey) -> Obj | None:
        """Return the copy of a parent, or None when it is gone."""
        for informer in self.informers:
            resource = informer.resource
            if (resource.api_version, resource.kind) == (key.api_version, key.kind):
                return informer.get(key.namespace, key.name)
        return None

    def selects(self, parent: Obj) -> bool:
        """Tell whether the controller takes care of an object."""
        rule = self._rule_of(parent)
        return (
            rule is not None
            and rule.labels.matches(labels_of(parent))
            and rule.annotations.matches(annotations_of(parent))
        )

    def ignores(self, old: Obj, new: Obj) -> bool:
        """Tell whether a change is of the status alone and the controller doesn't want to know."""
        rule = self._rule_of(new)
        return (
            rule is not None
            and rule.ignore_status
            and generation_of(old) == generation_of(new)
            and labels_of(old) == labels_of(new)
            and annotations_of(old) == annotations_of(new)
            and not is_terminating(new)
        )

    def owner_of(self, attachment: Obj) -> Obj | None:
        """Return the parent that an attachment's controller reference means, checked by UID."""
        reference = controller_ref(attachment)
        if reference is None:
            return None
        kind = (group_of(reference["apiVersion"]), reference["kind"])
        for informer in self.informers:
            if _group_kind(informer) == kind:
                # References never cross namespaces.
                namespace = namespace_of(attachment) if informer.resource.namespaced else ""
                parent = informer.get(namespace, reference["name"])
                if parent is not None and uid_of(parent) == reference.get("uid"):
                    return parent
        return None

    def _rule_of(self, parent: Obj) -> ParentRule | None:
        return self._rules.get((group_of(parent["apiVersion"]), parent["kind"]))


def _group_kind(informer: Informer) -> tuple[str, str]:
    return group_of(informer.resource.api_version), informer.resource.kind
