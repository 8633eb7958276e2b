"""The answer of a pass, made after its writes have landed: the one place that builds a placeholder.

Source: design/rotation.md sections 1 and 3 (*Create guard*, *Stop*).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hooks.rotation import placeholder
from hooks.rotation.announcements import clamped
from hooks.rotation.clamp import ClampOutcome
from hooks.rotation.decision import SOON, Creation, Decision, Listing, Report, Value, stop
from hooks.rotation.guards import create_guard
from hooks.rotation.model import Observation
from hooks.rotation.quantity import format_quantity
from hooks.rotation.reader import Reader
from hooks.rotation.reasons import Reason


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A decision with its attachments as the answer lists them."""

    decision: Decision
    attachments: tuple[Mapping[str, object], ...] = ()

    def beyond(self, decision: Decision) -> Decision:
        """This decision with that alone to tell that ``decision`` did not have yet."""
        mine = self.decision
        return replace(
            mine,
            writes=(),
            reports=tuple(r for r in mine.reports if r not in decision.reports),
            announcements=tuple(a for a in mine.announcements if a not in decision.announcements),
        )


def conclude(obs: Observation, decision: Decision, reader: Reader) -> Conclusion:
    """Turns what a decision says of the placeholder into attachments.

    A kept one is listed by name alone: with the method OnDelete nothing else of it is looked at.
    A new one is sized from the Pods that are on the candidate's Node now, after the cordon, and
    only if the create guard, read live, lets it; otherwise the pass stops.
    """
    if decision.listing is Listing.KEEP:
        return Conclusion(decision, _kept(obs))
    if decision.listing is not Listing.CREATE or decision.creation is None:
        return Conclusion(decision)
    return _created(obs, decision, decision.creation, reader)


def _kept(obs: Observation) -> tuple[Mapping[str, object], ...]:
    anchor = obs.pool.anchor
    name = placeholder.name_of(anchor) if anchor is not None else None
    return tuple(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
        }
        for pod in obs.placeholders
        if pod.name == name and not pod.deleting
    )


def _created(
    obs: Observation, decision: Decision, creation: Creation, reader: Reader
) -> Conclusion:
    pool, claim = reader.pool(obs.pool.name), reader.claim(creation.claim)
    refusal = create_guard(pool, claim, creation.claim, creation.uid)
    if refusal is not None or pool is None or claim is None:
        stopped = stop(refusal or Reason.CLAIM_GONE, creation.claim)
        return Conclusion(stopped, _kept(obs))
    node = reader.node(claim.node_name) if claim.node_name else None
    if node is None:
        held = replace(decision, reason=Reason.CANDIDATE_NODE_GONE, look_again=SOON)
        return Conclusion(held)
    built = placeholder.build(
        pool,
        creation.policy,
        claim,
        node,
        reader.pods_on(node.name),
        creation.near_deadline_hosts,
        namespace=obs.namespace,
        image=obs.image,
    )
    clamps = clamped(pool, claim, built.clamped, obs.now)
    whole = replace(
        decision,
        reports=(*decision.reports, _report(built, f"{claim.uid} {claim.started_at}")),
        announcements=(*clamps, *decision.announcements),
    )
    return Conclusion(whole, (built.manifest,))


def _report(built: placeholder.Placeholder, attempt: str) -> Report:
    requests = ",".join(f"{k}={format_quantity(v)}" for k, v in sorted(built.requests.items()))
    fields: list[tuple[str, Value]] = [("requests", requests)]
    fields.append(("pods", built.census.counted))
    fields.append(("skipped", dict(built.census.skipped)))
    if built.clamped.outcome is not ClampOutcome.NONE:
        fields.append(("clamp", built.clamped.outcome.value))
    if built.given_up:
        fields.append(("given_up", ",".join(built.given_up)))
    return Report("placeholder created", tuple(fields), on_change=True, about=attempt)
