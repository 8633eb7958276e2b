"""The plot of a history: what happened to whom, in which order, without names and times.

Owns what of two histories of one scenario is compared, one from the embedded cluster and one from
the real control plane: for each object the order of the facts that came true of it, and for each
rotation the order of its milestones. Facts that come true in one write on one of them and in two on
the other are put in a fixed order, so that only a true difference of order shows. Source: issue 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from hooks.verdict.history import Change, Object, replay
from hooks.verdict.questions import (
    ANCHOR,
    CORDONED,
    POOL_LABEL,
    PREFIX,
    STATE,
    SURGE_FOR,
    annotation,
    is_leaving,
    label,
    node_of,
)
from hooks.verdict.rotations import Rotation, rotations
from tests.scenarios.accepted import UNTOLD, Comparable, comparable, in_fixed_order

Facts = tuple[tuple[str, Callable[[Object], object]], ...]
"""Names of facts, and whether each holds of an object, in the order of their usual coming true."""


def plot(changes: Sequence[Change], pool: str) -> dict[str, list[str]]:
    """Role to what happened to it: candidates, successors, placeholders, the pool, the milestones."""
    roles = _roles(changes, pool)
    told: dict[str, list[str]] = {"milestones": list(_milestones(changes, pool))}
    for moment in replay(changes):
        change = moment.change
        role = roles.get((change.kind, change.name))
        if role is None:
            continue
        track = told.setdefault(role, [])
        if moment.before is None:
            track.append("created")
        track += _news(change.kind, moment.before, change.object)
        if change.type == "DELETED":
            track.append("gone")
    return told


def pools(changes: Sequence[Change]) -> list[str]:
    """The pools of a history."""
    return sorted({change.name for change in changes if change.kind == "NodePool"})


@dataclass(frozen=True, slots=True)
class Compared:
    """Where two histories of one scenario differ, and whether they were compared to their ends."""

    differences: tuple[str, ...]
    in_full: bool


def compare(scenario: str, real: Sequence[Change], embedded: Sequence[Change]) -> Compared:
    """Compare two histories of one scenario; they must be of the same pools, and of one at least."""
    theirs, ours = pools(real), pools(embedded)
    if theirs != ours or not theirs:
        return Compared((f"the pools: {theirs} | {ours}",), in_full=True)
    found, in_full = list[str](), True
    for pool in theirs:
        whole, part = comparable(real, embedded, pool)
        differing = _differing(scenario, whole, pool)
        if differing and part is not None:
            in_full = False
            differing = _differing(scenario, part, pool)
        found += differing
    return Compared(tuple(found), in_full)


def differences(scenario: str, real: Sequence[Change], embedded: Sequence[Change]) -> list[str]:
    """Where two histories of one scenario differ; empty when they tell the same."""
    return list(compare(scenario, real, embedded).differences)


def _differing(scenario: str, both: Comparable, pool: str) -> list[str]:
    found = []
    one, other = plot(both.real, pool), plot(both.embedded, pool)
    for role in sorted(one.keys() | other.keys()):
        tracks = [told.get(role, []) for told in (one, other)]
        left, right = map(in_fixed_order, tracks)
        if left != right and (scenario, role) not in UNTOLD:
            shown = " | ".join(", ".join(track) or "nothing" for track in tracks)
            found.append(f"{pool}: {role}: {shown}")
    return found


def _condition(kind: str, status: str = "True") -> Callable[[Object], bool]:
    def holds(thing: Object) -> bool:
        conditions = thing.get("status", {}).get("conditions") or ()
        return any(one["type"] == kind and one["status"] == status for one in conditions)

    return holds


def _state(state: str) -> Callable[[Object], bool]:
    return lambda thing: annotation(thing, STATE) == state


def _tainted(thing: Object) -> bool:
    taints = thing["spec"].get("taints") or ()
    return any(taint["key"] == "karpenter.sh/disrupted" for taint in taints)


FACTS: Mapping[str, Facts] = {
    "NodePool": (
        ("anchored", lambda pool: annotation(pool, ANCHOR)),
        ("fallback", lambda pool: annotation(pool, f"{PREFIX}rotation-mode")),
        ("mirrored", lambda pool: annotation(pool, f"{PREFIX}active-rotation-state")),
        ("rotated", lambda pool: annotation(pool, f"{PREFIX}last-rotation-at")),
        ("has failed", lambda pool: annotation(pool, f"{PREFIX}last-failure-at")),
        ("leaving", is_leaving),
    ),
    "NodeClaim": (
        ("launched", _condition("Launched")),
        ("registered", _condition("Registered")),
        ("initialized", _condition("Initialized")),
        ("pending", _state("pending")),
        ("failed", _state("failed")),
        ("draining", _state("draining")),
        ("expired", _state("expired")),
        ("leaving", is_leaving),
        ("drained", _condition("Drained")),
        ("instance terminating", _condition("InstanceTerminating")),
    ),
    "Node": (
        ("ready", _condition("Ready")),
        ("marked", lambda node: label(node, SURGE_FOR)),
        ("cordoned", lambda node: annotation(node, CORDONED)),
        ("unschedulable", lambda node: node["spec"].get("unschedulable")),
        ("leaving", is_leaving),
        ("disrupted", _tainted),
    ),
    "Pod": (
        ("unschedulable", _condition("PodScheduled", "False")),
        ("bound", lambda pod: pod["spec"].get("nodeName")),
        ("running", lambda pod: pod.get("status", {}).get("phase") == "Running"),
        ("failed", lambda pod: pod.get("status", {}).get("phase") == "Failed"),
        ("leaving", is_leaving),
    ),
}
"""What is told of each kind."""


def _news(kind: str, before: Object | None, after: Object) -> Iterator[str]:
    for name, holds in FACTS[kind]:
        was, now = before is not None and bool(holds(before)), bool(holds(after))
        if now and not was:
            yield name
        elif was and not now:
            yield f"no longer {name}"


def _roles(changes: Sequence[Change], pool: str) -> dict[tuple[str, str], str]:
    """(kind, name) to role. Claims that no rotation touches have none."""
    found = rotations(changes, pool)
    candidates = list(dict.fromkeys(one.claim for one in found))
    start = found[0].anchored.revision if found else 0
    claims = _claims(changes, pool)
    later = [name for name, first in claims.items() if first.revision > start]
    registered = {
        change.name
        for change in changes
        if change.kind == "NodeClaim" and _condition("Registered")(change.object)
    }
    kinds = {
        "candidate": candidates,
        "successor": [name for name in later if name in registered],
        "unregistered": [name for name in later if name not in registered],
    }
    roles = {("NodePool", pool): "pool"}
    numbered = chain.from_iterable(
        ((name, f"{kind} {number}") for number, name in enumerate(names, 1))
        for kind, names in kinds.items()
    )
    for name, role in numbered:
        roles["NodeClaim", name] = roles.get(("NodeClaim", name), f"{role}: claim")
        node = next((node_of(c.object) for c in changes if _is(c, "NodeClaim", name)
                     and node_of(c.object)), "")  # fmt: skip
        if node:
            roles["Node", node] = roles.get(("Node", node), f"{role}: node")
        roles["Pod", f"noderotation-surge-{name}"] = f"{role}: placeholder"
    return roles


def _claims(changes: Sequence[Change], pool: str) -> dict[str, Change]:
    """The pool's claims with their first changes, in the order of their coming."""
    first: dict[str, Change] = {}
    for change in sorted(changes, key=lambda one: one.revision):
        if change.kind == "NodeClaim" and label(change.object, POOL_LABEL) == pool:
            first.setdefault(change.name, change)
    return first


