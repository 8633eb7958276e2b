"""AdmissionReview v1: what a webhook is sent, and what its answer means.

Owns both shapes. The request is spelt, in its order of fields, as a real API server spelt it in the
recording eviction-reviews. Seen in apiserver v0.36.3 ``pkg/admission/plugin/webhook/request`` and
``errors``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.refusals import RefusedError

if TYPE_CHECKING:
    from hooks.sandbox.webhooks.request import AdmissionRequest, Group

KIND: Final = "AdmissionReview"
VERSION: Final = "admission.k8s.io/v1"
EVERYBODY: Final[Mapping[str, object]] = MappingProxyType(
    {"username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"]}
)
"""Who asks: nobody is told apart here, as in the recording."""


class AnswerError(Exception):
    """The answer of a webhook isn't one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a webhook says; ``refusal`` is None where it allows."""

    refusal: RefusedError | None
    warnings: tuple[str, ...] = ()


def review(request: AdmissionRequest, uid: str) -> bytes:
    """Return the body that a webhook gets."""
    kind, resource = _kind(request.kind), _resource(request.resource)
    asked = {
        "uid": uid,
        "kind": kind,
        "resource": resource,
        "subResource": request.subresource,
        "requestKind": kind,
        "requestResource": resource,
        "requestSubResource": request.subresource,
        "name": request.name,
        "namespace": request.namespace,
        "operation": request.operation,
        "userInfo": dict(EVERYBODY),
        "object": request.obj,
        "oldObject": None,
        "dryRun": request.dry_run,
        "options": request.options,
    }
    whole = {"kind": KIND, "apiVersion": VERSION, "request": asked}
    # Go ends what it writes with a new line.
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_answer(body: bytes, uid: str, webhook: str) -> Answer:
    """Return what the answer to the review of a UID says; raises AnswerError."""
    try:
        whole: object = json.loads(body)
    except ValueError as error:
        raise AnswerError(f"couldn't decode the response: {error}") from error
    answer: object = whole.get("response") if isinstance(whole, dict) else None
    if not isinstance(whole, dict) or not isinstance(answer, dict):
        raise AnswerError("webhook response was absent")
    if answer.get("uid") != uid:
        got = answer.get("uid", "")
        raise AnswerError(f'expected response.uid="{uid}", got "{got}"')
    if (whole.get("apiVersion"), whole.get("kind")) != (VERSION, KIND):
        got = f"{whole.get('apiVersion', '')}, Kind={whole.get('kind', '')}"
        raise AnswerError(f"expected webhook response of {VERSION}, Kind={KIND}, got {got}")
    if answer.get("patch") or answer.get("patchType") is not None:
        raise AnswerError("validating webhook may not return response.patch")
    refusal = None if answer.get("allowed") is True else _refusal(answer.get("status"), webhook)
    return Answer(refusal, tuple(answer.get("warnings") or ()))


def _refusal(status: Obj | None, webhook: str) -> RefusedError:
    """Return the error that a denial becomes; its code is 400 at least."""
    told: Obj = status or {}
    reason: str = told.get("reason") or ""
    why: str = told.get("message") or reason
    denied = f'admission webhook "{webhook}" denied the request'
    message = f"{denied}: {why}" if why else f"{denied} without explanation"
    code = max(int(told.get("code") or 0), HTTPStatus.BAD_REQUEST)
    return RefusedError(code, reason, message, told.get("details"))


def _kind(kind: Group) -> Obj:
    return {"group": kind.group, "version": kind.version, "kind": kind.name}


def _resource(resource: Group) -> Obj:
    return {"group": resource.group, "version": resource.version, "resource": resource.name}
