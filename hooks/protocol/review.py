"""AdmissionReviews (admission.k8s.io/v1) about evictions: what the API server asks.

Owns the shape of the question, and what can be saved of one that hasn't that shape: the uid, without
which nobody can be answered. Leaves the answer to :mod:`hooks.admission`. Fields that mean nothing
here are tolerated. Source: design/drain.md, design/cluster.md *Seen on the wire*, the recorded
reviews under tests/fixtures/recorded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from hooks.drain.model import Review
from hooks.protocol.errors import ShapeError
from hooks.protocol.metadata import Name
from hooks.protocol.validation import from_bytes

V1: Final = "admission.k8s.io/v1"
V1BETA1: Final = "admission.k8s.io/v1beta1"
PODS: Final = "pods"
EVICTION: Final = "eviction"
CREATE: Final = "CREATE"
LONGEST_UID: Final = 128
LONGEST: Final[Mapping[str, int]] = MappingProxyType({"namespace": 63, "name": 253})
"""In characters; Kubernetes has no longer ones, and what is longer must not be kept, or sent back."""


@dataclass(frozen=True, slots=True)
class Question:
    """A review: whom to answer, in which version, and what was asked.

    ``review`` is the error instead where the rest of it hasn't the shape of a review.
    """

    uid: str
    version: str
    review: Review | ShapeError


class PreconditionsShape(TypedDict, total=False):
    """What must be so of the Pod that is deleted."""

    uid: str | None


class DeleteOptionsShape(TypedDict, total=False):
    """How the Pod is to be deleted; ``dryRun`` is a list that holds "All", or nothing."""

    dryRun: Any
    preconditions: PreconditionsShape | None


class EvictionMeta(TypedDict, total=False):
    """Metadata of an Eviction: the Pod's."""

    name: str | None
    namespace: str | None


class EvictionShape(TypedDict, total=False):
    """An Eviction (policy/v1, and v1beta1 which has the same fields)."""

    metadata: EvictionMeta | None
    deleteOptions: DeleteOptionsShape | None


class ResourceShape(TypedDict, total=False):
    """What kind of object the request is sent to."""

    group: str | None
    resource: str | None


class RequestShape(TypedDict):
    """The question itself."""

    uid: Name
    resource: NotRequired[ResourceShape | None]
    subResource: NotRequired[str | None]
    operation: NotRequired[str | None]
    name: NotRequired[str | None]
    namespace: NotRequired[str | None]
    object: NotRequired[EvictionShape | None]
    dryRun: NotRequired[Any]


class ReviewShape(TypedDict):
    """The body of a call."""

    apiVersion: NotRequired[Any]
    request: RequestShape


_REVIEW: Final = TypeAdapter(ReviewShape)


def parse_review(body: bytes) -> Question:
    """Read the body of ``/admission/eviction``; raises ShapeError when it names no uid to answer to."""
    try:
        shape = from_bytes(_REVIEW, body)
    except ShapeError as error:
        return _saved(body, error)
    request = shape["request"]
    if len(request["uid"]) > LONGEST_UID:
        raise _too_long("uid", LONGEST_UID)
    try:
        review: Review | ShapeError = _review(request)
    except ShapeError as error:
        review = error
    return Question(request["uid"], _version(shape.get("apiVersion")), review)


def _review(request: RequestShape) -> Review:
    if not _is_eviction(request):
        return Review(_short("namespace", request), _short("name", request), is_eviction=False)
    eviction = request.get("object") or {}
    meta, options = eviction.get("metadata") or {}, eviction.get("deleteOptions") or {}
    return Review(
        namespace=_same("namespace", _short("namespace", request), meta.get("namespace")),
        pod=_same("name", _short("name", request), meta.get("name")),
        # kubectl drain --dry-run=server sets the second one only.
        dry_run=bool(request.get("dryRun")) or bool(options.get("dryRun")),
        uid_wanted=(options.get("preconditions") or {}).get("uid"),
    )


def _is_eviction(request: RequestShape) -> bool:
    resource = request.get("resource") or {}
    return (
        not resource.get("group")
        and resource.get("resource") == PODS
        and request.get("subResource") == EVICTION
        and request.get("operation") == CREATE
    )


def _same(field: str, asked: str, written: str | None) -> str:
    """The request's word, or the Eviction's where it has none; two that differ are no Pod's."""
    if asked and written and asked != written:
        raise ShapeError(f"request.object.metadata.{field}", f"is not the request's own {field}")
    found = asked or written
    if not found:
        raise ShapeError(f"request.{field}", "is missing")
    if len(found) > LONGEST[field]:
        raise _too_long(f"object.metadata.{field}", LONGEST[field])
    return found


def _short(field: Literal["namespace", "name"], request: RequestShape) -> str:
    text = request.get(field) or ""
    if len(text) > LONGEST[field]:
        raise _too_long(field, LONGEST[field])
    return text


def _too_long(field: str, most: int) -> ShapeError:
    return ShapeError(f"request.{field}", f"is longer than {most} characters")


def _saved(body: bytes, error: ShapeError) -> Question:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        raise error from None
    request = parsed.get("request") if isinstance(parsed, dict) else None
    uid = request.get("uid") if isinstance(request, dict) else None
    if not isinstance(uid, str) or not 0 < len(uid) <= LONGEST_UID:
        raise error
    return Question(uid, _version(parsed.get("apiVersion")), error)


def _version(asked: object) -> str:
    """The version to answer in: the asker's own, which has the same fields, or v1."""
    return V1BETA1 if asked == V1BETA1 else V1
