"""Removes what dead rotations, or the whole software, left behind on a cluster.

Owns the two sweeps: :func:`sweep_stale` when the hook server starts, and :func:`sweep_all` for
uninstalling. Leaves to :mod:`hooks.rotation.leftovers` what is left over, to
:mod:`hooks.cluster.broom` how it goes, and to the callers the telling. Every patch tests the
resourceVersion that it was computed from; a Pod is deleted by UID; an operator's own marks are
never touched. Deployments and their ReplicaSets are swept for uninstalling only: the hook server
may not list them, and what is on them may be in use. Source: seed 000 section 5.3 *Startup sweep*,
design/rotation.md sections 4 and 5, design/product.md (Commands).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.broom import (
    DEPLOYMENT,
    NODE,
    NODECLAIM,
    NODEPOOL,
    POD,
    REPLICASET,
    Broom,
    Change,
    Failure,
)
from hooks.cluster.connection import Connection
from hooks.cluster.errors import ClusterError, NotFound, NotServed, Unreadable
from hooks.cluster.patches import amend
from hooks.cluster.reader import reading
from hooks.cluster.resources import DECORATORCONTROLLERS
from hooks.protocol.core import node_of
from hooks.protocol.karpenter import claim_of, pool_of
from hooks.rotation.leftovers import (
    CLAIM_KEYS,
    POOL_KEYS,
    Mark,
    is_forgotten,
    is_stale,
    mark_of,
)
from hooks.rotation.marks import unfreezing
from hooks.rotation.model import ClaimState, Node, Pool
from hooks.rotation.steps import attempt_over

STALE_LIMIT: Final = 60.0
"""Seconds that the sweep at the start may take; what is left then is left."""
ATTEMPTS: Final = 4
"""A conflicting patch is computed again on the live object three times at most."""
MARKS: Final = (names.SURGE_FOR, names.DO_NOT_DISRUPT_OWNED, names.CORDONED)
"""Keys that tell that a Node or a placeholder is ours."""
DRAIN_KEYS: Final = (
    names.DRAIN_RESTARTED_AT,
    names.DRAIN_ROLLED_FOR,
    names.DRAIN_LAST_POD_UID,
)
"""All that the graceful drain writes on Deployments. A rollout-timeout is the operator's own word.

