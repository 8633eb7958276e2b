"""``noderotation rotate``: asks for nodes to be renewed in the coming windows.

Writes the requests ``due-before`` and ``due``; windows, gates and order stay as they are. Source:
design/rotation.md section 5 (Requests).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click

from hooks import names
from hooks.cli.access import cluster_flags, reached, show
from hooks.cluster.answers import Json
from hooks.cluster.operator import OperatorCluster
from hooks.cluster.reader import reading
from hooks.protocol.karpenter import claim_of
from hooks.rotation.durations import format_stamp, parse_stamp
from hooks.rotation.model import Claim


@click.command(name="rotate")
@click.argument("pool", required=False)
@click.option(
    "--created-before",
    metavar="TIME",
    help="Every node of the NodePool created before this RFC 3339 time is due at once.",
)
@click.option("--claim", metavar="NAME", help="This one NodeClaim is due at once.")
@click.option("--cancel", is_flag=True, help="Take the request back.")
@cluster_flags
def command(
    *,
    pool: str | None,
    created_before: str | None,
    claim: str | None,
    cancel: bool,
    kubeconfig: str | None,
    context: str | None,
    output: str,
) -> None:
    """Ask for nodes to be renewed in the coming windows (a CVE, a bad image)."""
    if (pool is None) == (claim is None):
        raise click.UsageError("name either a POOL or a --claim")
    if claim is not None:
        if created_before is not None:
            raise click.UsageError("--created-before goes with a POOL")
        with reached(kubeconfig, context) as cluster:
            text = _request_claim(cluster, claim, cancel=cancel)
        show(output, {"nodeClaim": claim, "due": not cancel}, text)
        return
    if (created_before is None) != cancel:
        raise click.UsageError("give --created-before TIME, or --cancel")
    before = None if created_before is None else _past(created_before)
    with reached(kubeconfig, context) as cluster:
        due, text = _request_pool(cluster, str(pool), before)
    show(
        output,
        {"nodePool": pool, "createdBefore": before and format_stamp(before), "nodeClaims": due},
        text,
    )


def _past(text: str) -> datetime:
    time = parse_stamp(text)
    if not isinstance(time, datetime):
        raise click.UsageError(f"--created-before {text!r} is not an RFC 3339 time with its zone")
    # Creation times are whole seconds, and so is the annotation: rounding down would miss some.
    time = time.replace(microsecond=0) + timedelta(seconds=1 if time.microsecond else 0)
    if time > datetime.now(UTC):
        # The successors would be due as well, again and again until that time has come.
        raise click.UsageError("--created-before lies in the future")
    return time


def _request_pool(
    cluster: OperatorCluster, pool: str, before: datetime | None
) -> tuple[list[str], str]:
    stamp = None if before is None else format_stamp(before)
    cluster.annotate_nodepool(pool, lambda _: {names.DUE_BEFORE: stamp})
    if before is None:
        return [], f"NodePool {pool}: the request is taken back"
    claims = [_read(claim) for claim in cluster.list_nodeclaims(pool)]
    due = sorted(claim.name for claim in claims if claim.created < before and not claim.deleting)
    return due, (
        f"NodePool {pool}: {len(due)} of {len(claims)} nodes were created before {stamp} "
        "and are due in the coming windows"
    )


def _request_claim(cluster: OperatorCluster, name: str, *, cancel: bool) -> str:
    def wanted(live: Json) -> dict[str, str | None]:
        if not cancel and _read(live).deleting:
            raise click.ClickException(f"NodeClaim {name} is being deleted already")
        return {names.DUE: None if cancel else names.TRUE}

    cluster.annotate_nodeclaim(name, wanted)
    if cancel:
        return f"NodeClaim {name}: the request is taken back"
    return f"NodeClaim {name} is due in the coming windows"


def _read(live: Json) -> Claim:
    return reading(claim_of, f"NodeClaim {live['metadata']['name']}", live)
