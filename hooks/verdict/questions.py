"""Questions about one moment of the world: who is marked, who is ready, what is left.

Owns the outside view of a rotation's objects; the names are spelt out here on purpose. Leaves to
:mod:`.rotations` what happened one after the other, and to :mod:`.checks` what has to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from hooks.verdict.history import Object, Objects

POOL_LABEL = "karpenter.sh/nodepool"
PREFIX = "noderotation.io/"
ANCHOR = f"{PREFIX}active-rotation"
SURGE_FOR = f"{PREFIX}surge-for"
CORDONED = f"{PREFIX}cordoned"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
DO_NOT_DISRUPT_OWNED = f"{PREFIX}do-not-disrupt-owned"
STATE = f"{PREFIX}state"
SURGE_CLAIM = f"{PREFIX}surge-claim"
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


def is_ready(thing: Object) -> bool:
    """Whether a Node or Pod has condition Ready and isn't being deleted."""
    conditions = thing.get("status", {}).get("conditions", ())
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in thing["metadata"]


def is_leaving(thing: Object | None) -> bool:
    """Whether somebody has asked for its deletion."""
    return thing is not None and "deletionTimestamp" in thing["metadata"]


def is_forbidden(node: Object) -> bool:
    """Whether an operator forbids to disrupt the Node: the mark of "true" that isn't marked as ours."""
    return (
        annotation(node, DO_NOT_DISRUPT) == "true"
        and annotation(node, DO_NOT_DISRUPT_OWNED) is None
    )


def of_pool(world: World, kind: str, pool: str) -> Iterator[Object]:
    """The pool's Nodes or NodeClaims."""
    return (thing for thing in world[kind].values() if label(thing, POOL_LABEL) == pool)


def policies_of(world: World, pool: Object) -> list[Object]:
    """The RotationPolicies that select a NodePool."""
    return [
        policy
        for policy in world["RotationPolicy"].values()
        if selects(policy["spec"].get("nodePoolSelector", {}), pool)
    ]


def placeholders(world: World, claim: str | None = None) -> Iterator[Object]:
    """The placeholders, of one claim or of all; also terminating ones."""
    for pod in world["Pod"].values():
        marked = annotation(pod, SURGE_FOR) or label(pod, SURGE_FOR)
        if marked and claim in {None, pod["metadata"]["name"].removeprefix("noderotation-surge-")}:
            yield pod


def host_of(world: World, claim: str) -> Object | None:
    """The Node on which the candidate's placeholder is; None while it is on none."""
    pods = [pod for pod in placeholders(world, claim) if not is_leaving(pod)]
    bound = (world["Node"].get(("", pod.get("spec", {}).get("nodeName", ""))) for pod in pods)
    return next((node for node in bound if node is not None), None)


def missing_successor(world: World, pool: str, claim: str, node: str) -> str | None:
    """Why the candidate has no successor that is up; None when it has one."""
    pods = [pod for pod in placeholders(world, claim) if not is_leaving(pod)]
    if not pods:
        return "there is no placeholder"
    if pods[0].get("status", {}).get("phase") != "Running":
        return "the placeholder isn't Running"
    host = host_of(world, claim)
    if host is None or host["metadata"]["name"] == node or label(host, POOL_LABEL) != pool:
        return "the placeholder is on no other node of the pool"
    if not is_ready(host):
        return "the placeholder's host isn't Ready"
    spec = host.get("spec", {})
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


def claim_of(world: World, node: str) -> str:
    """The name of the NodeClaim that a Node belongs to; the Node's own when there is none."""
    for claim in world["NodeClaim"].values():
        if node_of(claim) == node:
            name: str = claim["metadata"]["name"]
            return name
    return node


def is_cordoned_for(node: Object, claim: str, *, by_operator: bool = False) -> bool:
    """Whether the Node is unschedulable for this claim, and says that we did it.

    An operator's own cordon serves as well, and says nothing.
    """
    ours = annotation(node, SURGE_FOR) == claim
    told = by_operator or annotation(node, CORDONED) == "true"
    return ours and told and bool(node.get("spec", {}).get("unschedulable"))


def marks(world: World, pool: str, of_operators: Collection[str] = ()) -> list[str]:
    """What marks a rotation in flight on the NodePool and its Nodes, but for what operators set."""
    found = [
        f"{mark} on NodePool {pool}"
        for mark in _marks_of(world["NodePool"].get(("", pool)), STAYS_ON_THE_POOL)
    ]
    for node in of_pool(world, "Node", pool):
        name = node["metadata"]["name"]
        found += [f"{mark} on Node {name}" for mark in _marks_of(node)]
        if annotation(node, DO_NOT_DISRUPT):
            found.append(f"do-not-disrupt on Node {name}")
        if node.get("spec", {}).get("unschedulable") and not is_leaving(node):
            found.append(f"cordon on Node {name}")
    return [mark for mark in found if mark not in of_operators]


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


def selects(selector: Object, thing: Object) -> bool:
    """Whether a label selector, with matchLabels and matchExpressions, selects the object."""
    labels = thing["metadata"].get("labels", {})
    wanted = selector.get("matchLabels", {}).items()
    return all(labels.get(key) == value for key, value in wanted) and all(
        _holds(rule, labels) for rule in selector.get("matchExpressions", ())
    )


def _holds(rule: Object, labels: Mapping[str, str]) -> bool:
    value = labels.get(rule["key"])
    match rule["operator"]:
        case "In":
            return value in rule.get("values", ())
        case "NotIn":
            return value not in rule.get("values", ())
        case "Exists":
            return value is not None
        case _:
            return value is None
