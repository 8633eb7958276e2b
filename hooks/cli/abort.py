"""``noderotation abort``: rolls back a surge that hasn't deleted anything yet.

Writes the request on the NodePool; the hook server ends the rotation exactly as a time-out would,
and the answer that ends it removes the request. Source: design/product.md (Beyond the seeds).
"""

from __future__ import annotations

import click

from hooks import names
from hooks.cli.access import cluster_flags, reached, show
from hooks.cluster.answers import Json
from hooks.cluster.operator import OperatorCluster
from hooks.cluster.reader import reading
from hooks.protocol.karpenter import claim_of, pool_of
from hooks.rotation.guards import names_claim
from hooks.rotation.model import Claim, Pool


@click.command(name="abort")
@click.argument("pool")
@cluster_flags
def command(*, pool: str, kubeconfig: str | None, context: str | None, output: str) -> None:
    """Roll back the surge of a NodePool, as long as nothing has been deleted."""
    with reached(kubeconfig, context) as cluster:
        claim = _abort(cluster, pool)
    show(
        output,
        {"nodePool": pool, "nodeClaim": claim},
        f"NodePool {pool}: the rotation of NodeClaim {claim} will be rolled back",
    )


def _abort(cluster: OperatorCluster, name: str) -> str:
    named = ""

    def wanted(live: Json) -> dict[str, str | None]:
        nonlocal named
        pool = reading(pool_of, f"NodePool {name}", live)
        if pool.anchor is None or pool.deleting:
            why = "it is being deleted" if pool.deleting else "no rotation is in flight"
            raise click.ClickException(f"NodePool {name}: nothing to abort, {why}")
        named = pool.anchor
        _hold_back(_live(cluster, named), pool)
        return {names.ABORT: named}

    cluster.annotate_nodepool(name, wanted)
    # A pass that was under way may have deleted it before it could see the request.
    claim = _live(cluster, named)
    if claim is None or claim.deleting:
        raise click.ClickException(f"the abort came too late: NodeClaim {named} is being deleted")
    return named


def _hold_back(claim: Claim | None, pool: Pool) -> None:
    """End the command when the anchored claim can't be kept any more."""
    if claim is None or not names_claim(pool, claim.name, claim.uid):
        why = "is gone already"
    elif claim.deleting:
        why = "is being deleted already, and a drain can't be rolled back"
    else:
        return
    raise click.ClickException(f"NodePool {pool.name}: NodeClaim {pool.anchor} {why}")


def _live(cluster: OperatorCluster, name: str) -> Claim | None:
    live = cluster.get_nodeclaim(name)
    return None if live is None else reading(claim_of, f"NodeClaim {name}", live)
