"""The manifests as their files have them: before kustomize, so that no test of them needs kubectl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
MANIFESTS = ROOT / "manifests"
OVERLAYS = MANIFESTS / "overlays"
DRAIN_OVERLAYS = (OVERLAYS / "drain-cert-manager", OVERLAYS / "drain-own-certificates")
SYSTEM = "node-rotation-system"
HOOKS = "noderotation-hooks"
EVICTION = "noderotation-eviction"

Identity = tuple[str, str | None, str]


def kustomization(folder: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((folder / "kustomization.yaml").read_text()))


def objects_of(folder: Path) -> Iterator[dict[str, Any]]:
    """All objects that a kustomization brings, as its files have them (before any transformer)."""
    for name in kustomization(folder)["resources"]:
        path = (folder / name).resolve()
        if path.is_dir():
            yield from objects_of(path)
        else:
            yield from yaml.safe_load_all(path.read_text())


def identity(thing: dict[str, Any]) -> Identity:
    return thing["kind"], thing["metadata"].get("namespace"), thing["metadata"]["name"]


ALL = list(objects_of(MANIFESTS))
DRAIN = list(objects_of(MANIFESTS / "drain"))
BY_IDENTITY = {identity(thing): thing for thing in (*ALL, *DRAIN)}


def the(kind: str, namespace: str | None, name: str) -> dict[str, Any]:
    return dict(BY_IDENTITY[kind, namespace, name])


def deployment(name: str = HOOKS) -> dict[str, Any]:
    return dict(the("Deployment", SYSTEM, name)["spec"])


def pod(name: str = HOOKS) -> dict[str, Any]:
    return dict(deployment(name)["template"]["spec"])


def container(name: str = HOOKS) -> dict[str, Any]:
    (only,) = pod(name)["containers"]
    return dict(only)


def environment(name: str = HOOKS) -> dict[str, Any]:
    """Each variable's value, or where it is from."""
    return {
        entry["name"]: entry.get("value", entry.get("valueFrom"))
        for entry in container(name)["env"]
    }


def rights(things: Iterable[dict[str, Any]]) -> dict[tuple[str, str, str, str], list[str]]:
    """All rules of all roles: (namespace or "cluster", role, API group, resource) -> verbs."""
    return {
        (
            thing["metadata"].get("namespace", "cluster"),
            thing["metadata"]["name"],
            group,
            resource,
        ): rule["verbs"]
        for thing in things
        if thing["kind"] in {"ClusterRole", "Role"}
        for rule in thing["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def who_uses(folder: str) -> list[str]:
    """The line before each rule of a folder's rbac.yaml."""
    lines = (MANIFESTS / folder / "rbac.yaml").read_text().splitlines()
    return [lines[at - 1].strip() for at, line in enumerate(lines) if "- apiGroups:" in line]
