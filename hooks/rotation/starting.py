"""The rows without an anchor: 1 and 2, and the many reasons why nothing starts.

Source: design/rotation.md section 3, seed 000 section 5.2 *Start gates* and *Candidate selection*.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from hooks import names
from hooks.rotation import placeholder
from hooks.rotation.candidates import Selection, is_backing_off, select
from hooks.rotation.decision import Decision, Report, Value
from hooks.rotation.due import next_gate_edge
from hooks.rotation.durations import format_stamp
from hooks.rotation.endings import NOT_GOVERNED
from hooks.rotation.findings import Finding, findings
from hooks.rotation.gates import Gate
from hooks.rotation.governance import Governance
from hooks.rotation.guards import fallback_applies
from hooks.rotation.headroom import headroom
from hooks.rotation.model import Claim, Mode, Node
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import deadline
from hooks.rotation.steps import clear, look_again
from hooks.rotation.view import View

MENDABLE: Final = frozenset(
    {
        Reason.POLICY_CONFLICT,
        Reason.POLICY_INVALID,
        Reason.FATAL_FINDING,
        Reason.MALFORMED_STATE,
        Reason.STATIC_NODE_POOL,
        Reason.NO_HEADROOM,
    }
)
"""Reasons why nothing starts that wait for somebody to change something."""


def short_of(view: View, claim: Claim, node: Node | None) -> tuple[str, ...]:
    """The limited resources that have no room for the candidate's placeholder; () when it fits.

    Reads live what the size rests on, and only when the pool is limited at all.
    """
    if not view.pool.limits:
        return ()
    live = view.reader.claim(claim.name)
    host = node or view.reader.node(claim.node_name)
    if live is None or host is None:
        return ()
    built = placeholder.build(
        view.pool,
        view.governing,
        live,
        host,
        view.reader.pods_on(claim.node_name),
        (),
        namespace=view.obs.namespace,
        image=view.obs.image,
    )
    return headroom(view.pool, built.requests)


def may_retry(view: View) -> bool:
    """Row 14: whether the anchored failed claim may try again now."""
    claim = view.anchored
    if view.pool.static or view.gate is not None or is_backing_off(view.governing, claim, view.now):
        return False
    return not short_of(view, claim, None)


class Start:
    """What a pool without an anchor could start; a row asks only for what it needs."""

    def __init__(self, view: View) -> None:
        self.view = view

    @cached_property
    def gate(self) -> Gate | None:
        """Why the pool may not start anything; dryRun is judged last, on what it would start."""
        view = self.view
        if view.policy is None:
            kind = view.governance.kind
            return Gate(NOT_GOVERNED[kind], detail=_whose(view.governance))
        return view.gate

    @cached_property
    def selection(self) -> Selection:
        """The candidate, if the gates let one start (a dry run looks for one too)."""
        if self.gate is not None and self.gate.reason is not Reason.DRY_RUN:
            return Selection()
        view = self.view
        return select(view.obs, view.governing, view.schedule, view.reader)

    @cached_property
    def mode(self) -> Mode:
        """How the candidate would be replaced."""
        view, claim = self.view, self.selection.claim
        late = claim is not None and fallback_applies(view.governing, claim, view.now)
        return Mode.FALLBACK if late else Mode.SURGE

    @cached_property
    def obstacle(self) -> tuple[Reason, str] | None:
        """What keeps the chosen candidate's surge from starting."""
        claim = self.selection.claim
        if claim is None or self.mode is Mode.FALLBACK:
            return None
        if self.view.pool.static:
            return Reason.STATIC_NODE_POOL, "spec.replicas is set: only a fallback may rotate it"
        short = short_of(self.view, claim, self.selection.node)
        if not short:
            return None
        return Reason.NO_HEADROOM, "spec.limits has no room for: " + ", ".join(short)

    @property
    def chosen(self) -> Claim | None:
        """The claim whose rotation starts in this pass."""
        held = self.gate is not None or self.obstacle is not None
        return None if held else self.selection.claim


def _whose(governance: Governance) -> str:
    """The policies that claim the pool, and what is wrong with an unreadable one."""
    problems = "; ".join(f"{where}: {what}" for where, what in governance.problems)
    return ", ".join(governance.names) + (f" ({problems})" if problems else "")


def start(pass_start: Start, claim: Claim) -> Decision:
    """Rows 1 and 2: the anchor, written alone; for a fallback with its mode and mirror."""
    view = pass_start.view
    anchor: dict[str, str | None] = {
        names.ACTIVE_ROTATION: claim.name,
        names.ACTIVE_ROTATION_UID: claim.uid,
    }
    fallback = pass_start.mode is Mode.FALLBACK
    if fallback:
        anchor |= {
            names.ROTATION_MODE: names.FORCEFUL_FALLBACK,
            names.ACTIVE_ROTATION_STATE: names.DRAINING,
            names.DRAINING_AT: format_stamp(view.now),
        }
    return Decision(
        "2" if fallback else "1",
        Reason.FORCEFUL_FALLBACK if fallback else Reason.ROTATION_STARTED,
        claim=claim.name,
        annotations=clear(view.pool) | anchor,
        census=pass_start.selection.census,
        opted_out=pass_start.selection.opted_out,
        eligible=pass_start.selection.eligible,
        findings=_findings(view),
    )


def idle(pass_start: Start) -> Decision:
    """No anchor, and nothing starts: the first reason why, and when to look again."""
    view, gate, selection = pass_start.view, pass_start.gate, pass_start.selection
    reason, detail = _why(pass_start)
    edges = [selection.edge]
    if gate is not None:
        edges.append(gate.until)
    if view.policy is not None:
        edges.append(next_gate_edge(view.policy, view.now))
    fields: list[tuple[str, Value]] = [("why", reason.value)]
    if detail:
        fields.append(("detail", detail))
    if selection.census:
        fields.append(("passed_over", dict(selection.census)))
    line = Report("no candidate", tuple(fields), on_change=True, warning=reason in MENDABLE)
    return Decision(
        "idle",
        reason,
        detail=detail,
        claim=selection.claim.name if selection.claim is not None else None,
        annotations=clear(view.pool),
        look_again=look_again(view.now, *edges),
        # A census in parts would be another one at each pass; the one that ends it tells.
        reports=() if selection.partial else (line,),
        census=selection.census,
        opted_out=selection.opted_out,
        eligible=selection.eligible,
        findings=_findings(view),
    )


def _why(pass_start: Start) -> tuple[Reason, str]:
    gate, claim = pass_start.gate, pass_start.selection.claim
    if gate is not None and gate.reason is not Reason.DRY_RUN:
        return gate.reason, gate.detail
    if claim is None:
        return Reason.NO_CANDIDATE, ""
    if pass_start.obstacle is not None:
        return pass_start.obstacle
    return Reason.DRY_RUN, _would(pass_start, claim)


def _would(pass_start: Start, claim: Claim) -> str:
    due = deadline(claim)
    by = f", deadline {format_stamp(due)}" if due is not None else ""
    # Nothing here may change by the mere passing of time: it is told on change.
    since = f"created {format_stamp(claim.created)}"
    return f"would rotate {claim.name} ({pass_start.mode.value}), {since}{by}"


def _findings(view: View) -> tuple[Finding, ...]:
    if view.policy is None:
        return ()
    return findings(view.policy, view.pool, view.obs.claims, view.schedule, view.now)
