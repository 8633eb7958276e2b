"""The Events of what holds of a pool whatever it does: told once for each policy generation.

Owns which they are and their names. That a name is announced once, although every pass says it
again, is the business of :mod:`hooks.cluster.herald`. Source: design/observability.md *Events*,
seed 000 section 5.4, seed 002 section 3.2 *Layer 3*.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hooks.rotation.announcements import about_claim, about_pool
from hooks.rotation.decision import Decision
from hooks.rotation.due import order_key
from hooks.rotation.findings import Code, short_lead
from hooks.rotation.governance import Kind
from hooks.rotation.model import Claim, Policy
from hooks.rotation.outcomes import event_name
from hooks.rotation.reasons import Reason
from hooks.rotation.view import View
from hooks.rotation.writes import Announce

MOST_SHORT: Final = 100
"""How many claims with a short lead are told of at a time; the gauge counts them all."""


def conditions(view: View, decision: Decision, short: list[Claim]) -> tuple[Announce, ...]:
    """What is to be told of a pool, the pool's own first; ``short`` are its claims of a short lead."""
    if view.governance.kind is Kind.CONFLICT:
        return (_tie(view),)
    policy = view.policy
    if policy is None:
        return ()
    return (*_of_pool(view, policy, decision), *_short_leads(view, policy, short))


def _tie(view: View) -> Announce:
    tied = view.governance.names
    policies = [policy for policy in view.obs.policies if policy.name in tied]
    marks = sorted(f"{policy.uid}/{policy.generation}" for policy in policies)
    name = event_name(view.pool.uid, Reason.POLICY_CONFLICT, *marks)
    note = f"nothing is rotated: RotationPolicies {', '.join(tied)} claim this NodePool with"
    note += " selectors of equally many constraints; make one of them more specific"
    return about_pool(view.pool, name, Reason.POLICY_CONFLICT, note, view.now)


def _of_pool(view: View, policy: Policy, decision: Decision) -> Iterator[Announce]:
    told = {finding.code: finding.message for finding in decision.findings
            if finding.severity == "warning"}  # fmt: skip
    if decision.reason is Reason.NO_HEADROOM:
        told.setdefault(Code.NO_HEADROOM, decision.detail or "spec.limits has no room")
    if view.pool.static:
        told[Reason.STATIC_NODE_POOL] = (
            "spec.replicas is set, so no placeholder can bring a successor: only a forceful"
            " fallback may rotate this pool"
        )
    for reason, note in told.items():
        name = _name(view, policy, reason)
        yield about_pool(view.pool, name, reason, note, view.now)


def _short_leads(view: View, policy: Policy, short: list[Claim]) -> tuple[Announce, ...]:
    first = sorted(short, key=order_key)[:MOST_SHORT]
    found = ((claim, short_lead(policy, view.schedule, claim)) for claim in first)
    return tuple(
        about_claim(
            claim,
            _name(view, policy, finding.code, claim.uid),
            finding.code,
            finding.message,
            view.now,
        )
        for claim, finding in found
        if finding is not None
    )


def _name(view: View, policy: Policy, reason: str, of: str = "") -> str:
    return event_name(view.pool.uid, of, reason, policy.uid, str(policy.generation))
