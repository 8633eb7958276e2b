"""The machines that Karpenter's KWOK provider can make: its own, and one with special resources.

Owns the one file that the provider is configured with. Source: karpenter v1.14.1,
kwok/cloudprovider/helpers.go (``INSTANCE_TYPES_FILE_PATH``).
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

SPECIAL = {
    "cpu": "7",
    "memory": "32Gi",
    "pods": "110",
    "example.com/widget": "2",
    "hugepages-2Mi": "1Gi",
}
"""7 CPUs, which no other type has: only a pool that asks for them gets it."""


def write_instance_types(shipped: Path, target: Path) -> Path:
    """Write the types of ``shipped`` and the special one, and return ``target``."""
    types: list[dict[str, Any]] = json.loads(shipped.read_text())
    like = next(one for one in types if one["resources"]["cpu"] == "8" and _is_usual(one))
    special = copy.deepcopy(like) | {"name": "special-7x-amd64-linux", "resources": SPECIAL}
    target.write_text(json.dumps([*types, special]))
    return target


def _is_usual(one: dict[str, Any]) -> bool:
    return (one["architecture"], one["operatingSystems"]) == ("amd64", ["linux"])
