"""A pass in steps, each by the real software: decide, one write, the answer's making, its parts.

What `NodePoolSync.carry_out` does in one go is cut here between any two of its calls, so that
anything can come between: `decide` and `conclude` are called as they are, and each write goes
through an `Applier` of its own, which keeps nothing between writes but the names of the Events
that it counted. Then Metacontroller's part, in its order. What a step did is remembered by all
that it rests on. The Events that follow all writes are left out: nothing rests on them, and
tests/rotation/test_crash_points.py strikes at each.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from hooks.cluster.apply import Applier
from hooks.cluster.herald import Announced, Herald
from hooks.rotation.answer import Conclusion, conclude
from hooks.rotation.decision import Decision, Listing, stop
from hooks.rotation.model import Observation
from hooks.rotation.phases import decide
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import Announce, Write
from tests.search import judge
from tests.search.around import removed
from tests.search.hands import CLOCK, Effect, reads
from tests.search.state import (
    ANSWERED,
    ATTACHING,
    CREATING,
    WRITING,
    Flight,
    Groups,
    Job,
    Plan,
    State,
    after,
    find,
    put,
)
from tests.search.things import Thing, noted, thing, with_meta
from tests.support.live import POD, Json

TIMES: Final = tuple(datetime.fromisoformat(text) for text in CLOCK)

_JOBS: dict[str, Job] = {}
_PLANS: dict[str, Plan] = {}
_BEGUN: dict[object, tuple[tuple[Job, ...], Plan]] = {}
_DONE: dict[object, tuple[Reason | None, Effect | None]] = {}
_CONCLUDED: dict[object, Made] = {}


def forget() -> None:
    """Forget what steps did: the software has been changed (by a mutant)."""
    for memory in (_JOBS, _PLANS, _BEGUN, _DONE, _CONCLUDED):
        memory.clear()


def _world(state: State) -> tuple[object, ...]:
    return (
        state.pool, state.claims, state.nodes, state.pods, state.policy, state.phase,
        state.lived_on,
    )  # fmt: skip


# --- the hook ---


def observation(state: State, request: Groups) -> Observation:
    """What a request of these groups says."""
    assert request.pool is not None
    return Observation(
        now=TIMES[state.phase],
        pool=request.pool.value,
        policies=(state.policy.value,) if state.policy is not None else (),
        claims=tuple(claim.value for claim in request.claims),
        nodes=tuple(node.value for node in request.nodes),
        placeholders=tuple(pod.value for pod in request.pods),
    )


def begin(state: State, request: Groups) -> State:
    """A request arrives, and the hook decides."""
    key = (request, _world(state))
    found = _BEGUN.get(key)
    if found is None:
        obs = observation(state, request)
        decision = decide(obs, reads(state))
        jobs = tuple(_job(write) for write in decision.writes)
        found = _BEGUN[key] = (jobs, _plan(request, obs, decision))
    jobs, plan = found
    flight = Flight(WRITING, jobs, plan, current=request.pool is state.pool)
    return state._replace(flight=flight) if jobs else _written(state, flight)


def _job(write: Write) -> Job:
    key = repr(write)
    found = _JOBS.get(key)
    if found is None:
        found = _JOBS[key] = Job(key, write)
    return found


def _plan(request: Groups, obs: Observation, decision: Decision) -> Plan:
    assert request.pool is not None
    update = tuple(
        (key, value)
        for key, value in sorted(decision.annotations.items())
        if request.pool.note(key) != value
    )
    observed = tuple((pod.name, pod.uid) for pod in request.pods)
    rests_on = (
        decision.listing, decision.claim, update, decision.creation, observed,
        tuple(pod.name for pod in request.pods if not pod.deleting),
        obs.pool.anchor, obs.pool.anchor_uid, obs.pool.deleting,
    )  # fmt: skip
    key = repr(rests_on)
    found = _PLANS.get(key)
    if found is None:
        found = _PLANS[key] = Plan(key, decision, obs, observed, update)
    return found


def _write(state: State, flight: Flight) -> tuple[State, Flight]:
    """The next write of a pass goes out; a guard may stop the pass there.

    No write changes the NodePool, so that its version is still what it was to the pass.
    """
    job = flight.jobs[0]
    events = state.events if isinstance(job.write, Announce) else None
    key = (job, _world(state), events)
    found = _DONE.get(key)
    if found is None:
        reader = reads(state)
        herald = Herald(reader.api, Announced())
        refusal = Applier(reader.api, reader, herald).apply((job.write,))
        found = _DONE[key] = (refusal, reader.api.effect)
    refusal, effect = found
    if effect is not None:
        state = _landed(state, flight, job, effect)
    if refusal is not None:
        stopped = stop(refusal, flight.plan.decision.claim)
        return state, flight._replace(stage=CREATING, jobs=(), stopped=stopped)
    return state, flight._replace(jobs=flight.jobs[1:])


def write_on(state: State, flight: Flight) -> State:
    """The pass in flight sends its next write."""
    state, flight = _write(state, flight)
    return state._replace(flight=flight) if flight.jobs else _written(state, flight)


def write_old(state: State, flight: Flight) -> State:
    """The pass that timed out sends its next write; nobody waits for its answer."""
    state, flight = _write(state, flight)
    return state._replace(old=flight if flight.jobs else None)


def _written(state: State, flight: Flight) -> State:
    creates = flight.plan.decision.listing is Listing.CREATE and flight.stopped is None
    if creates and flight.stage is WRITING:
        return state._replace(flight=flight._replace(stage=CREATING))
    return answer(state, flight)


def answer(state: State, flight: Flight) -> State:
    """The answer is made: with a live look, where it wants a placeholder created."""
    plan = flight.plan
    creates = flight.stopped is None and plan.decision.listing is Listing.CREATE
    key = (plan, _world(state)) if creates else (plan, flight.stopped is None)
    made = _CONCLUDED.get(key)
    if made is None:
        conclusion = conclude(plan.obs, flight.stopped or plan.decision, reads(state))
        made = _CONCLUDED[key] = _made(plan, conclusion)
    done = flight._replace(
        stage=ANSWERED, update=made.update, listed=made.listed, fresh=made.fresh, stopped=None,
        held=made.fresh is not None and judge.may_create(state, made.fresh),
    )  # fmt: skip
    return state._replace(flight=_next(done))


class Made(NamedTuple):
    """What an answer asks for."""

    update: tuple[tuple[str, str | None], ...]
    listed: tuple[str, ...]
    fresh: Thing | None


def _made(plan: Plan, conclusion: Conclusion) -> Made:
    observed = {name for name, _ in plan.observed}
    listed = tuple(_name(manifest) for manifest in conclusion.attachments)
    fresh = next((_fresh(m) for m in conclusion.attachments if _name(m) not in observed), None)
    return Made(plan.update if conclusion.decision.annotations else (), listed, fresh)


def _name(manifest: Any) -> str:
    name: str = manifest["metadata"]["name"]
    return name


def _fresh(manifest: Any) -> Thing:
    made: Json = {**manifest, "metadata": {**manifest["metadata"], "uid": "pod-0"}}
    made["status"] = {"phase": "Pending", "conditions": []}
    return thing(POD, made)


def _landed(state: State, flight: Flight, job: Job, effect: Effect) -> State:
    if effect.deletes and effect.claim is not None:
        state = judge.deleted(state, job, effect.claim)
    if effect.event is not None:
        state = judge.counted(state, flight, effect.event)
    if effect.claim is not None:
        state = judge.begun(state, effect.claim)
        state = after(state, claims=put(state.claims, effect.claim))
    if effect.node is not None:
        state = after(state, nodes=put(state.nodes, effect.node))
        judge.protected(state, effect.node)
    return state


# --- Metacontroller ---


def _next(flight: Flight) -> Flight | None:
    """The answer's next part that changes anything; None when there is none."""
    if flight.update and flight.stage is ANSWERED:
        return flight
    kept = {name for name, _ in flight.plan.observed} <= set(flight.listed)
    if (kept and flight.fresh is None) or flight.plan.obs.pool.deleting:
        return None
    return flight._replace(stage=ATTACHING, update=())


