"""Writes kubeconfigs for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def kubeconfig(
    folder: Path,
    url: str,
    user: Mapping[str, Any],
    *,
    name: str = "config",
    cluster: Mapping[str, Any] | None = None,
) -> str:
    """Write one with a single context ``test``, and give its path."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "clusters": [{"name": "test", "cluster": {"server": url, **(cluster or {})}}],
        "users": [{"name": "test", "user": dict(user)}],
    }
    path = folder / name
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return str(path)
