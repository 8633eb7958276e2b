"""The gate: every webhook that is about a request is asked, and each may refuse it.

Owns the calls, and what a failed one does. They take real time, while the cluster's clock stands
still. Seen in apiserver v0.36.3 ``pkg/admission/plugin/webhook/validating/dispatcher.go``; there all are
called at once, here one after the other.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID, uuid5

from hooks.sandbox.conductor.webhook import HttpTransport
from hooks.sandbox.failures import ApiError, HookCallError
from hooks.sandbox.store.refusals import bad_request
from hooks.sandbox.webhooks.registered import Webhook, webhooks_about
from hooks.sandbox.webhooks.review import Answer, AnswerError, read_answer, review

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore
    from hooks.sandbox.webhooks.request import AdmissionRequest

Services: TypeAlias = dict[tuple[str, str, int], str]
"""(namespace, name, port) of a Service to the URL where somebody stands for it on loopback.

What kube-proxy and TLS do between the two is left out: whoever is called has to be told that it was
by https.
"""
HARMLESS: Final = frozenset({"None", "NoneOnDryRun"})
_REVIEWS: Final = UUID("72657669-6577-7300-6e6f-6465726f7461")
_HEADERS: Final = {
    "User-Agent": "kube-apiserver-admission",
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "Accept-Encoding": "gzip",
}
_OK, _NOT_OK = 200, 300
_log = logging.getLogger(__name__)


class _CallError(Exception):
    """A webhook gave no answer that counts."""


class Gate:
    """Asks the webhooks of one store."""

    def __init__(self, store: ObjectStore, services: Services) -> None:
        """Look into ``services`` at each call: who stands for a Service may change."""
        self._store = store
        self._services = services
        self._transports: dict[str, HttpTransport] = {}
        self._reviews = 0

    def check(self, request: AdmissionRequest) -> tuple[str, ...]:
        """Return the warnings of all; raises ApiError as the first one that refuses wants it."""
        warnings: list[str] = []
        refusals: list[ApiError] = []
        for webhook in webhooks_about(self._store, request):
            try:
                answer = self._ask(webhook, request)
            except _CallError as error:
                failed = f'failed calling webhook "{webhook.name}": {error}'
                if webhook.ignores_failures:
                    _log.warning("failing open: %s", failed)
                else:
                    refusals.append(_internal(failed))
                continue
            except ApiError as error:
                refusals.append(error)
                continue
            warnings += answer.warnings
            if answer.refusal is not None:
                refusals.append(answer.refusal)
        if refusals:
            raise refusals[0]
        return tuple(warnings)

    def _ask(self, webhook: Webhook, request: AdmissionRequest) -> Answer:
        if request.dry_run and webhook.side_effects is None:
            raise _CallError("Webhook SideEffects is nil")
        if request.dry_run and webhook.side_effects not in HARMLESS:
            raise bad_request(f'admission webhook "{webhook.name}" does not support dry run')
        if "v1" not in webhook.review_versions:
            raise _CallError("webhook does not accept known AdmissionReview versions (v1)")
        self._reviews += 1
        uid = str(uuid5(_REVIEWS, str(self._reviews)))
        try:
            reply = self._transport(webhook).post(review(request, uid))
        except HookCallError as error:
            raise _CallError(f"failed to call webhook: {error}") from error
        if not _OK <= reply.status < _NOT_OK:
            raise _CallError(f"failed to call webhook: status {reply.status}")
        try:
            return read_answer(reply.body, uid, webhook.name)
        except AnswerError as error:
            raise _CallError(f"received invalid webhook response: {error}") from error

    def _transport(self, webhook: Webhook) -> HttpTransport:
        service = webhook.service
        if service is None:
            raise _CallError("webhooks at a URL are not built")
        base = self._services.get((service.namespace, service.name, service.port))
        if base is None:
            raise _CallError(f"no endpoints available for service {service.name!r}")
        url = f"{base}{service.path}?timeout={webhook.timeout}s"
        found = self._transports.get(url)
        if found is None:
            found = self._transports[url] = HttpTransport(url, webhook.timeout, "", _HEADERS)
        return found


def _internal(message: str) -> ApiError:
    told = f"Internal error occurred: {message}"
    return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "InternalError", told)
