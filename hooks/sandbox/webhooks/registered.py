"""The webhooks of all ValidatingWebhookConfigurations, and which of them are about a request.

Owns the defaults and the matching: rules, namespaceSelector, objectSelector. Seen in apiserver
v0.36.3 ``pkg/admission/plugin/webhook/predicates`` and api v0.36.3 ``admissionregistration/v1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, labels_of
from hooks.sandbox.selectors import EVERYTHING, Selector, selector_from
from hooks.sandbox.store.kinds import NAMESPACES, VALIDATINGWEBHOOKCONFIGURATIONS

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore
    from hooks.sandbox.webhooks.request import AdmissionRequest

ANY: Final = "*"
_UNASKED: Final = "admissionregistration.k8s.io"
"""Webhooks are never asked about the objects that register them."""


@dataclass(frozen=True, slots=True)
class Service:
    """Where a webhook is called."""

    namespace: str
    name: str
    port: int
    path: str


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook; ``timeout`` in seconds, ``side_effects`` None where it says nothing of them."""

    name: str
    service: Service | None
    rules: Sequence[Obj]
    namespaces: Selector
    objects: Selector
    ignores_failures: bool
    side_effects: str | None
    timeout: int
    review_versions: tuple[str, ...]


def webhooks_about(store: ObjectStore, request: AdmissionRequest) -> list[Webhook]:
    """Return whom to ask, in the order of the configurations' names.

    Raises ApiError 404 when a selector asks for the labels of a namespace that isn't there, and 500
    for what isn't built.
    """
    if request.kind.group == _UNASKED:
        return []
    found = [
        _webhook(one)
        for configuration in store.all(VALIDATINGWEBHOOKCONFIGURATIONS)
        for one in configuration.get("webhooks") or ()
    ]
    return [webhook for webhook in found if _is_about(store, webhook, request)]


def _webhook(spec: Obj) -> Webhook:
    name: str = spec["name"]
    if spec.get("matchConditions"):
        message = f"matchConditions of webhook {name} are not built"
        raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "InternalError", message)
    return Webhook(
        name=name,
        service=_service(spec["clientConfig"].get("service")),
        rules=spec.get("rules") or (),
        namespaces=selector_from(spec.get("namespaceSelector")),
        objects=selector_from(spec.get("objectSelector")),
        ignores_failures=spec.get("failurePolicy") == "Ignore",
        side_effects=spec.get("sideEffects"),
        timeout=spec.get("timeoutSeconds", 10),
        review_versions=tuple(spec["admissionReviewVersions"]),
    )


def _service(spec: Obj | None) -> Service | None:
    if spec is None:
        return None
    return Service(spec["namespace"], spec["name"], spec.get("port", 443), spec.get("path") or "/")


def _is_about(store: ObjectStore, webhook: Webhook, request: AdmissionRequest) -> bool:
    if not any(_allows(rule, request) for rule in webhook.rules):
        return False
    if not webhook.objects.matches(labels_of(request.obj)):
        return False
    if webhook.namespaces == EVERYTHING or not request.namespace:
        return True
    namespace = store.get(NAMESPACES, "", request.namespace)
    return webhook.namespaces.matches(labels_of(namespace))


def _allows(rule: Obj, request: AdmissionRequest) -> bool:
    scope = rule.get("scope", ANY)
    return (
        scope in {ANY, "Namespaced" if request.namespace else "Cluster"}
        and _has(rule.get("operations"), request.operation)
        and _has(rule.get("apiGroups"), request.resource.group)
        and _has(rule.get("apiVersions"), request.resource.version)
        and any(_names(text, request) for text in rule.get("resources") or ())
    )


def _has(words: Sequence[str] | None, word: str) -> bool:
    return any(one in {ANY, word} for one in words or ())


def _names(text: str, request: AdmissionRequest) -> bool:
    resource, _, subresource = text.partition("/")
    return resource in {ANY, request.resource.name} and subresource in {ANY, request.subresource}