def _is(change: Change, kind: str, name: str) -> bool:
    return change.kind == kind and change.name == name


def _milestones(changes: Sequence[Change], pool: str) -> Iterator[str]:
    """Each rotation's steps in the order in which they came."""
    found = rotations(changes, pool)
    for number, one in enumerate(found, 1):
        steps = {
            "anchored": one.anchored,
            "cordoned": one.cordoned,
            "placeholder": one.placeholder,
            "successor ready": one.ready,
            "deleted": one.deleted,
            "gone": one.gone,
            "cleared": one.cleared,
        }
        seen = [(change.revision, name) for name, change in steps.items() if change is not None]
        seen += _drain(changes, one)
        yield from (f"{number} {name}" for _, name in sorted(seen))


def _drain(changes: Sequence[Change], rotation: Rotation) -> Iterator[tuple[int, str]]:
    """What becomes of the Pods that were on the candidate's Node when its claim was deleted."""
    if rotation.deleted is None:
        return
    begun = rotation.deleted.revision
    gone_before = {
        _identity(one) for one in changes if one.type == "DELETED" and one.revision < begun
    }
    for moment in replay(changes):
        change = moment.change
        if _identity(change) in gone_before:
            continue
        role = label(change.object, "kind") if change.kind == "Pod" else None
        if role is None or change.object["spec"].get("nodeName") != rotation.node:
            continue
        what = "daemon" if role == "daemon" else "work"
        if is_leaving(change.object) and not is_leaving(moment.before):
            yield max(begun, change.revision), f"{what} sent away"
        if change.type == "DELETED":
            yield change.revision, f"{what} gone"


def _identity(change: Change) -> tuple[str, str, str]:
    return (change.kind, change.name, change.object["metadata"].get("uid", ""))
