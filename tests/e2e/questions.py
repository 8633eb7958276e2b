"""Questions about one moment of the world: who is marked, who is ready, what is left.

Owns the outside view of a rotation's objects; the names are spelt out here on purpose. Leaves to
:mod:`.rotations` what happened one after the other, and to :mod:`.checks` what has to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tests.e2e.api import Object
from tests.e2e.history import Objects
from tests.e2e.world import POOL_LABEL, is_ready

PREFIX = "noderotation.io/"
ANCHOR = f"{PREFIX}active-rotation"
SURGE_FOR = f"{PREFIX}surge-for"
CORDONED = f"{PREFIX}cordoned"
STATE = f"{PREFIX}state"
STAYS_ON_THE_POOL = frozenset(
    {
        f"{PREFIX}last-rotation-at",
        f"{PREFIX}last-failure-at",
        f"{PREFIX}due-before",
        f"{PREFIX}freeze",
    }
)
"""What an operator wrote, and what later gates need."""
World: TypeAlias = Mapping[str, Objects]


def annotation(thing: Object | None, key: str) -> str | None:
    """An annotation's value; None when it or the object isn't there."""
    found: str | None = (thing or {}).get("metadata", {}).get("annotations", {}).get(key)
    return found


def label(thing: Object, key: str) -> str | None:
    """A label's value; None when it isn't there."""
    found: str | None = thing["metadata"].get("labels", {}).get(key)
    return found


def is_leaving(thing: Object | None) -> bool:
    """Whether somebody has asked for its deletion."""
    return thing is not None and "deletionTimestamp" in thing["metadata"]


def of_pool(world: World, kind: str, pool: str) -> Iterator[Object]:
    """The pool's Nodes or NodeClaims."""
    return (thing for thing in world[kind].values() if label(thing, POOL_LABEL) == pool)


def placeholders(world: World, claim: str | None = None) -> Iterator[Object]:
    """The placeholders, of one claim or of all; also terminating ones."""
    for pod in world["Pod"].values():
        marked = annotation(pod, SURGE_FOR) or label(pod, SURGE_FOR)
        if marked and claim in {None, pod["metadata"]["name"].removeprefix("noderotation-surge-")}:
            yield pod


def missing_successor(world: World, pool: str, claim: str, node: str) -> str | None:
    """Why the candidate has no successor that is up; None when it has one."""
    pods = [pod for pod in placeholders(world, claim) if not is_leaving(pod)]
    if not pods:
        return "there is no placeholder"
    if pods[0].get("status", {}).get("phase") != "Running":
        return "the placeholder isn't Running"
    host = world["Node"].get(("", pods[0]["spec"].get("nodeName", "")))
    if host is None or host["metadata"]["name"] == node or label(host, POOL_LABEL) != pool:
        return "the placeholder is on no other node of the pool"
    if not is_ready(host):
        return "the placeholder's host isn't Ready"
    spec = host["spec"]
    disrupted = any(taint["key"] == "karpenter.sh/disrupted" for taint in spec.get("taints", ()))
    owners = [
        c for c in of_pool(world, "NodeClaim", pool) if node_of(c) == host["metadata"]["name"]
    ]
    if spec.get("unschedulable") or disrupted or any(map(is_leaving, owners)):
        return "the placeholder's host is on its way out"
    return None


def node_of(claim: Object) -> str:
    """The name of a NodeClaim's Node; empty before it has one."""
    name: str = claim.get("status", {}).get("nodeName", "")
    return name


def is_cordoned_for(node: Object, claim: str) -> bool:
    """Whether the Node is unschedulable, and says that we did it for this claim."""
    ours = annotation(node, CORDONED) == "true" and annotation(node, SURGE_FOR) == claim
    return ours and bool(node["spec"].get("unschedulable"))


def has_cordoned_node(world: World, node: str, claim: str) -> bool:
    """Whether the candidate's Node is there and cordoned by us."""
    found = world["Node"].get(("", node))
    return found is not None and is_cordoned_for(found, claim)


def marks(world: World, pool: str) -> list[str]:
    """What marks a rotation in flight on the NodePool and its Nodes."""
    found = [
        f"{mark} on NodePool {pool}"
        for mark in _marks_of(world["NodePool"].get(("", pool)), STAYS_ON_THE_POOL)
    ]
    for node in of_pool(world, "Node", pool):
        name = node["metadata"]["name"]
        found += [f"{mark} on Node {name}" for mark in _marks_of(node)]
        if annotation(node, "karpenter.sh/do-not-disrupt"):
            found.append(f"do-not-disrupt on Node {name}")
        if node["spec"].get("unschedulable") and not is_leaving(node):
            found.append(f"cordon on Node {name}")
    return found


def other_remains(world: World, pool: str) -> list[str]:
    """What is left on the NodeClaims, and the placeholders."""
    found = [
        f"{mark} on NodeClaim {claim['metadata']['name']}"
        for claim in of_pool(world, "NodeClaim", pool)
        for mark in _marks_of(claim)
    ]
    pods = placeholders(world)
    named = f"noderotation-surge-{pool}-"
    return found + [
        f"Pod {p['metadata']['name']}" for p in pods if p["metadata"]["name"].startswith(named)
    ]


def _marks_of(thing: Object | None, allowed: frozenset[str] = frozenset()) -> list[str]:
    metadata = (thing or {"metadata": {}})["metadata"]
    keys = {*metadata.get("annotations", {}), *metadata.get("labels", {})}
    return sorted(key for key in keys - allowed if key.startswith(PREFIX))


def covers(budget: Object, pod: Object) -> bool:
    """Whether the Pod is under the PodDisruptionBudget."""
    if budget["metadata"]["namespace"] != pod["metadata"]["namespace"]:
        return False
    wanted = budget["spec"]["selector"]["matchLabels"].items()
    return all(label(pod, key) == value for key, value in wanted)


def available(world: World, budget: Object) -> int:
    """How many Pods under the budget are Ready."""
    return sum(covers(budget, pod) and is_ready(pod) for pod in world["Pod"].values())
