"""The API server's refusals, worded as it words them.

Owns what each of them says and the ``details`` of its Status. Seen in: apimachinery v0.36.3,
pkg/api/errors/errors.go; the bare 422 of a patch was seen on kube-apiserver v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, group_of
from hooks.sandbox.store.kinds import group_kind, group_resource

MODIFIED_MEANWHILE: Final = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class RefusedError(ApiError):
    """A refusal with the ``details`` that its Status carries; None when it has none."""

    def __init__(self, status: int, reason: str, message: str, details: Obj | None = None) -> None:
        """Take code, reason, message and details of a Kubernetes Status."""
        super().__init__(status, reason, message)
        self.details = details


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field that can't be accepted; ``kind`` is FieldValueInvalid and the like."""

    field: str
    kind: str
    message: str


def not_found(resource: Resource, name: str) -> RefusedError:
    """There is no object of this name."""
    message = f'{group_resource(resource)} "{name}" not found'
    return RefusedError(HTTPStatus.NOT_FOUND, "NotFound", message, _details(resource, name))


def not_served() -> RefusedError:
    """No such kind."""
    message = "the server could not find the requested resource"
    return RefusedError(HTTPStatus.NOT_FOUND, "NotFound", message, {})


def already_exists(resource: Resource, name: str) -> RefusedError:
    """The name is taken."""
    message = f'{group_resource(resource)} "{name}" already exists'
    return RefusedError(HTTPStatus.CONFLICT, "AlreadyExists", message, _details(resource, name))


def conflict(resource: Resource, name: str, why: str = MODIFIED_MEANWHILE) -> RefusedError:
    """The version or UID of an update isn't the stored one."""
    message = f'Operation cannot be fulfilled on {group_resource(resource)} "{name}": {why}'
    return RefusedError(HTTPStatus.CONFLICT, "Conflict", message, _details(resource, name))


def precondition_failed(resource: Resource, name: str, why: str) -> RefusedError:
    """A precondition of a delete doesn't hold; the kind stands where others have the plural."""
    message = f'Operation cannot be fulfilled on {group_kind(resource)} "{name}": {why}'
    details = _details(resource, name, kind=resource.kind)
    return RefusedError(HTTPStatus.CONFLICT, "Conflict", message, details)


def forbidden(
    resource: Resource, name: str, why: str, cause: FieldProblem | None = None
) -> RefusedError:
    """Admission says no."""
    message = f'{group_resource(resource)} "{name}" is forbidden: {why}'
    details = _details(resource, name) | (_causes([cause]) if cause else {})
    return RefusedError(HTTPStatus.FORBIDDEN, "Forbidden", message, details)


def invalid(resource: Resource, name: str, *problems: FieldProblem) -> RefusedError:
    """Validation says no, and names the fields."""
    said = [f"{problem.field}: {problem.message}" for problem in problems]
    joined = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    return RefusedError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "Invalid",
        f'{group_kind(resource)} "{name}" is invalid: {joined}',
        _details(resource, name, kind=resource.kind) | _causes(problems),
    )


def version_needed(resource: Resource, name: str) -> RefusedError:
    """An update of a custom kind must say which version it replaces."""
    field, said = "metadata.resourceVersion", "Invalid value: 0: must be specified for an update"
    problem = FieldProblem(field, "FieldValueInvalid", said)
    return RefusedError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "Invalid",
        f'{group_resource(resource)} "{name}" is invalid: {field}: {said}',
        _details(resource, name) | _causes([problem]),
    )


def inapplicable_patch() -> RefusedError:
    """A JSON Patch that can't be applied, be it a test that failed: nothing says which."""
    return RefusedError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "Invalid",
        "the server rejected our request due to an error in our request",
        {},
    )


def bad_request(message: str) -> RefusedError:
    """The request itself can't be understood."""
    return RefusedError(HTTPStatus.BAD_REQUEST, "BadRequest", message)


def too_old(revision: str) -> RefusedError:
    """A version that this server can't know."""
    return RefusedError(HTTPStatus.GONE, "Expired", f"too old resource version: {revision} (0)")


def _causes(problems: Iterable[FieldProblem]) -> Obj:
    causes = [
        {"reason": problem.kind, "message": problem.message, "field": problem.field}
        for problem in problems
    ]
    return {"causes": causes}


def _details(resource: Resource, name: str, kind: str = "") -> Obj:
    group = group_of(resource.api_version)
    details = {"name": name, "group": group, "kind": kind or resource.plural}
    return {key: value for key, value in details.items() if value}
