"""The journeys: beginnings and happenings that together take every row of the pass table.

Each is a rotation with the trouble that leads to some row, and goes on to rest. Where a row mends
what an overlapping pass of before left, the happening is named so.
"""

from __future__ import annotations

from typing import Final

from hooks import names
from hooks.rotation.reasons import Reason
from tests.support import scene
from tests.support.happenings import (
    ANCHORED,
    DRAINING,
    FAILED,
    FELL_BACK,
    GOING,
    MIRRORED,
    OVER,
    READY,
    STEPPED_BACK,
    abort,
    announced,
    bound,
    brings,
    delete_policy,
    delete_pool,
    deny,
    disrupt,
    drains,
    expire,
    flap,
    freeze,
    garble,
    has,
    listed,
    lose,
    lost_when,
    mark_late,
    on,
    place_late,
    preempt,
    restore_policy,
    state,
    suspend,
    thaw,
    tie,
    unabort,
    unanchor,
    unmark_host,
    unmirror,
    unplaced,
    wait,
)
from tests.support.mishaps import EVENT, Fault, Journey, Strike
from tests.support.stage import CLIENT, REMOVE
from tests.support.world import World, node, nodeclaim, workload

FALLBACK: Final = {"forcefulFallback": {"enabled": True}}

# --- Beginnings. ---


def late() -> World:
    """A fallback applies to the candidate."""
    world = scene.idle(**FALLBACK)
    world.claims[0] = nodeclaim("old", created=scene.LATE)
    world.nodes[0] = node("old", created=scene.LATE)
    return world


def late_and_marked() -> World:
    """A fallback has its anchor; a surge of before left its marks on the candidate's Node."""
    world = scene.fallback()
    world.nodes[0] = node("old", frozen_for="old", cordoned=True, created=scene.LATE)
    return world


def static() -> World:
    """A pool that only a fallback may rotate."""
    world = late()
    world.pool["spec"]["replicas"] = 1
    return world


def full() -> World:
    """The Pods on the candidate ask for more than a new node is sure to have."""
    world = scene.idle()
    world.pods.append(workload("web-2", "old", "2400m"))
    return world


def two() -> World:
    """A second claim is due."""
    world = scene.idle()
    world.claims.append(nodeclaim("other", created="2026-11-16T21:00:00Z"))
    world.nodes.append(node("other"))
    return world


def by_another() -> World:
    """A rotation that the original controller began: its host has no label."""
    world = scene.deleted()
    scene.named(world.nodes, "node-new")["metadata"]["labels"].pop(names.SURGE_FOR)
    return world


def marked_beside() -> World:
    """A dead rotation left marks on a Node and a claim, beside a rotation in flight."""
    world = scene.mirrored()
    world.claims.append(nodeclaim("stray", scene.PENDING, created=scene.BROUGHT))
    world.nodes.append(node("stray", frozen_for="stray", cordoned=True))
    return world


# --- The journeys. ---

DELETE = CLIENT[2]
NO_DELETE = Strike(DELETE, Fault.DIES_BEFORE)
"""The process dies between the two writes of row 5 or 6."""


NORMAL: Final = (
    Journey("surge", scene.idle),
    Journey("two in turn", two, on(has(names.LAST_ROTATION_AT), wait(11))),
    Journey("a node at once", scene.idle, at_once=True),
    Journey("fallback", late),
    Journey("begun by another controller", by_another),
    Journey("marks of a dead rotation beside", marked_beside),
    Journey("anchor removed by hand", scene.idle, on(bound, unanchor, suspend)),
)

HELD_UP: Final = (
    Journey("host flaps", scene.idle, (*on(READY, flap), *on(STEPPED_BACK, flap))),
    Journey("preempted", scene.idle, on(READY, preempt)),
    Journey("host leaves", scene.idle, on(READY, disrupt)),
    Journey("host leaves while it waits", scene.idle, on(bound, disrupt)),
    Journey("frozen and thawed", scene.idle, (*on(READY, freeze), *on(STEPPED_BACK, thaw))),
    Journey("host unmarked before the drain", scene.idle, on(READY, unmark_host)),
    Journey(
        "governance lost and back",
        scene.idle,
        (
            *on(READY, delete_policy),
            lost_when(state(None)),
            *on(state(None), restore_policy),
        ),
    ),
    Journey(
        "governance lost and back, preempted",
        scene.idle,
        (
            *on(READY, delete_policy),
            lost_when(state(None)),
            *on(state(None), restore_policy, preempt),
        ),
    ),
    Journey(
        "governance lost and back, host leaves",
        scene.idle,
        (
            *on(READY, delete_policy),
            lost_when(state(None)),
            *on(state(None), restore_policy, disrupt),
        ),
    ),
)

