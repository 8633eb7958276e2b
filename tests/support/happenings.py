"""What can happen on a journey, and what there is to wait for before it does.

Each is a condition of the cluster, or a change of it. Leaves their order to
:mod:`tests.support.journeys`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from hooks import names
from tests.support.live import CLAIM, NODE, POD, Json
from tests.support.metamodel import PREFIX
from tests.support.mishaps import Fault, Happening, Run, Strike
from tests.support.stage import UPDATE, Stage
from tests.support.surroundings import vanish
from tests.support.world import node, placeholder, policy

OURS: Final = PREFIX + names.PLACEHOLDER_PREFIX + "old"

# --- What there is to wait for. ---


def has(key: str) -> Callable[[Stage], bool]:
    """The pool carries an annotation."""
    return lambda stage: key in stage.notes()


def lacks(key: str) -> Callable[[Stage], bool]:
    """The pool doesn't carry an annotation."""
    return lambda stage: key not in stage.notes()


def state(wanted: str | None, *, deleting: bool = False) -> Callable[[Stage], bool]:
    """The claim ``old`` is in a state."""

    def holds(stage: Stage) -> bool:
        claim = stage.objects[CLAIM].get("old")
        if claim is None or ("deletionTimestamp" in claim["metadata"]) is not deleting:
            return False
        return stage.notes(claim).get(names.STATE) == wanted

    return holds


def both(*conditions: Callable[[Stage], bool]) -> Callable[[Stage], bool]:
    """All of them hold."""
    return lambda stage: all(condition(stage) for condition in conditions)


def pod(phase: str) -> Callable[[Stage], bool]:
    """The placeholder is there in a phase."""

    def holds(stage: Stage) -> bool:
        found = stage.objects[POD].get(OURS)
        return found is not None and found["status"]["phase"] == phase

    return holds


def noted(stage: Stage) -> bool:
    """The claim ``old`` knows its surge-claim."""
    claim = stage.objects[CLAIM].get("old")
    return claim is not None and names.SURGE_CLAIM in stage.notes(claim)


def always(_stage: Stage) -> bool:
    """At once."""
    return True


def bound(stage: Stage) -> bool:
    """The placeholder has a Node, and doesn't run yet."""
    found = stage.objects[POD].get(OURS)
    return found is not None and "nodeName" in found["spec"] and pod("Pending")(stage)


def listed(stage: Stage) -> bool:
    """The placeholder is there, and has no Node yet."""
    found = stage.objects[POD].get(OURS)
    return found is not None and "nodeName" not in found["spec"]


def announced(reason: str) -> Callable[[Stage], bool]:
    """An Event of that reason is there."""
    return lambda stage: any(event["reason"] == reason for event in stage.events.values())


MIRRORED = has(names.ACTIVE_ROTATION_STATE)
ANCHORED = has(names.ACTIVE_ROTATION)
OVER = lacks(names.ACTIVE_ROTATION)
DRAINING = state("draining")
GOING = state("draining", deleting=True)
READY = both(MIRRORED, state("pending"))
"""The mirror is set, the drain hasn't begun."""
STEPPED_BACK = both(ANCHORED, lacks(names.ACTIVE_ROTATION_STATE), state("pending"))
FAILED = both(OVER, state("failed"))
FELL_BACK = both(MIRRORED, state(None))

# --- What happens. ---


def freeze(run: Run) -> None:
    _set(run, names.FREEZE, "2026-11-30T20:00:00Z")


def thaw(run: Run) -> None:
    _set(run, names.FREEZE, None)


def abort(run: Run) -> None:
    _set(run, names.ABORT, "old")


def unabort(run: Run) -> None:
    _set(run, names.ABORT, None)


def unmirror(run: Run) -> None:
    _set(run, names.ACTIVE_ROTATION_STATE, None)


def unanchor(run: Run) -> None:
    _set(run, names.ACTIVE_ROTATION, None)


def _set(run: Run, key: str, value: str | None) -> None:
    notes = run.cluster.notes()
    if value is None:
        notes.pop(key, None)
    else:
        notes[key] = value
    run.cluster.touch(run.cluster.pool)


def delete_pool(run: Run) -> None:
    run.cluster.pool["metadata"]["deletionTimestamp"] = run.cluster.now
    run.cluster.touch(run.cluster.pool)


def delete_policy(run: Run) -> None:
    run.cluster.policies.clear()


