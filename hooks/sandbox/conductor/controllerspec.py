"""A controller object, read once and checked whole.

Owns which of its fields the conductor understands, for both kinds. What it doesn't build (finalize
hooks, updates in place, children of a CompositeController, etags, hook API v1, ...) is refused, so
that a controller never runs differently from what it asks for. Leaves the hooks to
:mod:`hooks.sandbox.conductor.webhookspec`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hooks.sandbox.conductor.webhookspec import WebhookSpec, as_sent, only, read_hooks
from hooks.sandbox.failures import InvalidControllerError
from hooks.sandbox.objects import Obj
from hooks.sandbox.selectors import Selector, selector_from

ControllerKind: TypeAlias = Literal["DecoratorController", "CompositeController"]

DEFAULT_RESYNC: Final = 1800.0
"""Seconds; Metacontroller's own relist interval, which tells every parent again."""
_DECORATOR_FIELDS: Final = frozenset({"resources", "attachments", "hooks", "resyncPeriodSeconds"})
_COMPOSITE_FIELDS: Final = frozenset(
    {"parentResource", "childResources", "hooks", "resyncPeriodSeconds", "generateSelector"}
)
_PARENT_FIELDS: Final = frozenset(
    {"apiVersion", "resource", "labelSelector", "ignoreStatusChanges"}
)


@dataclass(frozen=True, slots=True)
class ParentRule:
    """One kind of parents and which of them; ``ignore_status`` skips pure status changes."""

    api_version: str
    resource: str
    labels: Selector
    annotations: Selector
    ignore_status: bool


@dataclass(frozen=True, slots=True)
class AttachmentRule:
    """One kind of attachments; its update method is always OnDelete."""

    api_version: str
    resource: str


@dataclass(frozen=True, slots=True)
class ControllerSpec:
    """A controller ready to run; ``document`` is what its hooks get as ``controller``.

    A CompositeController has one rule of parents, and no attachments.
    """

    kind: ControllerKind
    name: str
    document: Obj
    parents: tuple[ParentRule, ...]
    attachments: tuple[AttachmentRule, ...]
    sync: WebhookSpec
    customize: WebhookSpec | None
    resync_period: float


def read_controller(obj: Obj) -> ControllerSpec:
    """Return the spec of a controller of either kind, or raise InvalidControllerError."""
    try:
        if obj["kind"] == "CompositeController":
            return _composite(obj)
        return _decorator(obj)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidControllerError(f"can't read the controller: {error!r}") from error


def _decorator(obj: Obj) -> ControllerSpec:
    spec: Obj = obj.get("spec") or {}
    only(spec, _DECORATOR_FIELDS, "spec")
    sync, customize = read_hooks(spec)
    return ControllerSpec(
        kind="DecoratorController",
        name=obj["metadata"]["name"],
        document=as_sent(obj),
        parents=tuple(_parent(rule) for rule in spec.get("resources") or []),
        attachments=tuple(_attachment(rule) for rule in spec.get("attachments") or []),
        sync=sync,
        customize=customize,
        resync_period=_resync_period(spec.get("resyncPeriodSeconds")),
    )


def _composite(obj: Obj) -> ControllerSpec:
    spec: Obj = obj.get("spec") or {}
    only(spec, _COMPOSITE_FIELDS, "spec")
    if spec.get("childResources"):
        raise InvalidControllerError("children of a CompositeController are not built")
    if spec.get("generateSelector") is not True:
        # Without it every parent needs a selector of its own, even with no children to select.
        raise InvalidControllerError("only CompositeControllers with generateSelector are built")
    rule: Obj = spec["parentResource"]
    only(rule, _PARENT_FIELDS, "parentResource")
    sync, customize = read_hooks(spec)
    return ControllerSpec(
        kind="CompositeController",
        name=obj["metadata"]["name"],
        document=as_sent(obj),
        parents=(_parent(rule),),
        attachments=(),
        sync=sync,
        customize=customize,
        resync_period=_resync_period(spec.get("resyncPeriodSeconds")),
    )


def _parent(rule: Obj) -> ParentRule:
    return ParentRule(
        api_version=rule["apiVersion"],
        resource=rule["resource"],
        labels=selector_from(rule.get("labelSelector")),
        annotations=selector_from(rule.get("annotationSelector"), "matchAnnotations"),
        ignore_status=rule.get("ignoreStatusChanges") is True,
    )


def _attachment(rule: Obj) -> AttachmentRule:
    method = (rule.get("updateStrategy") or {}).get("method") or "OnDelete"
    if method != "OnDelete":
        raise InvalidControllerError(f"update method {method!r} of an attachment is not built")
    return AttachmentRule(rule["apiVersion"], rule["resource"])


def _resync_period(seconds: int | None) -> float:
    return DEFAULT_RESYNC if seconds is None else min(max(float(seconds), 1.0), DEFAULT_RESYNC)