TORN: Final = (
    Journey("died between the two writes", scene.idle, (NO_DELETE,)),
    Journey("died between them, mirror removed", scene.idle, (NO_DELETE, *on(DRAINING, unmirror))),
    Journey(
        "died between them, host unmarked", scene.idle, (NO_DELETE, *on(DRAINING, unmark_host))
    ),
    Journey(
        "died between them, frozen",
        scene.idle,
        (
            NO_DELETE,
            *on(DRAINING, freeze),
            *on(STEPPED_BACK, thaw),
        ),
    ),
    Journey("died between them, preempted", scene.idle, (NO_DELETE, *on(DRAINING, preempt))),
    Journey("died between them, host leaves", scene.idle, (NO_DELETE, *on(DRAINING, disrupt))),
    Journey(
        "answer of the delete lost",
        scene.idle,
        (
            Strike(REMOVE, Fault.DIES_BEFORE, GOING),
            *on(GOING, drains(wanted=False), unmirror),
            *on(MIRRORED, drains(wanted=True)),
        ),
    ),
    Journey(
        "answer of the delete lost, drained at once",
        scene.idle,
        (
            Strike(REMOVE, Fault.DIES_BEFORE, GOING),
            *on(GOING, lose),
        ),
    ),
    Journey("fallback, died between, frozen", late, (NO_DELETE, *on(DRAINING, freeze))),
    Journey(
        "fallback, died between, marked, frozen",
        late_and_marked,
        (
            NO_DELETE,
            *on(DRAINING, freeze),
        ),
    ),
    Journey("fallback, died between, aborted", late_and_marked, (NO_DELETE, *on(DRAINING, abort))),
    Journey("fallback frozen", late, on(FELL_BACK, freeze)),
    Journey("fallback frozen, marked", late_and_marked, on(FELL_BACK, freeze)),
    Journey("fallback aborted", late_and_marked, on(FELL_BACK, abort)),
    Journey(
        "fallback aborted, its answer lost",
        late_and_marked,
        (*on(FELL_BACK, abort), lost_when(state("failed"))),
    ),
)

FAILING: Final = (
    Journey(
        "no node in time, then one",
        scene.idle,
        (
            *on(ANCHORED, brings(wanted=False)),
            *on(FAILED, brings(wanted=True), wait(31)),
        ),
    ),
    Journey("host never ready, reaped", scene.idle, on(FAILED, suspend), ready=False),
    Journey("aborted", scene.idle, (*on(bound, abort), *on(FAILED, suspend))),
    Journey(
        "aborted, a node at once",
        scene.idle,
        (*on(listed, abort), *on(FAILED, suspend)),
        at_once=True,
    ),
    Journey(
        "failure uncounted, then its turn",
        scene.idle,
        (
            *on(bound, abort),
            Strike(EVENT, Fault.DIES_BEFORE, state("failed")),
            *on(state("failed"), unabort, wait(31)),
        ),
    ),
    Journey(
        "failure uncounted, then rests",
        scene.idle,
        (
            *on(bound, abort),
            Strike(EVENT, Fault.DIES_BEFORE, state("failed")),
            *on(state("failed"), brings(wanted=False), mark_late, place_late, suspend),
        ),
    ),
)

TOLD: Final = (
    Journey("a full node, clamped", full),
    Journey(
        "no room for the placeholder",
        scene.idle,
        (*on(ANCHORED, brings(wanted=False)), *on(listed, unplaced), *on(FAILED, suspend)),
    ),
    Journey("the placeholder is refused", scene.idle, (*on(ANCHORED, deny), *on(FAILED, suspend))),
    Journey(
        "the drain is stuck",
        scene.idle,
        (
            *on(GOING, drains(wanted=False), wait(240)),
            *on(announced(Reason.DRAIN_STUCK), drains(wanted=True)),
        ),
    ),
    Journey("an unreadable freeze", scene.idle, (*on(READY, garble), *on(STEPPED_BACK, thaw))),
    Journey("policies tie", scene.idle, on(bound, tie)),
    Journey("fallback in a static pool", static),
    Journey("fallback, gone at once", late, on(GOING, lose)),
)
"""Those that tell of something more, each in Events that no write waits for."""

ENDED: Final = (
    Journey("expires while pending", scene.idle, on(bound, expire)),
    Journey("expires while failed", scene.failed, on(ANCHORED, expire)),
    Journey(
        "expires, its answer lost",
        scene.idle,
        (
            *on(bound, expire, drains(wanted=False), brings(wanted=False)),
            lost_when(state("expired", deleting=True)),
            *on(state("expired", deleting=True), mark_late, place_late),
            *on(OVER, drains(wanted=True)),
        ),
    ),
    Journey("vanishes while pending", scene.idle, on(bound, lose)),
    Journey("governance lost", scene.idle, on(bound, delete_policy)),
    Journey("pool deleted", scene.idle, on(bound, delete_pool)),
)

JOURNEYS: Final[tuple[Journey, ...]] = NORMAL + HELD_UP + TORN + FAILING + TOLD + ENDED
