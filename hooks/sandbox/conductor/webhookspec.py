"""The hooks in a controller's spec: where they are called, how long, and by what right.

Owns which fields of a hook the conductor understands; any other one is refused, so that a hook is
never called differently from what its controller asks for. The same for every kind of controller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hooks.sandbox.durations import canonical, nanoseconds
from hooks.sandbox.failures import InvalidControllerError
from hooks.sandbox.objects import Obj

DEFAULT_TIMEOUT: Final = 10.0
_WEBHOOK_FIELDS: Final = frozenset(
    {"url", "timeout", "service", "path", "authorization", "responseUnMarshallMode"}
)
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


def read_hooks(spec: Obj) -> tuple[WebhookSpec, WebhookSpec | None]:
    """Return the sync hook and the customize hook, or raise InvalidControllerError."""
    hooks: Obj = spec.get("hooks") or {}
    only(hooks, frozenset({"sync", "customize"}), "hooks")
    if hooks.get("sync") is None:
        raise InvalidControllerError("sync hook not defined")
    customize = hooks.get("customize")
    return _hook(hooks["sync"]), None if customize is None else _hook(customize)


def only(obj: Obj, known: frozenset[str], where: str) -> None:
    """Refuse fields that nobody here understands."""
    unknown = sorted(name for name in obj if name not in known)
    if unknown:
        raise InvalidControllerError(f"{where} has fields that are not built: {', '.join(unknown)}")


def as_sent(obj: Obj) -> Obj:
    """Return the typed copy that Metacontroller sends: a status always, durations canonical."""
    spec = dict(obj["spec"])
    hooks = {name: hook for name, hook in spec["hooks"].items() if hook is not None}
    for name, hook in hooks.items():
        timeout = hook["webhook"].get("timeout")
        if timeout is not None:
            webhook = hook["webhook"] | {"timeout": canonical(nanoseconds(timeout))}
            hooks[name] = hook | {"webhook": webhook}
    return obj | {"spec": spec | {"hooks": hooks}, "status": obj.get("status") or {}}


def _hook(hook: Obj) -> WebhookSpec:
    if hook.get("version") != "v2":
        raise InvalidControllerError("only hooks of version v2 are built")
    webhook: Obj = hook["webhook"]
    only(webhook, _WEBHOOK_FIELDS, "webhook")
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
