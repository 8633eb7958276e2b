"""The manifests as their files have them: before kustomize, so that no test of them needs kubectl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
MANIFESTS = ROOT / "manifests"
SYSTEM = "node-rotation-system"
HOOKS = "noderotation-hooks"


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


def identity(thing: dict[str, Any]) -> tuple[str, str | None, str]:
    return thing["kind"], thing["metadata"].get("namespace"), thing["metadata"]["name"]


ALL = list(objects_of(MANIFESTS))
BY_IDENTITY = {identity(thing): thing for thing in ALL}


def the(kind: str, namespace: str | None, name: str) -> dict[str, Any]:
    return dict(BY_IDENTITY[kind, namespace, name])


def deployment() -> dict[str, Any]:
    return dict(the("Deployment", SYSTEM, HOOKS)["spec"])


def pod() -> dict[str, Any]:
    return dict(deployment()["template"]["spec"])


def container() -> dict[str, Any]:
    (only,) = pod()["containers"]
    return dict(only)


def environment() -> dict[str, Any]:
    return {
        entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container()["env"]
    }
