"""What this server tells about itself: version, groups and kinds.

Owns the answers that kubectl and preflights read. Seen on: kube-apiserver v1.36.3 and
apimachinery v0.36.3 pkg/apis/meta/v1/types.go (APIResourceList).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.face.bodies import answer, text
from hooks.sandbox.face.targets import prefix_of
from hooks.sandbox.face.wire import Answer
from hooks.sandbox.objects import Obj, group_of

_VERBS: Final = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_STATUS_VERBS: Final = ["get", "patch", "update"]
_SHORT_NAMES: Final[Mapping[str, list[str]]] = MappingProxyType(
    {
        "pods": ["po"],
        "nodes": ["no"],
        "namespaces": ["ns"],
        "configmaps": ["cm"],
        "services": ["svc"],
        "serviceaccounts": ["sa"],
        "events": ["ev"],
        "resourcequotas": ["quota"],
        "deployments": ["deploy"],
        "replicasets": ["rs"],
        "statefulsets": ["sts"],
        "daemonsets": ["ds"],
        "poddisruptionbudgets": ["pdb"],
        "priorityclasses": ["pc"],
        "decoratorcontrollers": ["dec", "decorators"],
    }
)
_IN_ALL: Final = frozenset(
    {"pods", "services", "deployments", "replicasets", "statefulsets", "daemonsets"}
)
_VERSION: Final = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "linux/amd64",
}
_HEALTH: Final = frozenset({"/readyz", "/healthz", "/livez"})


class Discovery:
    """Answers about the kinds that are served, and the subresources beside ``status``."""

    def __init__(self, served: Iterable[Resource], doors: Iterable[tuple[str, str]]) -> None:
        versions: dict[str, list[Obj]] = {}
        for resource in served:
            own = [sub for plural, sub in doors if plural == resource.plural]
            versions.setdefault(resource.api_version, []).extend(_entries(resource, own))
        self._answers: dict[str, Answer] = {"/version": answer(_VERSION)}
        self._answers |= {path: text("ok") for path in _HEALTH}
        self._answers["/api"] = answer({"kind": "APIVersions", "versions": ["v1"]})
        self._answers["/apis"] = answer(_groups(versions))
        for version, entries in versions.items():
            self._answers[prefix_of(version)] = answer(_resource_list(version, entries))

    def find(self, path: str) -> Answer | None:
        """Return the answer for a path, if it is one of these."""
        return self._answers.get(path.rstrip("/"))


def _resource_list(version: str, entries: list[Obj]) -> Obj:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": version,
        "resources": entries,
    }


def _entries(resource: Resource, own: list[str]) -> list[Obj]:
    entry: Obj = {
        "name": resource.plural,
        "singularName": resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": _VERBS,
    }
    if resource.plural in _SHORT_NAMES:
        entry["shortNames"] = _SHORT_NAMES[resource.plural]
    if resource.plural in _IN_ALL:
        entry["categories"] = ["all"]
    below = {"singularName": "", "namespaced": resource.namespaced, "kind": resource.kind}
    entries = [entry]
    if resource.has_status:
        entries.append(below | {"name": f"{resource.plural}/status", "verbs": _STATUS_VERBS})
    for sub in own:
        door: Obj = below | {"name": f"{resource.plural}/{sub}", "verbs": ["create"]}
        if sub == "eviction":
            door |= {"group": "policy", "version": "v1", "kind": "Eviction"}
        entries.append(door)
    return entries


def _groups(versions: Mapping[str, object]) -> Obj:
    groups: list[Obj] = []
    for version in versions:
        if group_of(version):
            named = {"groupVersion": version, "version": version.rpartition("/")[2]}
            groups.append(
                {"name": group_of(version), "versions": [named], "preferredVersion": named}
            )
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
