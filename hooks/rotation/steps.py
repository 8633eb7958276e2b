"""Pieces that several rows of the pass table share: unfreezing, clearing, listing, timing.

Source: design/rotation.md section 3 (notation).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from hooks import names
from hooks.rotation.candidates import near_deadline_hosts
from hooks.rotation.decision import RESYNC, Creation, Listing
from hooks.rotation.durations import format_stamp, shifted
from hooks.rotation.guards import is_leaving
from hooks.rotation.marks import freezing
from hooks.rotation.model import Claim, ClaimState, Node, Pool
from hooks.rotation.reasons import Reason
from hooks.rotation.view import View
from hooks.rotation.writes import ClaimGuard, Freeze, PatchClaim, Unfreeze, Write

NOT_CREATED_AFTER = timedelta(seconds=30)
"""A placeholder that has been listed for this long and still isn't there was refused."""
UNREADABLE_COUNT = 4
"""What an unreadable retry-count counts as: the longest backoff (8 times)."""
HIGHEST_COUNT = 999_999
"""Where counting ends; the backoff's cap is long reached."""

MIRRORED = (names.ACTIVE_ROTATION_STATE, names.DRAINING_AT, names.SURGE_WAIT)


def clear(pool: Pool) -> dict[str, str | None]:
    """CLEAR: one update that removes every rotation-scoped annotation that is there."""
    return {key: None for key in names.CLEARED_AT_THE_END if key in pool.leftovers}


def unmirror(pool: Pool) -> dict[str, str | None]:
    """Steps back before the drain: the mirror and its companions go, the anchor stays."""
    return {key: None for key in MIRRORED if key in pool.leftovers}


def patch(
    view: View, claim: Claim, changes: Mapping[str, str | None], *, anchored: bool = True
) -> PatchClaim:
    """A patch of the claim that rests on the claim as this pass saw it."""
    guard = ClaimGuard(
        pool=view.pool.name,
        anchored=anchored,
        state=claim.state,
        started_at=claim.started_at,
        deleting=claim.deleting,
    )
    return PatchClaim(claim.name, claim.uid, tuple(changes.items()), guard)


def hold(view: View) -> PatchClaim:
    """The claim guard alone, before anything that ends a rotation on what the request says of it.

    CLEAR has a conflict check of the pool only; a claim that has moved on since must stop the pass,
    or a second rotation could begin beside a drain (docs/decisions/0003).
    """
    return patch(view, view.anchored, {})


def attempt_over(state: ClaimState | None, now: datetime) -> dict[str, str | None]:
    """The claim's annotations when an attempt ends in this state."""
    changes: dict[str, str | None] = {names.STATE: state}
    if state is ClaimState.FAILED:
        changes[names.FAILED_AT] = format_stamp(now)
    return changes | {names.STARTED_AT: None, names.SURGE_CLAIM: None}


def unfreeze(view: View) -> tuple[Write, ...]:
    """Unfreezes every Node of this rotation: the related ones, the candidate's, the host's.

    The last two are read live even when no label relates them: a rotation begun by the original
    Go controller has none (design/rotation.md section 5, *End rows*).
    """
    anchor = view.pool.anchor
    if anchor is None:
        return ()
    nodes = list(view.marked_nodes(anchor))
    claim = view.claim
    if claim is not None:
        surge = view.seen(claim.surge_claim)
        if surge is None and claim.surge_claim:
            surge = view.reader.claim(claim.surge_claim)
        nodes += [c.node_name for c in (claim, surge) if c is not None and c.node_name]
    if view.pod is not None and view.pod.node_name:
        nodes.append(view.pod.node_name)
    return tuple(Unfreeze(node, anchor) for node in dict.fromkeys(nodes))


def frozen_writes(view: View, node: str, *, cordon: bool) -> tuple[Write, ...]:
    """A freeze of the Node, unless the request already shows all of it."""
    claim = view.anchored
    related = view.related(node)
    if not node or (related is not None and freezing(related, claim.name, cordon=cordon) is None):
        return ()
    return (Freeze(node, claim.name, cordon=cordon),)


