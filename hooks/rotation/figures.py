"""What the gauges of a pool show: counted anew at every pass, from its request alone.

Owns the counting. Leaves names and text to :mod:`hooks.telemetry`. Source: design/observability.md
*Metrics*.
"""

from __future__ import annotations

from dataclasses import replace

from hooks.rotation.candidates import is_eligible
from hooks.rotation.decision import Decision, Figures
from hooks.rotation.durations import ZERO
from hooks.rotation.feasibility import is_short_of_lead
from hooks.rotation.governance import Kind
from hooks.rotation.model import Claim, Policy
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import deadline
from hooks.rotation.view import View
from hooks.rotation.windows import next_opening, open_occurrence


def short_leads(view: View) -> list[Claim]:
    """The claims whose own lifetime doesn't leave them the chances that they should have."""
    policy = view.policy
    if policy is None:
        return []
    schedule = view.schedule
    return [claim for claim in view.obs.claims if is_short_of_lead(policy, schedule, claim)]


def figures(view: View, decision: Decision, short: list[Claim]) -> Figures:
    """Count; a pool that no readable policy governs has its state and its deadlines alone to show.

    Without a deadline (Never, or none that can be read) what is derived from it is zero.
    """
    pool, claims = view.pool, view.obs.claims
    ends = (deadline(claim) for claim in claims if not claim.deleting)
    nearest = min((end for end in ends if end is not None), default=None)
    known = Figures(
        in_progress=pool.anchor is not None,
        conflict=view.governance.kind in {Kind.CONFLICT, Kind.INVALID},
        freeze_until=pool.freeze,
        drain_stuck=decision.reason is Reason.DRAIN_STUCK,
        retry_count=max(
            (claim.retry_count for claim in claims if isinstance(claim.retry_count, int)), default=0
        ),
        slack=ZERO if nearest is None else nearest - view.now,
    )
    return known if view.policy is None else _governed(view, view.policy, decision, short, known)


def _governed(
    view: View, policy: Policy, decision: Decision, short: list[Claim], known: Figures
) -> Figures:
    obs, schedule, now = view.obs, view.schedule, view.now
    eligible = decision.eligible
    if eligible is None:
        eligible = sum(is_eligible(obs, policy, schedule, claim) for claim in obs.claims)
    return replace(
        known,
        candidates=eligible,
        window_active=open_occurrence(policy.windows, now) is not None,
        age_threshold=schedule.age_threshold or ZERO,
        chances=schedule.chances or 0,
        capacity=schedule.capacity,
        t_rot_est=schedule.t_rot_est,
        t_rot=schedule.t_rot,
        period=schedule.period,
        short_lead=len(short),
        next_window=next_opening(policy.windows, now),
    )
