"""Row 18: marks of ours in the pool for a claim that is not the anchor; beside any row.

Of Nodes they go silently; a claim that is failed for it is told, for no crash leads there.
Source: design/rotation.md section 3, row 18; seed 000 section 5.3 *Startup sweep*.
"""

from __future__ import annotations

from hooks.rotation.decision import Report
from hooks.rotation.guards import names_claim
from hooks.rotation.marks import marked_for
from hooks.rotation.model import Claim, ClaimState, Node
from hooks.rotation.reasons import Reason
from hooks.rotation.steps import attempt_over, patch
from hooks.rotation.view import View
from hooks.rotation.writes import Unfreeze, Write


def orphans(view: View) -> tuple[tuple[Write, ...], tuple[Report, ...]]:
    """What undoes the marks of dead rotations, judged by the anchor as it is live, and its lines."""
    nodes = [node for node in view.obs.nodes if _is_stray(view, node)]
    claims = [claim for claim in view.obs.claims if _is_forgotten(view, claim)]
    if not nodes and not claims:
        return (), ()
    live = view.reader.pool(view.pool.name)
    if live is None:
        return (), ()
    forgotten = [claim for claim in claims if not names_claim(live, claim.name, claim.uid)]
    writes: list[Write] = [
        Unfreeze(node.name, node.surge_for or "")
        for node in nodes
        if live.anchor is None or not marked_for(node, live.anchor)
    ]
    writes += [
        patch(view, claim, attempt_over(ClaimState.FAILED, view.now), anchored=False)
        for claim in forgotten
    ]
    return tuple(writes), tuple(_told(claim) for claim in forgotten)


def _told(claim: Claim) -> Report:
    fields = (
        ("nodeclaim", claim.name),
        ("reason", Reason.ANCHOR_ELSEWHERE.value),
        ("state", str(claim.state)),
    )
    return Report("forgotten attempt failed", fields, warning=True)


def _is_stray(view: View, node: Node) -> bool:
    anchor = view.pool.anchor
    return node.marked and (anchor is None or not marked_for(node, anchor))


def _is_forgotten(view: View, claim: Claim) -> bool:
    in_flight = claim.state in {ClaimState.PENDING, ClaimState.DRAINING}
    return in_flight and not claim.deleting and not names_claim(view.pool, claim.name, claim.uid)