def restore_policy(run: Run) -> None:
    run.cluster.policies["api"] = policy(forcefulFallback={"enabled": True})


def suspend(run: Run) -> None:
    run.cluster.policies["api"] = policy(suspend=True)


def expire(run: Run) -> None:
    """Karpenter deletes the candidate."""
    claim = run.cluster.objects[CLAIM]["old"]
    claim["metadata"].setdefault("deletionTimestamp", run.cluster.now)
    run.cluster.touch(claim)


def lose(run: Run) -> None:
    """The candidate is gone from one moment to the next; its Pods are made anew elsewhere."""
    run.around.move("node-old")
    vanish(run.cluster, "old")


def preempt(run: Run) -> None:
    """The placeholder is gone, and its host has been taken by others."""
    run.cluster.objects[POD].pop(OURS, None)


def _host(run: Run) -> Json | None:
    """The Node under the placeholder, if there is one that stays."""
    found = run.cluster.objects[POD].get(OURS)
    if found is None or "deletionTimestamp" in found["metadata"]:
        return None
    return run.cluster.objects[NODE].get(found["spec"].get("nodeName", ""))


def disrupt(run: Run) -> None:
    """Karpenter is about to take the placeholder's host away."""
    host = _host(run)
    if host is not None:
        host["spec"]["taints"] = [{"key": names.DISRUPTED_TAINT, "effect": "NoSchedule"}]
        run.cluster.touch(host)


def flap(run: Run) -> None:
    """The placeholder's host becomes unready, or ready again."""
    host = _host(run)
    if host is not None:
        ready = next(c for c in host["status"]["conditions"] if c["type"] == "Ready")
        ready["status"] = "False" if ready["status"] == "True" else "True"
        run.cluster.touch(host)


def unmark_host(run: Run) -> None:
    """Somebody takes our marks off the placeholder's host."""
    host = _host(run)
    if host is not None:
        for key in (names.SURGE_FOR, names.DO_NOT_DISRUPT, names.DO_NOT_DISRUPT_OWNED):
            run.cluster.notes(host).pop(key, None)
        host["metadata"]["labels"].pop(names.SURGE_FOR, None)
        run.cluster.touch(host)


def mark_late(run: Run) -> None:
    """An overlapping pass of before still froze a Node."""
    frozen = node("young", frozen_for="old")
    run.cluster.touch(frozen)
    run.cluster.objects[NODE]["node-young"] = frozen


def place_late(run: Run) -> None:
    """An overlapping answer of before still created the placeholder (the race of row 11)."""
    made = placeholder("old")
    run.cluster.touch(made)
    run.cluster.objects[POD][OURS] = made


def wait(minutes: int) -> Callable[[Run], None]:
    """Nobody looks for some minutes."""

    def passes(run: Run) -> None:
        moment = datetime.fromisoformat(run.cluster.now) + timedelta(minutes=minutes)
        run.cluster.now = moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    return passes


def unplaced(run: Run) -> None:
    """The scheduler says that the placeholder has no room."""
    found = run.cluster.objects[POD][OURS]
    found["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "message": "no room"}
    ]
    run.cluster.touch(found)


def deny(run: Run) -> None:
    """A quota keeps the placeholder out."""
    run.cluster.denies = True


def garble(run: Run) -> None:
    """Somebody writes what nobody can read."""
    _set(run, names.FREEZE, "until noon")


def tie(run: Run) -> None:
    """A second policy claims the pool, and neither is the more specific one."""
    run.cluster.policies["twin"] = policy("twin")


def brings(*, wanted: bool) -> Callable[[Run], None]:
    """Karpenter brings nodes, or finds none."""

    def change(run: Run) -> None:
        run.around.brings = wanted

    return change


def drains(*, wanted: bool) -> Callable[[Run], None]:
    """A budget blocks the drain, or no longer."""

    def change(run: Run) -> None:
        run.around.drains = wanted

    return change


def gets_ready(run: Run) -> None:
    """From now on new Nodes become ready."""
    run.around.ready = True


def on(when: Callable[[Stage], bool], *what: Callable[[Run], None]) -> tuple[Happening, ...]:
    """All of it at once, when that holds."""
    return tuple(Happening(step.__name__, when, step) for step in what)


def lost_when(when: Callable[[Stage], bool]) -> Strike:
    """The answer of a pass is lost, or its update conflicts."""
    return Strike(UPDATE, Fault.DIES_BEFORE, when)
