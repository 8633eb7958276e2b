"""What a path means: a kind, a namespace, a name, a subresource.

Owns the paths of the API, and the names that Kubernetes' audit log gives to requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.face.wire import Request
from hooks.sandbox.store.kinds import is_custom

_VERBS: Final = {
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_TRUE: Final = frozenset({"true", "1", "t", "True", "TRUE", "T"})
_CORE_PARTS: Final = 2
_GROUP_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about; ``namespace`` None means all, ``name`` empty means the collection."""

    resource: Resource
    namespace: str | None
    name: str
    subresource: str

    @property
    def shown(self) -> str:
        """How it is called in RBAC: ``pods``, ``pods/eviction``."""
        plural = self.resource.plural
        return f"{plural}/{self.subresource}" if self.subresource else plural

    @property
    def place(self) -> str:
        """The namespace, empty for what has none."""
        return self.namespace or ""


def is_set(request: Request, key: str) -> bool:
    """Tell whether a flag of the query is true."""
    return request.query.get(key) in _TRUE


def verb_of(request: Request, target: Target) -> str:
    """Return the verb as the audit log has it."""
    if request.method == "GET":
        if target.name:
            return "get"
        return "watch" if is_set(request, "watch") else "list"
    if request.method == "DELETE" and not target.name:
        return "deletecollection"
    return _VERBS[request.method]


def prefix_of(api_version: str) -> str:
    """Return where a group version is: ``/api/v1``, ``/apis/apps/v1``."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


class Paths:
    """All paths of the kinds that are served."""

    def __init__(self, served: Iterable[Resource]) -> None:
        self._kinds = {(each.api_version, each.plural): each for each in served}
        self._built_in = {
            f"{prefix_of(version)}/"
            for (version, _), each in self._kinds.items()
            if not is_custom(each)
        }

    def target(self, path: str) -> Target | None:
        """Return what a path means; None when no kind is served there."""
        parts = path.strip("/").split("/")
        if parts[0] == "api" and len(parts) > _CORE_PARTS:
            return self._in(parts[1], parts[_CORE_PARTS:])
        if parts[0] == "apis" and len(parts) > _GROUP_PARTS:
            return self._in("/".join(parts[1:_GROUP_PARTS]), parts[_GROUP_PARTS:])
        return None

    def is_built_in(self, path: str) -> bool:
        """Tell whether a path lies in a group of the API server's own, served by other code."""
        return any(path.startswith(prefix) for prefix in self._built_in)

    def _in(self, api_version: str, parts: list[str]) -> Target | None:
        namespace: str | None = None
        if parts[0] == "namespaces" and len(parts) > _CORE_PARTS:
            inside = self._kinds.get((api_version, parts[2]))
            if inside is not None and inside.namespaced:
                namespace, parts = parts[1], parts[2:]
        resource = self._kinds.get((api_version, parts[0]))
        if resource is None or (namespace is None and resource.namespaced and len(parts) > 1):
            return None
        _, name, subresource = (*parts, "", "", "")[:3]
        return Target(resource, namespace, name, subresource)
