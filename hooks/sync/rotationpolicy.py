"""The sync hook of RotationPolicies: what is seen becomes a status, and nothing else.

Owns how a status is written. It has no children, no writes of its own and no live reads; the status
that Metacontroller writes brings one more call, whose answer is the same. What can't be known is
left out: a null would be dropped by the API server, and differ from what is stored for ever.
Source: seed 000 section 5.4, design/product.md *Beyond the seeds*, design/cluster.md.
"""

from __future__ import annotations

import json
from datetime import datetime

from hooks.protocol.metadata import READY
from hooks.protocol.policy_calls import parse_policy_sync
from hooks.rotation.durations import format_go, format_stamp
from hooks.rotation.status import PolicyStatus, PoolStatus, status_of
from hooks.sync.nodepool import seconds


def sync(body: bytes, now: datetime) -> bytes:
    """Answer one sync request at ``now``, aware; raises ShapeError for a body of the wrong shape."""
    request = parse_policy_sync(body)
    return render(status_of(request.policy, request.policies, request.pools, request.shown, now))


def render(status: PolicyStatus) -> bytes:
    """The answer's bytes: the same status gives the same bytes."""
    answer: dict[str, object] = {
        "status": _known(
            observedGeneration=status.generation,
            matchedNodePools=status.matched,
            rotatingNodePools=status.rotating,
            windowOpen=status.window_open,
            nextWindow=_stamp(status.next_window),
            pools=[_pool(pool) for pool in status.pools],
            conditions=[
                {
                    "type": READY,
                    "status": status.ready.status,
                    "reason": status.ready.reason.value,
                    "message": status.ready.message,
                    "lastTransitionTime": format_stamp(status.ready.since),
                }
            ],
        ),
        "children": [],
        "resyncAfterSeconds": seconds(status.look_again),
    }
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()


def _pool(pool: PoolStatus) -> dict[str, object]:
    return _known(
        name=pool.name,
        phase=pool.phase.value,
        nodeClaim=pool.node_claim,
        ageThreshold=None if pool.age_threshold is None else format_go(pool.age_threshold),
        capacity=pool.capacity,
        lastRotationAt=_stamp(pool.last_rotation_at),
        findings=list(pool.findings) or None,
    )


def _stamp(at: datetime | None) -> str | None:
    return None if at is None else format_stamp(at)


def _known(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