def update(state: State, flight: Flight) -> State:
    """The parent is updated, or its update conflicts and all of the answer is dropped."""
    if not flight.current or state.pool is None:
        return state._replace(flight=None)
    new = noted(state.pool, flight.update)
    state = judge.updated(state, flight, new)
    rest = _next(flight._replace(update=(), stage=ATTACHING))
    return after(state._replace(flight=rest), pool=new)


def attach(state: State, flight: Flight) -> State:
    """Attachments are deleted and created."""
    pods = state.pods
    for name, uid in flight.plan.observed:
        there = find(pods, name)
        if name not in flight.listed and there is not None and there.uid == uid:
            pods = removed(pods, there, CLOCK[state.phase])
    fresh = flight.fresh
    if fresh is not None and find(pods, fresh.name) is None:
        judge.created(state, flight, fresh)
        pods = put(pods, _with_uid(state, fresh))
    return after(state._replace(flight=None), pods=pods)


def _with_uid(state: State, pod: Thing) -> Thing:
    known = {one.uid for one in (*state.pods, *state.before.pods)}
    for flight in (state.flight, state.old):
        if flight is not None:
            known |= {uid for _, uid in flight.plan.observed}
    uid = next(f"pod-{n}" for n in range(1, 9) if f"pod-{n}" not in known)
    now = CLOCK[state.phase]
    return with_meta(pod, uid=uid, creationTimestamp=now)
