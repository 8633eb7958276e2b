"""Sends the writes of a pass, in order, each guarded by what is so at that moment.

Owns the guarding reads, the retries on conflict, and the one ``match`` over the kinds of writes.
The first write whose guard refuses ends the pass. What may be written is decided in
:mod:`hooks.rotation`; Events are :mod:`hooks.cluster.herald`'s. Source: design/rotation.md sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from hooks.cluster.errors import Conflict, NotFound
from hooks.cluster.herald import Herald
from hooks.cluster.patches import amend
from hooks.cluster.reader import LiveReader, reading
from hooks.cluster.verbs import Api
from hooks.protocol.core import node_of
from hooks.protocol.karpenter import claim_of
from hooks.rotation.guards import claim_guard, delete_guard, reap_victim
from hooks.rotation.marks import NodeChange, freezing, unfreezing
from hooks.rotation.model import Node
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import (
    Announce,
    DeleteCandidate,
    Freeze,
    PatchClaim,
    Reap,
    Unfreeze,
    Write,
)

ATTEMPTS: Final = 4
"""A conflicting patch is computed again on the live object three times at most."""

_Change: TypeAlias = Callable[[Node], NodeChange | None]


class Applier:
    """Applies writes through one API view, whose deadline no write may outlive."""

    def __init__(self, api: Api, reader: LiveReader, herald: Herald) -> None:
        self._api = api
        self._reader = reader
        self._herald = herald

    def apply(self, writes: Sequence[Write]) -> Reason | None:
        """Send the writes until one refuses, and return why it did; None when all have landed.

        Errors: ClusterError; the writes before the failing one have landed.
        """
        for write in writes:
            refusal = self._send(write)
            if refusal is not None:
                return refusal
        return None

    def _send(self, write: Write) -> Reason | None:
        match write:
            case PatchClaim():
                return self._patch_claim(write)
            case Freeze(node, claim, cordon):
                return self._patch_node(node, lambda n: freezing(n, claim, cordon=cordon))
            case Unfreeze(node, claim):
                return self._patch_node(node, lambda n: _release(n, claim))
            case DeleteCandidate():
                return self._delete(write)
            case Reap():
                return self._reap(write)
            case Announce():
                self._herald.announce(write)
                return None

    def _patch_claim(self, write: PatchClaim) -> Reason | None:
        for _ in range(ATTEMPTS):
            pool = self._reader.pool(write.guard.pool)
            live = self._api.get_nodeclaim(write.claim)
            claim = reading(claim_of, f"NodeClaim {write.claim}", live) if live else None
            refusal = claim_guard(write.guard, write.claim, write.uid, pool, claim)
            if refusal is not None or live is None:
                return refusal or Reason.CLAIM_GONE
            operations = amend(live, annotations=dict(write.changes))
            if not operations:
                return None
            try:
                self._api.patch_nodeclaim(write.claim, operations)
            except NotFound:
                return Reason.CLAIM_GONE
            except Conflict:
                continue
            return None
        return Reason.CONFLICT

    def _patch_node(self, name: str, change: _Change) -> Reason | None:
        for _ in range(ATTEMPTS):
            live = self._api.get_node(name)
            wanted = change(reading(node_of, f"Node {name}", live)) if live is not None else None
            # A Node that is gone needs nothing, and neither does one that is as it should be.
            if live is None or wanted is None:
                return None
            operations = amend(
                live,
                annotations=wanted.annotations,
                labels=wanted.labels,
                unschedulable=wanted.unschedulable,
            )
            try:
                self._api.patch_node(name, operations)
            except NotFound:
                return None
            except Conflict:
                continue
            return None
        return Reason.CONFLICT

    def _delete(self, write: DeleteCandidate) -> Reason | None:
        refusal, claim = delete_guard(self._reader, write)
        if refusal is not None or claim is None:
            return refusal or Reason.CLAIM_GONE
        try:
            self._api.delete_nodeclaim(
                claim.name, uid=claim.uid, resource_version=claim.resource_version
            )
        except NotFound:
            return Reason.CLAIM_GONE
        except Conflict:
            return Reason.CONFLICT
        return None

    def _reap(self, write: Reap) -> Reason | None:
        victim = reap_victim(self._reader, write)
        if victim is None:
            return None
        try:
            self._api.delete_nodeclaim(
                victim.name, uid=victim.uid, resource_version=victim.resource_version
            )
        except (NotFound, Conflict):
            # In doubt, don't reap: an empty node is Karpenter's to consolidate.
            return None
        return None


def _release(node: Node, claim: str) -> NodeChange | None:
    if node.surge_for is not None and node.surge_for != claim:
        return None
    return unfreezing(node)
