"""How KWOK's Nodes and Pods live: the module's own stages, with delays that a Pod may ask for.

Owns the one file that KWOK is configured with. Source: design/cluster.md, "KWOK".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

TAKEN_OVER = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-delete.yaml",
)
READY_AFTER = "noderotation-e2e/ready-after"
"""Annotation of a Pod: a Go duration until it is Running and Ready (without it: at once)."""
READY_AFTER_A_RESTART = "noderotation-e2e/ready-after-a-restart"
"""The same for a Pod of a template that was restarted; it goes before the other."""
DIES_AFTER = "noderotation-e2e/dies-after"
"""Annotation of a Pod: a Go duration from its deletion until it is gone (without it: at once)."""
RESTARTED = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a Pod by which a template is restarted."""


def _annotation(key: str) -> str:
    return f'.metadata.annotations["{key}"]'


_READY = (
    f"if {_annotation(RESTARTED)}"
    f" then {_annotation(READY_AFTER_A_RESTART)} // {_annotation(READY_AFTER)}"
    f" else {_annotation(READY_AFTER)} end"
)
DELAYED_BY = {"pod-ready": _READY, "pod-delete": _annotation(DIES_AFTER)}
"""Name of a stage to the jq expression of its delay; null means at once."""


def write_stages(shipped: Path, target: Path) -> Path:
    """Write the stages taken over from ``shipped`` (KWOK's ``kustomize/stage``), and return ``target``."""
    stages: list[dict[str, Any]] = [
        yaml.safe_load((shipped / name).read_text()) for name in TAKEN_OVER
    ]
    for stage in stages:
        expression = DELAYED_BY.get(stage["metadata"]["name"])
        if expression:
            stage["spec"]["delay"] = {
                "durationMilliseconds": 0,
                "durationFrom": {"expressionFrom": expression},
            }
    target.write_text(yaml.safe_dump_all(stages))
    return target
