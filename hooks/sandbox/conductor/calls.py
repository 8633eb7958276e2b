"""The hooks of a controller, ready to be called.

Owns reading the token that a webhook is called with, once, as Metacontroller does: when the
controller is created or changed (seen on the real one, design/cluster.md).
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.answers import decode_composite, decode_customize, decode_sync
from hooks.sandbox.conductor.syncloop import Hooks
from hooks.sandbox.conductor.webhook import Hook, HttpTransport
from hooks.sandbox.failures import InvalidControllerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.sandbox.apiport import ApiPort
    from hooks.sandbox.conductor.controllerspec import ControllerSpec
    from hooks.sandbox.conductor.webhookspec import SecretKey, WebhookSpec

SECRETS: Final = Resource("v1", "secrets", "Secret", namespaced=True)


def _wall_clock() -> datetime:
    return datetime.now(UTC)


def connect(
    spec: ControllerSpec, api: ApiPort, now: Callable[[], datetime] = _wall_clock
) -> tuple[Hooks, list[HttpTransport]]:
    """Make the hooks of a controller; raises ConductorError when a token can't be had.

    ``now`` is read to make sense of a date in Retry-After.
    """
    sync, customize = spec.sync, spec.customize
    transports = [_transport(webhook, api) for webhook in (sync, customize) if webhook is not None]
    decode = decode_composite if spec.kind == "CompositeController" else decode_sync
    hooks = Hooks(
        sync=Hook(transports[0], decode, strict=sync.strict, now=now),
        customize=None
        if customize is None
        else Hook(transports[1], decode_customize, strict=customize.strict, now=now),
    )
    return hooks, transports


def _transport(webhook: WebhookSpec, api: ApiPort) -> HttpTransport:
    secret = webhook.authorization
    authorization = "" if secret is None else _authorization(api, secret)
    return HttpTransport(webhook.url, webhook.timeout, authorization)


def _authorization(api: ApiPort, secret: SecretKey) -> str:
    data: dict[str, str] = api.get(SECRETS, secret.namespace, secret.name).get("data") or {}
    where = f"authorization secret {secret.namespace}/{secret.name}"
    if secret.key not in data:
        raise InvalidControllerError(f"{where} does not contain key {secret.key!r}")
    try:
        token = base64.b64decode(data[secret.key], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidControllerError(f"{where}: key {secret.key!r} is no text") from error
    return f"{secret.scheme} {token.strip()}"
