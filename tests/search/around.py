"""What goes on around the passes: Karpenter, the scheduler, kubelets, operators and the clock.

Each move has a name, a cost, and the state that it leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final, NamedTuple, TypeAlias

from hooks import names
from tests.search.hands import CLOCK, LAST
from tests.search.judge import FROZEN, ready
from tests.search.state import State, after, drop, find, put
from tests.search.things import (
    Thing,
    going,
    noted,
    tainted,
    thing,
    with_condition,
    with_spec,
    with_status,
)
from tests.support.live import CLAIM, NODE
from tests.support.metamodel import POLICY
from tests.support.world import node, nodeclaim, policy

BORN: Final = tuple(text[:-2] + "9Z" for text in CLOCK)
"""When a fresh node is born: some seconds into the phase."""
MOST_BORN: Final = 2
FRESH: Final = "node-new"
Rules: TypeAlias = tuple[Thing, Thing]
"""The policy, and the same suspended."""


class Move(NamedTuple):
    """One thing that can happen."""

    name: str
    cost: int
    happens: Callable[[], State]


# --- what helps ---


def helpful(state: State) -> Iterator[Move]:
    """What Karpenter, the scheduler and kubelets do sooner or later."""
    for pod in state.pods:
        if pod.deleting:
            yield Move(f"{pod.name} is gone", 0, partial(_bury, state, pod))
        elif "nodeName" not in pod.obj["spec"]:
            yield from _scheduled(state, pod)
        elif pod.obj["status"]["phase"] == "Pending":
            yield Move(f"{pod.name} runs", 0, partial(_phase, state, pod, "Running"))
    for claim in state.claims:
        if claim.deleting:
            yield Move(f"{claim.name} is gone", 0, partial(_vanish, state, claim))


def _bury(state: State, pod: Thing) -> State:
    return after(state, pods=drop(state.pods, pod.name))


def _phase(state: State, pod: Thing, phase: str) -> State:
    return after(state, pods=put(state.pods, with_status(pod, "phase", phase)))


def _scheduled(state: State, pod: Thing) -> Iterator[Move]:
    free = [host for host in state.nodes if _takes(state, host)]
    good = {host.name for host in free if _stays(state, host)}
    for host in free:
        cost = 0 if host.name in good else 1
        yield Move(f"{pod.name} is bound to {host.name}", cost, partial(_bind, state, pod, host))
    born = sum(1 for claim in state.claims if claim.name.startswith("new-"))
    if not good and born < MOST_BORN:
        yield Move("Karpenter brings a node", 0, partial(_bring, state))


def _takes(state: State, host: Thing) -> bool:
    spec = host.obj["spec"]
    shut = spec.get("unschedulable") or spec.get("taints")
    return not shut and host.name not in state.lived_on and host.name != "node-old"


def _stays(state: State, host: Thing) -> bool:
    """Whether a Node is a fresh one, and not one that goes: Karpenter taints those soon."""
    claim = find(state.claims, host.name.removeprefix("node-"))
    return host.name.startswith(FRESH) and claim is not None and not claim.deleting


def _bind(state: State, pod: Thing, host: Thing) -> State:
    bound = with_condition(with_spec(pod, "nodeName", host.name), "PodScheduled", "True")
    return after(state, pods=put(state.pods, bound))


@cache
def _born(name: str, created: str) -> tuple[Thing, Thing]:
    return thing(CLAIM, nodeclaim(name, created=created)), thing(NODE, node(name, created=created))


def _bring(state: State) -> State:
    everything = (*state.claims, *state.nodes, *state.before.claims, *state.before.nodes,
                  *state.pods)  # fmt: skip
    number = next(n for n in range(1, 9) if not any(f"new-{n}" in one.key for one in everything))
    claim, host = _born(f"new-{number}", BORN[state.phase])
    return after(state, claims=put(state.claims, claim), nodes=put(state.nodes, host))


def _vanish(state: State, claim: Thing) -> State:
    """A claim is gone, with its Node; a placeholder there terminates for a while."""
    where = claim.obj["status"]["nodeName"]
    there = [pod for pod in state.pods if pod.obj["spec"].get("nodeName") == where]
    return after(
        state,
        claims=drop(state.claims, claim.name),
        nodes=drop(state.nodes, where),
        pods=put(state.pods, *(going(pod, CLOCK[state.phase]) for pod in there)),
        lived_on=state.lived_on - {where},
        planted=frozenset(pair for pair in state.planted if pair[0] != where),
    )


# --- what doesn't ---


def cluster(state: State) -> Iterator[Move]:
    """What Karpenter, the scheduler and kubelets may do at the wrong moment."""
    for claim in state.claims:
        if not claim.deleting:
            yield Move(f"Karpenter deletes {claim.name}", 1, partial(_expire, state, claim))
    for pod in state.pods:
        if not pod.deleting:
            yield Move(f"{pod.name} is preempted", 1, partial(_preempt, state, pod))
            if pod.obj["status"]["phase"] == "Running":
                yield Move(f"{pod.name} fails", 1, partial(_phase, state, pod, "Failed"))
    for host in state.nodes:
        if host.name.startswith(FRESH):
            yield from _host(state, host)
    if state.flight is None and state.old is None and state.phase < LAST:
        yield Move("time passes", 1, partial(state._replace, phase=state.phase + 1))


def _expire(state: State, claim: Thing) -> State:
    return after(state, claims=put(state.claims, going(claim, CLOCK[state.phase])))


def removed(pods: tuple[Thing, ...], pod: Thing, now: str) -> tuple[Thing, ...]:
    """The Pods after one is deleted: a bound one terminates, another is gone."""
    return put(pods, going(pod, now)) if "nodeName" in pod.obj["spec"] else drop(pods, pod.name)


def _preempt(state: State, pod: Thing) -> State:
    return after(state, pods=removed(state.pods, pod, CLOCK[state.phase]))


def _host(state: State, host: Thing) -> Iterator[Move]:
    word, status, cost = ("unready", "False", 1) if ready(host) else ("ready", "True", 0)
    changed = with_condition(host, "Ready", status)
    yield Move(f"{host.name} becomes {word}", cost, partial(_node, state, changed))
    if not host.obj["spec"].get("taints"):
        bad = tainted(host, names.DISRUPTED_TAINT)
        yield Move(f"Karpenter taints {host.name}", 1, partial(_node, state, bad))
    if host.name not in state.lived_on and not host.obj["spec"].get("unschedulable"):
        lived_on = state.lived_on | {host.name}
        yield Move(f"a workload lands on {host.name}", 1,
                   partial(state._replace, lived_on=lived_on))  # fmt: skip


def _node(state: State, host: Thing) -> State:
    return after(state, nodes=put(state.nodes, host))


# --- operators ---


def operators(state: State, rules: Rules) -> Iterator[Move]:
    """What people do, and undo; undoing costs nothing."""
    yield from _policy(state, rules)
    yield from _marks(state)
    pool = state.pool
    if pool is None:
        return
    if pool.note(names.FREEZE) is None:
        yield Move("an operator freezes", 1, partial(_note, state, pool, names.FREEZE, FROZEN))
    else:
        yield Move("the freeze is lifted", 0, partial(_note, state, pool, names.FREEZE, None))
    anchor = pool.note(names.ACTIVE_ROTATION)
    if anchor is not None and pool.note(names.ABORT) is None:
        yield Move("an operator aborts", 1, partial(_note, state, pool, names.ABORT, anchor))
    if not pool.deleting:
        yield Move("the NodePool is deleted", 1, partial(delete_pool, state, pool))


def _note(state: State, pool: Thing, key: str, value: str | None) -> State:
    return after(state, pool=noted(pool, ((key, value),)))


def delete_pool(state: State, pool: Thing) -> State:
    """Somebody deletes the NodePool."""
    return after(state, pool=going(pool, CLOCK[state.phase]))


def rules(**spec: Any) -> Rules:
    """A policy, and the same suspended."""
    return thing(POLICY, policy(**spec)), thing(POLICY, policy(**spec | {"suspend": True}))


def _policy(state: State, rules: Rules) -> Iterator[Move]:
    normal, suspended = rules
    if state.policy is not normal:
        yield Move("the policy is as it was", 0, partial(state._replace, policy=normal))
    else:
        yield Move("the policy is deleted", 1, partial(state._replace, policy=None))
        yield Move("the policy is suspended", 1, partial(state._replace, policy=suspended))


def _marks(state: State) -> Iterator[Move]:
    for host in state.nodes:
        if host.name == "node-other":
            continue
        if host.note(names.DO_NOT_DISRUPT) is None:
            marked = noted(host, ((names.DO_NOT_DISRUPT, names.TRUE),))
            yield Move(f"an operator protects {host.name}", 1,
                       partial(_plant, state, marked, "protect"))  # fmt: skip
        if not host.obj["spec"].get("unschedulable") and host.note(names.CORDONED) is None:
            marked = with_spec(host, "unschedulable", value=True)
            yield Move(f"an operator cordons {host.name}", 1,
                       partial(_plant, state, marked, "cordon"))  # fmt: skip


def _plant(state: State, host: Thing, mark: str) -> State:
    new = after(state, nodes=put(state.nodes, host))
    return new._replace(planted=state.planted | {(host.name, mark)})
