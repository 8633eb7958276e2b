"""A little history of three old nodes, one of which is replaced: what the demo's screens show.

Owns the changes; the clock begins half a minute before the window of Saturday night.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hooks.planning.demo import world
from hooks.verdict.history import Change, Object
from tests.verdict.tales import Tale, condition

BEGIN = world.WINDOWS[0].start - timedelta(seconds=30)
PREFIX = "noderotation.io/"
OLD = ("shop-aaaaa", "shop-bbbbb", "shop-ccccc")
NEW = "shop-ddddd"
PLACEHOLDER = "noderotation-surge-shop-aaaaa"


def rotation() -> list[Change]:
    """From three nodes until the first one is replaced, ten seconds from one change to the next."""
    tale = Tale()
    _until_the_delete(tale)
    tale.gone("Pod", PLACEHOLDER)
    pod(tale, "web-1", f"kwok-{OLD[0]}")
    tale.leave("Pod", "web-1")
    tale.gone("Pod", "web-1")
    pod(tale, "web-2", f"kwok-{NEW}")
    tale.gone("Node", f"kwok-{OLD[0]}")
    tale.gone("NodeClaim", OLD[0])
    tale.annotate("NodePool", world.POOL, active_rotation=None, last_rotation_at="now")
    return slowly(tale)


def blocked_drain() -> list[Change]:
    """The same until the first one should drain, which a budget forbids."""
    tale = Tale()
    metadata = {"namespace": world.NAMESPACE}
    spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}}
    tale.put("PodDisruptionBudget", "web", metadata=metadata, spec=spec)
    pod(tale, "web-1", f"kwok-{OLD[0]}")
    _until_the_delete(tale)
    return slowly(tale)


def served() -> list[Change]:
    """A singleton behind its Service whose Pod is replaced, once well and once with a gap."""
    tale = Tale()
    tale.put("RotationPolicy", "nightly", spec={"nodePoolSelector": {}})
    metadata = {"namespace": world.NAMESPACE}
    tale.put("Deployment", "till", metadata=metadata)
    endpoints(tale)
    endpoints(tale, "till-1")
    tracked = {f"graceful-drain.stonal.com/{key}": "now" for key in ("restarted-at", "rolled-for")}
    tale.put("Deployment", "till", metadata={"annotations": tracked})
    endpoints(tale, "till-1", "till-2")
    tracked.pop("graceful-drain.stonal.com/restarted-at")
    tale.put("Deployment", "till", metadata={"annotations": tracked})
    endpoints(tale, "till-2")
    endpoints(tale)
    endpoints(tale, "till-3")
    return slowly(tale)


def endpoints(tale: Tale, *pods: str) -> None:
    """The Ready Pods of the Service till."""
    metadata = {
        "namespace": world.NAMESPACE,
        "labels": {"kubernetes.io/service-name": "till"},
    }
    each: Any = [{"conditions": {"ready": True}, "targetRef": {"name": name}} for name in pods]
    tale.put("EndpointSlice", "till-x", metadata=metadata, endpoints=each)


def slowly(tale: Tale) -> list[Change]:
    """The changes of a tale, ten seconds from one to the next."""
    return [
        Change(change.revision * 10.0, change.revision, change.kind, change.type, change.object)
        for change in tale.changes
    ]


def _until_the_delete(tale: Tale) -> None:
    tale.put("NodePool", world.POOL)
    for hours, claim in enumerate(OLD):
        created = world.BEGIN + timedelta(hours=hours)
        machine(tale, claim, f"{created:%Y-%m-%dT%H:%M:%SZ}")
    protected = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}
    tale.put("Node", f"kwok-{OLD[2]}", metadata=protected)
    tale.annotate("NodePool", world.POOL, active_rotation=OLD[0])
    tale.annotate("NodeClaim", OLD[0], state="pending")
    tale.put("Node", f"kwok-{OLD[0]}", spec={"unschedulable": True})
    tale.annotate("Node", f"kwok-{OLD[0]}", surge_for=OLD[0], cordoned="true")
    surge = {"namespace": "node-rotation-system", "labels": {f"{PREFIX}surge-for": OLD[0]}}
    tale.put("Pod", PLACEHOLDER, metadata=surge, status={"phase": "Pending"})
    machine(tale, NEW, "2026-06-06T01:01:40Z")
    tale.put("Pod", PLACEHOLDER, spec={"nodeName": f"kwok-{NEW}"}, status={"phase": "Running"})
    tale.annotate("NodePool", world.POOL, active_rotation_state="draining")
    tale.annotate("NodeClaim", OLD[0], state="draining")
    tale.leave("NodeClaim", OLD[0])


def machine(tale: Tale, claim: str, created: str) -> None:
    """A NodeClaim and its Ready Node."""
    labels = {"karpenter.sh/nodepool": world.POOL, "topology.kubernetes.io/zone": "test-zone-b"}
    metadata = {"labels": labels, "creationTimestamp": created}
    spec: Object = {"expireAfter": "480h"}
    tale.put("NodeClaim", claim, metadata=metadata, spec=spec)
    tale.put("NodeClaim", claim, status={"nodeName": f"kwok-{claim}"})
    tale.put("Node", f"kwok-{claim}", metadata={"labels": labels}, status=condition("Ready"))


def pod(tale: Tale, name: str, node: str) -> None:
    """A Ready Pod of the shop."""
    metadata = {"namespace": world.NAMESPACE, "labels": {"app": "web"}}
    tale.put("Pod", name, metadata=metadata, spec={"nodeName": node}, status=condition("Ready"))
