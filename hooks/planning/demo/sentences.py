"""What a change means, in plain sentences.

Owns the words. A change that means nothing to an onlooker has no sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from hooks import names
from hooks.planning.demo.rows import Row
from hooks.rotation.durations import format_people
from hooks.verdict.deadlines import deadline_of
from hooks.verdict.history import Moment, Object
from hooks.verdict.questions import (
    annotation,
    claim_of,
    is_leaving,
    is_ready,
    label,
    missing_successor,
    node_of,
)
from hooks.verdict.singletons import SERVICE_NAME, ready_endpoints, ready_in
from hooks.verdict.times import SLACK

SYNC_ERROR = "SyncError"
"""The reason of the Event that tells of a failed call of the hooks."""
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Told:
    """What sentences may speak of: the pool, its old nodes, and whether there is a policy yet."""

    pool: str
    rows: Mapping[str, Row]
    begun: bool
    now: datetime


def sentences(moment: Moment, told: Told) -> Iterator[str]:
    """All that is to be said of a change; nothing before the installation."""
    if not told.begun:
        return
    match moment.change.kind:
        case "NodePool" if moment.change.name == told.pool:
            yield from _of_pool(moment, told)
        case "NodeClaim" if label(moment.change.object, names.NODEPOOL_LABEL) == told.pool:
            yield from _of_claim(moment, told)
        case "Node":
            yield from _of_node(moment, told)
        case "Pod":
            yield from _of_pod(moment)
        case "Deployment":
            yield from _of_deployment(moment)
        case "EndpointSlice":
            yield from _of_service(moment)
        case "Event" if moment.change.object.get("reason") == SYNC_ERROR and not moment.before:
            yield "The hooks fail: nothing is decided until they answer again."
        case _:
            pass


def _of_pool(moment: Moment, told: Told) -> Iterator[str]:
    pool, before = moment.change.object, moment.before
    now, then = annotation(pool, names.ACTIVE_ROTATION), annotation(before, names.ACTIVE_ROTATION)
    if now is not None and now != then:
        row = told.rows.get(now)
        if row is not None and row.deadline is not None:
            yield f"{now} is next; Karpenter would expire it {row.deadline:%a %H:%M}."
    was_draining = annotation(before, names.ACTIVE_ROTATION_STATE) is not None
    is_draining = annotation(pool, names.ACTIVE_ROTATION_STATE) is not None
    if now is not None and now == then and was_draining and not is_draining:
        yield f"The successor isn't sure any more: {now} isn't touched."
    if (
        now is None
        and then is not None
        and annotation(pool, names.LAST_ROTATION_AT) == annotation(before, names.LAST_ROTATION_AT)
    ):
        yield f"The rotation of {then} ended without success."


def _of_claim(moment: Moment, told: Told) -> Iterator[str]:
    claim, name = moment.change.object, moment.change.name
    if moment.change.type == "ADDED":
        yield f"Karpenter starts a new machine for NodeClaim {name}."
    elif moment.change.type == "DELETED":
        row = told.rows.get(name)
        took = None if row is None or row.begun is None else told.now - row.begun
        after = (
            ""
            if took is None
            else f", {format_people(took // _SECOND * _SECOND)} after its turn came"
        )
        yield f"{name} is gone{after}."
    elif is_leaving(claim) and not is_leaving(moment.before):
        pool = moment.world["NodePool"].get(("", told.pool))
        if annotation(pool, names.ACTIVE_ROTATION) == name:
            missing = missing_successor(moment.world, told.pool, name, node_of(claim))
            yield (
                f"{name} drains although {missing}."
                if missing
                else f"{name} drains; its successor was there first."
            )
        elif _has_expired(claim, told.now):
            yield f"Karpenter expires {name}: nobody replaced it in time."
        else:
            yield f"{name} is deleted although its turn hasn't come."


def _has_expired(claim: Object, now: datetime) -> bool:
    deadline = deadline_of(claim)
    return deadline is not None and now >= deadline - SLACK


def _of_node(moment: Moment, told: Told) -> Iterator[str]:
    node, name = moment.change.object, moment.change.name
    if moment.change.type == "DELETED":
        return
    ours = annotation(node, names.CORDONED)
    if ours is not None and annotation(moment.before, names.CORDONED) is None:
        yield f"{claim_of(moment.world, name)} is cordoned: nothing new goes there."
    of_pool = label(node, names.NODEPOOL_LABEL) == told.pool
    is_new = name not in {row.node for row in told.rows.values()}
    if of_pool and is_new and is_ready(node) and not _was_ready(moment.before):
        yield f"{claim_of(moment.world, name)} is up and Ready."


def _of_pod(moment: Moment) -> Iterator[str]:
    pod, name = moment.change.object, moment.change.name
    if name.startswith(names.PLACEHOLDER_PREFIX):
        yield from _of_placeholder(moment)
        return
    budgeted = not name.startswith("agent-")
    if moment.change.type == "DELETED" or not budgeted:
        return
    where = pod.get("spec", {}).get("nodeName", "")
    if is_leaving(pod) and not is_leaving(moment.before):
        yield f"Pod {name} has to leave {claim_of(moment.world, where)}."
    elif is_ready(pod) and not _was_ready(moment.before):
        yield f"Pod {name} is Ready on {claim_of(moment.world, where)}."


def _of_placeholder(moment: Moment) -> Iterator[str]:
    pod = moment.change.object
    claim = moment.change.name.removeprefix(names.PLACEHOLDER_PREFIX)
    if moment.change.type == "ADDED":
        yield f"A placeholder asks for room for the Pods of {claim}."
    elif moment.change.type != "DELETED" and _phase(pod) == "Running" != _phase(moment.before):
        host = claim_of(moment.world, pod["spec"]["nodeName"])
        yield f"The placeholder runs on {host}: the room is there."


def _of_deployment(moment: Moment) -> Iterator[str]:
    name = moment.change.name
    was_tracked = annotation(moment.before, names.DRAIN_RESTARTED_AT) is not None
    is_tracked = annotation(moment.change.object, names.DRAIN_RESTARTED_AT) is not None
    if is_tracked and not was_tracked:
        yield f"The only Pod of {name} stays until its successor is Ready."
    elif was_tracked and not is_tracked:
        yield f"The rollout of {name} is over; nothing holds its Pods any more."


def _of_service(moment: Moment) -> Iterator[str]:
    service = label(moment.change.object, SERVICE_NAME)
    is_up, was_up = bool(ready_endpoints(moment)), bool(ready_in(moment.before))
    if was_up and not is_up:
        yield f"Service {service} is DOWN: none of its Pods is Ready."
    elif is_up and not was_up and moment.before is not None:
        yield f"Service {service} is up: one of its Pods is Ready."


def _phase(pod: Object | None) -> str:
    phase: str = (pod or {}).get("status", {}).get("phase", "")
    return phase


def _was_ready(thing: Object | None) -> bool:
    return thing is not None and is_ready(thing)