``restartedAt`` in a Pod template stays as well: a template without it is another one, so that
removing it would roll the Deployment out.
"""


class StillActive(ClusterError):
    """The controller is still there and would bring back whatever a sweep removes."""


@dataclass(frozen=True, slots=True)
class Swept:
    """The outcome of a sweep, item by item."""

    changes: tuple[Change, ...] = ()
    failures: tuple[Failure, ...] = ()


def sweep_stale(connection: Connection, namespace: str, now: datetime) -> Swept:
    """Remove what no anchor refers to; raises nothing, every error is a failure of the outcome.

    The artifacts are listed before the anchors, so that a rotation which starts in between is seen
    by its anchor. Each object gets one attempt: what has changed since is in use, and stays. What a
    vanished anchor left on its pool is removed by the answer of the pool's next pass.
    """
    broom = Broom(connection.within(connection.clock() + STALE_LIMIT), attempts=1)
    pods = broom.collect(POD, MARKS, namespace) or []
    nodes = broom.collect(NODE, MARKS) or []
    claims = broom.collect(NODECLAIM, (names.STATE,)) or []
    anchored = broom.collect(NODEPOOL, POOL_KEYS)
    pools = None if anchored is None else _read_pools(broom, anchored)
    if anchored is None or pools is None:
        # Without the anchors nothing is known to be stale.
        return _outcome(broom)
    for pod in pods:
        if is_stale(_placeholder_mark(pod), pools):
            _delete(broom, pod)
    for node in nodes:
        broom.amend(NODE, node, lambda seen: _if_stale(seen, pools))
    for claim in claims:
        broom.amend(NODECLAIM, claim, lambda seen: _if_forgotten(seen, pools, now))
    return _outcome(broom)


def sweep_all(connection: Connection, namespace: str, *, dry_run: bool = False) -> Swept:
    """Remove everything of ours: first the anchors, each pool's in one update, then the marks.

    ``namespace`` is where the placeholders are. On Deployments the tracking of a rollout under way
    goes, too: the rollout itself is Kubernetes' and goes on. Raises StillActive while the controller exists
    (not in a dry run), and another ClusterError when even that can't be found out.
    """
    if not dry_run and is_active(connection):
        raise StillActive(
            f"DecoratorController {names.DECORATOR_CONTROLLER} still exists and would undo the "
            f"sweep: delete it first (kubectl delete decoratorcontroller "
            f"{names.DECORATOR_CONTROLLER})"
        )
    broom = Broom(connection, ATTEMPTS, dry_run=dry_run)
    for pool in broom.collect(NODEPOOL, POOL_KEYS) or []:
        broom.amend(NODEPOOL, pool, lambda seen: amend(seen, annotations=_without(POOL_KEYS)))
    for pod in broom.collect(POD, MARKS, namespace) or []:
        _delete(broom, pod)
    for node in broom.collect(NODE, MARKS) or []:
        broom.amend(NODE, node, lambda seen: _unfrozen(seen, _node(seen)))
    for claim in broom.collect(NODECLAIM, CLAIM_KEYS) or []:
        broom.amend(NODECLAIM, claim, lambda seen: amend(seen, annotations=_without(CLAIM_KEYS)))
    # The Deployment controller copies a Deployment's annotations to its ReplicaSets, and never takes
    # them back; a rollback with kubectl would bring them to the Deployment again.
    for kind in (DEPLOYMENT, REPLICASET):
        for one in broom.collect(kind, DRAIN_KEYS) or []:
            broom.amend(kind, one, lambda seen: amend(seen, annotations=_without(DRAIN_KEYS)))
    return _outcome(broom)


def is_active(connection: Connection) -> bool:
    """Whether Metacontroller still holds our DecoratorController."""
    try:
        connection.get(DECORATORCONTROLLERS.one(names.DECORATOR_CONTROLLER))
    except (NotFound, NotServed):
        return False
    return True


def _outcome(broom: Broom) -> Swept:
    return Swept(tuple(broom.changes), tuple(broom.failures))


def _delete(broom: Broom, pod: Json) -> None:
    if not pod["metadata"].get("deletionTimestamp"):
        broom.delete(POD, pod)


def _read_pools(broom: Broom, seen: Sequence[Json]) -> list[Pool] | None:
    try:
        return [reading(pool_of, f"NodePool {pool['metadata']['name']}", pool) for pool in seen]
    except Unreadable as error:
        broom.failures.append(Failure(NODEPOOL.name, "*", str(error)))
        return None


def _placeholder_mark(pod: Json) -> Mark:
    meta = pod["metadata"]
    selector = (pod.get("spec") or {}).get("nodeSelector") or {}
    return Mark(
        claim=(meta.get("annotations") or {}).get(names.SURGE_FOR),
        label=(meta.get("labels") or {}).get(names.SURGE_FOR),
        pool=selector.get(names.NODEPOOL_LABEL),
    )


def _node(seen: Json) -> Node:
    return reading(node_of, f"Node {seen['metadata']['name']}", seen)


def _unfrozen(seen: Json, node: Node) -> list[Json]:
    change = unfreezing(node)
    if change is None:
        return []
    return amend(
        seen,
        annotations=change.annotations,
        labels=change.labels,
        unschedulable=change.unschedulable,
    )


def _if_stale(seen: Json, pools: Sequence[Pool]) -> list[Json]:
    node = _node(seen)
    return _unfrozen(seen, node) if is_stale(mark_of(node), pools) else []


def _if_forgotten(seen: Json, pools: Sequence[Pool], now: datetime) -> list[Json]:
    claim = reading(claim_of, f"NodeClaim {seen['metadata']['name']}", seen)
    if not is_forgotten(claim, pools):
        return []
    return amend(seen, annotations=attempt_over(ClaimState.FAILED, now))


def _without(keys: Iterable[str]) -> dict[str, str | None]:
    return dict.fromkeys(sorted(keys))
