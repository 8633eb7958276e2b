"""The customize hook of NodePools: which objects come along with each sync of one.

Owns the three rules. They depend on the pool's name alone, because Metacontroller keeps the answer
per UID and generation for 20 minutes. Workload Pods are never related, and of the Nodes only those
that take part in a rotation: every change of a related object sends the whole set again. Source:
design/rotation.md section 2.
"""

from __future__ import annotations

import json

from hooks import names
from hooks.protocol.hook import parse_customize


def customize(body: bytes) -> bytes:
    """Answer one customize call, in the same bytes for the same pool.

    Raises ShapeError when the body names no parent.
    """
    pool = {names.NODEPOOL_LABEL: parse_customize(body)}
    answer = {
        "relatedResources": [
            {
                "apiVersion": f"{names.POLICY_GROUP}/{names.POLICY_VERSION}",
                "resource": "rotationpolicies",
            },
            {
                "apiVersion": "karpenter.sh/v1",
                "resource": "nodeclaims",
                "labelSelector": {"matchLabels": pool},
            },
            {
                "apiVersion": "v1",
                "resource": "nodes",
                "labelSelector": {
                    "matchLabels": pool,
                    "matchExpressions": [{"key": names.SURGE_FOR, "operator": "Exists"}],
                },
            },
        ]
    }
    return json.dumps(answer, separators=(",", ":")).encode()
