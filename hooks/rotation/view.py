"""One pass's observation with the questions that the pass table asks of it.

Everything derived is computed at most once, and live reads only when a row really asks.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import cast

from hooks.rotation import placeholder
from hooks.rotation.findings import Finding, fatal_findings
from hooks.rotation.gates import Gate, shut_gate
from hooks.rotation.governance import Governance, govern
from hooks.rotation.guards import (
    delete_guard,
    is_frozen,
    is_overdue,
    names_claim,
    surge_ready,
)
from hooks.rotation.marks import marked_for
from hooks.rotation.model import Claim, ClaimState, Malformed, Mode, Node, Observation, Pod, Policy
from hooks.rotation.reader import Reader
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import Schedule, derive
from hooks.rotation.writes import DeleteCandidate

MAX_AHEAD = timedelta(minutes=5)
"""A started-at further ahead of the clock than this is no skew but unreadable."""


class View:
    """What the rows see. ``reader`` answers live; all else is the request."""

    def __init__(self, obs: Observation, reader: Reader) -> None:
        self.obs = obs
        self.pool = obs.pool
        self.now = obs.now
        self.reader = reader

    @cached_property
    def governance(self) -> Governance:
        """Who governs the pool, or why nobody does."""
        return govern(self.obs.policies, self.pool.labels)

    @property
    def policy(self) -> Policy | None:
        """The governing policy, if it can be read."""
        return self.governance.policy

    @cached_property
    def governing(self) -> Policy:
        """The governing policy, where a row has established that there is one."""
        # Row 17 stands before every row that asks, and so does the gate of a start.
        return cast("Policy", self.policy)

    @cached_property
    def schedule(self) -> Schedule:
        """The derived figures of the pool under its policy."""
        return derive(self.governing, self.pool, self.now)

    @cached_property
    def fatal(self) -> tuple[Finding, ...]:
        """The findings that block starts."""
        return fatal_findings(self.governing, self.pool, self.schedule)

    @cached_property
    def gate(self) -> Gate | None:
        """The first start gate that is shut."""
        return shut_gate(self.obs, self.governing, self.fatal)

    @cached_property
    def _seen(self) -> dict[str, Claim]:
        return {claim.name: claim for claim in self.obs.claims}

    def seen(self, name: str | None) -> Claim | None:
        """The claim of that name in the request."""
        return self._seen.get(name) if name else None

    @cached_property
    def claim(self) -> Claim | None:
        """The anchored claim: as in the request, else live; None without an anchor or when gone."""
        name = self.pool.anchor
        if name is None:
            return None
        seen = self.seen(name)
        if seen is not None and names_claim(self.pool, name, seen.uid):
            return seen
        live = self.reader.claim(name)
        if live is None or not names_claim(self.pool, name, live.uid):
            return None
        # By name alone an anchor can only mean a claim of its own pool.
        return live if self.pool.anchor_uid or live.pool == self.pool.name else None

    @property
    def gone(self) -> bool:
        """Whether the anchored claim is gone (live 404, or another UID)."""
        return self.pool.anchor is not None and self.claim is None

    @property
    def anchored(self) -> Claim:
        """The anchored claim, where a row has established that it is there."""
        # Rows 9 and 10 stand before every row that asks.
        return cast("Claim", self.claim)

    def is_state(self, *states: ClaimState | None) -> bool:
        """Whether the anchored claim is there and in one of these states."""
        return self.claim is not None and self.claim.state in states

    @property
    def surging(self) -> bool:
        """Whether the mode is surge (the default)."""
        return self.pool.mode is Mode.SURGE

    @cached_property
    def frozen(self) -> bool:
        """Whether a freeze holds."""
        return is_frozen(self.pool, self.now)

    @property
    def aborted(self) -> bool:
        """Whether an operator asked to roll this rotation back."""
        return self.pool.abort is not None and self.pool.abort == self.pool.anchor

    @property
    def started_at(self) -> datetime | None:
        """When the attempt began, if that is readable and not absurdly ahead."""
        stamp = self.anchored.started_at
        if stamp is None or isinstance(stamp, Malformed) or stamp - self.now > MAX_AHEAD:
            return None
        return stamp

    @property
    def overdue(self) -> bool:
        """Whether the attempt has outlasted readyTimeout."""
        return is_overdue(self.governing, self.started_at, self.now)

    @cached_property
    def pod(self) -> Pod | None:
        """The placeholder of the anchored claim, as the request shows it."""
        anchor = self.pool.anchor
        name = placeholder.name_of(anchor) if anchor is not None else None
        return next((pod for pod in self.obs.placeholders if pod.name == name), None)

    @property
    def runs(self) -> bool:
        """Whether the request shows the placeholder running, so that a live look is worth it."""
        return self.pod is not None and self.pod.phase == "Running" and not self.pod.deleting

    @cached_property
    def unready(self) -> Reason | None:
        """Why the successor is not ready, read live; None when it is."""
        return surge_ready(self.reader, self.pool.name, self.anchored)

    def deletion(self) -> DeleteCandidate:
        """The guarded delete of the anchored claim, as this pass sees it."""
        claim = self.anchored
        return DeleteCandidate(
            pool=self.pool.name,
            claim=claim.name,
            uid=claim.uid,
            mode=self.pool.mode,
            policy=self.governing,
            suspended=self.obs.suspended,
            now=self.now,
        )

    @cached_property
    def refusal(self) -> Reason | None:
        """What the delete guard says to this pass; None: go ahead."""
        return delete_guard(self.reader, self.deletion())[0]

    @cached_property
    def host(self) -> Node | None:
        """The Node under the placeholder: among the related ones, else live; None when gone."""
        if self.pod is None or not self.pod.node_name:
            return None
        return self.related(self.pod.node_name) or self.reader.node(self.pod.node_name)

    def related(self, name: str) -> Node | None:
        """The Node of that name among those with our label."""
        return next((node for node in self.obs.nodes if node.name == name), None)

    def marked_nodes(self, claim: str) -> tuple[str, ...]:
        """Names of the related Nodes that carry our marks for this claim."""
        return tuple(
            node.name for node in self.obs.nodes if node.marked and marked_for(node, claim)
        )

    def claim_of(self, host: Node) -> Claim | None:
        """The NodeClaim of a Node, as far as the request knows it."""
        owner = self.seen(host.owner_claim)
        return owner or next((c for c in self.obs.claims if c.node_name == host.name), None)
