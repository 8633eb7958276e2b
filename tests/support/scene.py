"""One rotation of the claim ``old``, stage by stage, as worlds to start a case from.

Each stage is what the cluster holds after the passes before it, by design/rotation.md; every
function gives a fresh world. Times: the attempt began at STARTED, the mirror was set at MIRRORED.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hooks import names
from tests.support.world import (
    YOUNG,
    Json,
    World,
    node,
    nodeclaim,
    nodepool,
    placeholder,
    policy,
    uid_of,
    workload,
)

STARTED = "2026-11-29T19:58:00Z"
BROUGHT = "2026-11-29T19:58:10Z"
MIRRORED = "2026-11-29T19:59:00Z"
DELETED = "2026-11-29T19:59:10Z"
ANCHOR = {"active-rotation": "old", "active-rotation-uid": uid_of("old")}
MIRROR = {"active-rotation-state": "draining", "draining-at": MIRRORED}
SURGE_MIRROR = MIRROR | {"surge-wait": "1m0s"}
PENDING = {"state": "pending", "started-at": STARTED}
INDUCED = PENDING | {"surge-claim": "new"}
DRAINING = INDUCED | {"state": "draining"}
FALLBACK = ANCHOR | MIRROR | {"rotation-mode": "forceful-fallback"}
LATE = "2026-11-15T20:05:00Z"
"""Created then, a claim's deadline is five minutes away: less than t_rot."""
FAILED_AT = "2026-11-29T19:00:00Z"
FAILED = {"state": "failed", "failed-at": FAILED_AT, "retry-count": "1"}


def idle(**spec: Any) -> World:
    """No rotation: ``old`` is due, ``young`` is not; ``spec`` goes to the policy."""
    return World(
        policies=[policy(**spec)],
        claims=[nodeclaim("old"), nodeclaim("young", created=YOUNG)],
        nodes=[node("old"), node("young", created=YOUNG)],
        pods=[workload("web-1", "old"), daemon("old")],
    )


def daemon(on: str) -> Json:
    """A Pod of a DaemonSet on the Node of claim ``on``."""
    return workload(f"agent-{on}", on, "100m", "128Mi", kind="DaemonSet", name="agent")


def anchored(**spec: Any) -> World:
    """After row 1: the anchor, and nothing else."""
    world = idle(**spec)
    world.pool = nodepool(ANCHOR)
    return world


def pending(**spec: Any) -> World:
    """After the first row 3: the claim pending, its Node frozen and cordoned, no placeholder yet."""
    world = anchored(**spec)
    world.claims[0] = nodeclaim("old", PENDING)
    world.nodes[0] = node("old", frozen_for="old", cordoned=True)
    return world


def listed(**spec: Any) -> World:
    """The placeholder is there and waits for a node."""
    world = pending(**spec)
    world.pods.append(placeholder("old"))
    return world


def bound(phase: str = "Pending", **spec: Any) -> World:
    """Karpenter has brought ``new``, and the placeholder is bound to its Node."""
    world = pending(**spec)
    world.claims.append(nodeclaim("new", created=BROUGHT))
    world.nodes.append(node("new", created=BROUGHT))
    world.pods += [placeholder("old", phase, "new"), daemon("new")]
    return world


def running(**spec: Any) -> World:
    """The placeholder runs; row 3 has written surge-claim and frozen the host."""
    world = bound("Running", **spec)
    world.claims[0] = nodeclaim("old", INDUCED)
    world.nodes[2] = node("new", frozen_for="old", created=BROUGHT)
    return world


def mirrored(**spec: Any) -> World:
    """After row 4."""
    world = running(**spec)
    world.pool = nodepool(ANCHOR | SURGE_MIRROR)
    return world


def draining(**spec: Any) -> World:
    """Between the two writes of row 5: the claim says draining, and isn't deleted."""
    world = mirrored(**spec)
    world.claims[0] = nodeclaim("old", DRAINING)
    return world


def deleted(**spec: Any) -> World:
    """After row 5: Karpenter drains the candidate; the placeholder is gone."""
    world = draining(**spec)
    world.claims[0] = nodeclaim("old", DRAINING, deleted=DELETED)
    world.pods = [pod for pod in world.pods if pod["metadata"]["namespace"] != names.NAMESPACE]
    return world


def gone(**spec: Any) -> World:
    """The candidate and its Node are gone; the host is still frozen."""
    world = deleted(**spec)
    del world.claims[0]
    del world.nodes[0]
    world.pods = [pod for pod in world.pods if pod["spec"].get("nodeName") != "node-old"]
    return world


def fallback(state: str | None = None, **spec: Any) -> World:
    """After row 2, the claim in the given state."""
    world = idle(**{"forcefulFallback": {"enabled": True}} | spec)
    world.pool = nodepool(FALLBACK)
    marks = {"state": state} if state is not None else {}
    world.claims[0] = nodeclaim("old", marks, created=LATE)
    world.nodes[0] = node("old", created=LATE)
    return world


def failed(**spec: Any) -> World:
    """A failed claim, anchored again: its backoff of 30m is over."""
    world = anchored(**spec)
    world.claims[0] = nodeclaim("old", FAILED)
    return world


def without_pods(world: World) -> World:
    """The same with no placeholder."""
    world.pods = [pod for pod in world.pods if pod["metadata"]["namespace"] != names.NAMESPACE]
    return world


def surge_pod(world: World) -> Json:
    """The placeholder of a world."""
    return next(pod for pod in world.pods if pod["metadata"]["namespace"] == names.NAMESPACE)


def mark(thing: Json, **marks: str | None) -> Json:
    """Sets (or with None removes) annotations of ours; underscores stand for hyphens."""
    notes = thing["metadata"].setdefault("annotations", {})
    for key, value in marks.items():
        full = names.PREFIX + key.replace("_", "-")
        if value is None:
            notes.pop(full, None)
        else:
            notes[full] = value
    return thing


def delete(thing: Json, at: str = DELETED) -> Json:
    """Marks an object as being deleted."""
    thing["metadata"]["deletionTimestamp"] = at
    return thing


def where(world: World, *changes: Callable[[World], object]) -> World:
    """The world after some changes to it."""
    for change in changes:
        change(world)
    return world


def later(world: World, *changes: Callable[[World], object]) -> World:
    """A copy of the world after some changes: what is so by now, when the request is older."""
    return where(world.copy(), *changes)


def pool(**marks: str | None) -> Callable[[World], object]:
    """A change of the pool's annotations."""
    return lambda world: mark(world.pool, **marks)


def old(**marks: str | None) -> Callable[[World], object]:
    """A change of the annotations of claim ``old``."""
    return lambda world: mark(named(world.claims, "old"), **marks)


def named(things: list[Json], name: str) -> Json:
    """The object of that name."""
    return next(thing for thing in things if thing["metadata"]["name"] == name)


def drop(things: list[Json], name: str) -> None:
    """Takes an object out of a list."""
    things.remove(named(things, name))
