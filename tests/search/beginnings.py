"""Where the searches start: a pool with two claims that are due, before or amid a rotation."""

from __future__ import annotations

from hooks import names
from tests.search.around import rules
from tests.search.explore import Beginning
from tests.search.state import Groups, State, shown
from tests.search.things import Thing, thing
from tests.support import scene
from tests.support.live import CLAIM, NODE, POD, POOL
from tests.support.world import World, node, nodeclaim

LATER = "2026-11-16T21:00:00Z"
"""Created then, a claim is due, after ``old``."""


def state_of(world: World, policy: Thing, phase: int = 0) -> State:
    """The state of a world, with every cache up to date."""
    empty = Groups(None, (), (), ())
    state = State(
        pool=thing(POOL, world.pool),
        claims=tuple(sorted((thing(CLAIM, c) for c in world.claims), key=lambda t: t.name)),
        nodes=tuple(sorted((thing(NODE, n) for n in world.nodes), key=lambda t: t.name)),
        pods=tuple(thing(POD, p) for p in world.pods
                   if p["metadata"]["namespace"] == names.NAMESPACE),
        policy=policy,
        phase=phase,
        before=empty,
    )  # fmt: skip
    tries = tuple((claim.uid, 1) for claim in state.claims if claim.note(names.STATE) is not None)
    return state._replace(before=shown(state), tries=tries)


def _two(world: World) -> World:
    """Both claims are due; nothing else is there."""
    scene.drop(world.claims, "young")
    scene.drop(world.nodes, "node-young")
    world.claims.append(nodeclaim("other", created=LATER))
    world.nodes.append(node("other", created=LATER))
    return world


def beginnings() -> tuple[Beginning, ...]:
    """All of them."""
    surge, fallback = rules(), rules(forcefulFallback={"enabled": True})
    late = _two(scene.idle())
    late.claims[0] = nodeclaim("old", created=scene.LATE)
    late.nodes[0] = node("old", created=scene.LATE)
    return (
        Beginning("idle", state_of(_two(scene.idle()), surge[0]), surge),
        Beginning("running", state_of(_two(scene.running()), surge[0]), surge),
        Beginning("a deadline is near", state_of(late, fallback[0]), fallback),
        Beginning("the window closes", state_of(late, fallback[0], phase=3), fallback),
        Beginning("failed", state_of(_two(scene.failed()), surge[0]), surge),
    )