def host_freeze(view: View) -> tuple[Write, ...]:
    """A freeze of the placeholder's host, if it is one that may become the successor."""
    host = successor(view)
    return frozen_writes(view, host.name, cordon=False) if host is not None else ()


def successor(view: View) -> Node | None:
    """The placeholder's host, unless that is the candidate's Node, leaving, or of another pool."""
    host = view.host
    if host is None or _on_bad_host(view):
        return None
    return host if host.labels.get(names.NODEPOOL_LABEL) == view.pool.name else None


def surge_claim_change(view: View) -> dict[str, str | None]:
    """``surge-claim`` as soon as the placeholder's host is known (seed 002 section 3.8)."""
    host = successor(view)
    owner = view.claim_of(host) if host is not None else None
    if owner is None or owner.name in {view.anchored.name, view.anchored.surge_claim}:
        return {}
    return {names.SURGE_CLAIM: owner.name}


def listing(view: View) -> tuple[Listing, Reason]:
    """What row 3 answers about the placeholder, and why."""
    pod = view.pod
    if pod is None:
        return _absent(view)
    if pod.deleting:
        return Listing.NONE, Reason.PLACEHOLDER_LOST
    if pod.phase in {"Succeeded", "Failed"} or _on_bad_host(view):
        return Listing.NONE, Reason.PLACEHOLDER_LOST
    if any(kind == "PodScheduled" and status == "False" for kind, status, _ in pod.conditions):
        return Listing.KEEP, Reason.SURGE_UNSCHEDULABLE
    return Listing.KEEP, Reason.SURGE_PENDING


def _absent(view: View) -> tuple[Listing, Reason]:
    if view.frozen:
        return Listing.NONE, Reason.FROZEN
    # With a surge-claim it was there once: it has been preempted, not refused.
    if view.now <= refused_from(view) or view.anchored.surge_claim is not None:
        return Listing.CREATE, Reason.SURGE_PENDING
    # Without the candidate's Node there is no size for one, and the answer lists none.
    node = view.anchored.node_name
    sized = bool(node) and view.reader.node(node) is not None
    return Listing.CREATE, Reason.SURGE_NOT_CREATED if sized else Reason.CANDIDATE_NODE_GONE


def refused_from(view: View) -> datetime:
    """When a placeholder that still isn't there counts as refused.

    It was listed since the start, unless a freeze lay between, or an answer is remembered that
    listed none: the freeze was lifted early, or the placeholder had to be made again.
    """
    since = [view.started_at or view.now, view.pool.freeze, view.obs.unlisted_at]
    return shifted(max(at for at in since if isinstance(at, datetime)), NOT_CREATED_AFTER)


def _on_bad_host(view: View) -> bool:
    pod = view.pod
    if pod is None or not pod.node_name:
        return False
    host = view.host
    if pod.node_name == view.anchored.node_name or host is None:
        return True
    return is_leaving(host, view.claim_of(host))


def creation(view: View) -> Creation:
    """What the placeholder is made from."""
    claim = view.anchored
    hosts = near_deadline_hosts(view.obs, view.governing, view.schedule, claim.name)
    own = claim.hostname or claim.node_name
    return Creation(claim.name, claim.uid, view.governing, ((own,) if own else ()) + hosts)


def elapsed(since: datetime, now: datetime) -> timedelta:
    """The time since a stamp, in whole seconds: stamps have no finer part, so neither has this."""
    return timedelta(seconds=max(int((now - since).total_seconds()), 0))


def look_again(now: datetime, *edges: datetime | None) -> timedelta:
    """The time to the nearest edge that matters, at least a second and at most RESYNC."""
    ahead = [edge - now for edge in edges if edge is not None and edge > now]
    nearest = min(ahead, default=RESYNC)
    return min(max(nearest, timedelta(seconds=1)), RESYNC)
