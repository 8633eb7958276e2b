"""A DecoratorController object, read once and checked whole.

Owns which of its fields the conductor understands. What it doesn't build (finalize hooks, updates
in place, etags, hook API v1, ...) is refused, so that a controller never runs differently from what
it asks for. A CompositeController will get a reader of its own beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hooks.sandbox.durations import canonical, nanoseconds
from hooks.sandbox.failures import InvalidControllerError
from hooks.sandbox.objects import Obj
from hooks.sandbox.selectors import Selector, selector_from

DEFAULT_TIMEOUT: Final = 10.0
DEFAULT_RESYNC: Final = 1800.0
"""Seconds; Metacontroller's own relist interval, which tells every parent again."""
_WEBHOOK_FIELDS: Final = frozenset(
    {"url", "timeout", "service", "path", "authorization", "responseUnMarshallMode"}
)
_SPEC_FIELDS: Final = frozenset({"resources", "attachments", "hooks", "resyncPeriodSeconds"})
_HTTP_PORT: Final = 80


@dataclass(frozen=True, slots=True)
class SecretKey:
    """Where a token lies, and the scheme it is sent with."""

    scheme: str
    namespace: str
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class WebhookSpec:
    """One hook; ``timeout`` in seconds."""

    url: str
    timeout: float
    authorization: SecretKey | None
    strict: bool


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
    """A controller ready to run; ``document`` is what its hooks get as ``controller``."""

    name: str
    document: Obj
    parents: tuple[ParentRule, ...]
    attachments: tuple[AttachmentRule, ...]
    sync: WebhookSpec
    customize: WebhookSpec | None
    resync_period: float


def read_controller(obj: Obj) -> ControllerSpec:
    """Return the spec of a DecoratorController, or raise InvalidControllerError."""
    spec: Obj = obj.get("spec") or {}
    try:
        _only(spec, _SPEC_FIELDS, "spec")
        hooks: Obj = spec.get("hooks") or {}
        _only(hooks, frozenset({"sync", "customize"}), "hooks")
        if hooks.get("sync") is None:
            raise InvalidControllerError("sync hook not defined")
        customize = hooks.get("customize")
        return ControllerSpec(
            name=obj["metadata"]["name"],
            document=_as_sent(obj),
            parents=tuple(_parent(rule) for rule in spec.get("resources") or []),
            attachments=tuple(_attachment(rule) for rule in spec.get("attachments") or []),
            sync=_hook(hooks["sync"]),
            customize=None if customize is None else _hook(customize),
            resync_period=_resync_period(spec.get("resyncPeriodSeconds")),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidControllerError(f"can't read the controller: {error!r}") from error


def _only(obj: Obj, known: frozenset[str], where: str) -> None:
    unknown = sorted(name for name in obj if name not in known)
    if unknown:
        raise InvalidControllerError(f"{where} has fields that are not built: {', '.join(unknown)}")


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


def _hook(hook: Obj) -> WebhookSpec:
    if hook.get("version") != "v2":
        raise InvalidControllerError("only hooks of version v2 are built")
    webhook: Obj = hook["webhook"]
    _only(webhook, _WEBHOOK_FIELDS, "webhook")
    timeout = nanoseconds(webhook["timeout"]) / 1e9 if "timeout" in webhook else DEFAULT_TIMEOUT
    return WebhookSpec(
        url=_url(webhook),
        timeout=timeout if timeout > 0 else DEFAULT_TIMEOUT,
        authorization=_authorization(webhook.get("authorization")),
        strict=webhook.get("responseUnMarshallMode", "strict") == "strict",
    )


def _url(webhook: Obj) -> str:
    if webhook.get("url") is not None:
        url: str = webhook["url"]
        return url
    service, path = webhook.get("service"), webhook.get("path")
    if service is None or path is None:
        raise InvalidControllerError(
            "invalid webhook config: must specify either full 'url', or both 'service' and 'path'"
        )
    if not service.get("name") or not service.get("namespace"):
        raise InvalidControllerError(
            "invalid client config: must specify service 'name' and 'namespace'"
        )
    protocol, port = service.get("protocol", "http"), service.get("port", _HTTP_PORT)
    return f"{protocol}://{service['name']}.{service['namespace']}:{port}{path}"


def _authorization(spec: Obj | None) -> SecretKey | None:
    if spec is None:
        return None
    scheme = spec.get("type") or "Bearer"
    if scheme.strip().lower() == "basic":
        raise InvalidControllerError(f"authorization type {scheme!r} is not supported")
    ref: Obj = spec["secretRef"]
    return SecretKey(scheme, ref["namespace"], ref["name"], ref["key"])


def _resync_period(seconds: int | None) -> float:
    return DEFAULT_RESYNC if seconds is None else min(max(float(seconds), 1.0), DEFAULT_RESYNC)


def _as_sent(obj: Obj) -> Obj:
    """Return the typed copy that Metacontroller sends: a status always, durations canonical."""
    spec = dict(obj["spec"])
    hooks = {name: hook for name, hook in spec["hooks"].items() if hook is not None}
    for name, hook in hooks.items():
        timeout = hook["webhook"].get("timeout")
        if timeout is not None:
            webhook = hook["webhook"] | {"timeout": canonical(nanoseconds(timeout))}
            hooks[name] = hook | {"webhook": webhook}
    return obj | {"spec": spec | {"hooks": hooks}, "status": obj.get("status") or {}}
