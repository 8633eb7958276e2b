"""The judgement of ``noderotation check``: which policy governs which pool, and what is wrong there.

Owns the assembling. Leaves the findings to :mod:`hooks.rotation.findings` and their looks to
:mod:`hooks.cli.judgement`. Source: seed 002 section 3.2, seed 000 section 5.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hooks.cli.inputs import Inputs
from hooks.rotation.feasibility import listed
from hooks.rotation.findings import Finding, findings, policy_findings, short_lead
from hooks.rotation.governance import Governance, Kind, govern, matches
from hooks.rotation.model import BrokenPolicy, Claim, Malformed, Policy, Pool, Span
from hooks.rotation.schedule import Schedule, derive

POLICY_INVALID: Final = "PolicyInvalid"
POLICY_CONFLICT: Final = "PolicyConflict"
NODEPOOL_INVALID: Final = "NodePoolInvalid"
STATIC_NODEPOOL: Final = "StaticNodePool"
POLICY_UNUSED: Final = "PolicyUnused"


@dataclass(frozen=True, slots=True)
class Row:
    """A finding with what it is about."""

    finding: Finding
    policy: str | None = None
    pool: str | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """A governed pool and its derived figures."""

    pool: str
    policy: str
    schedule: Schedule
    wanted: int
    """K."""


@dataclass(slots=True)
class Judgement:
    """Everything that ``check`` has to say."""

    rows: list[Row] = field(default_factory=list)
    figures: list[Figures] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_fatal(self) -> bool:
        """Whether something keeps a pool from being rotated."""
        return any(row.finding.severity == "fatal" for row in self.rows)


def judge(inputs: Inputs, now: datetime) -> Judgement:
    """Judge all policies, pools and claims, in the order of their names."""
    made = Judgement(notes=list(inputs.notes))
    for policy in inputs.policies:
        if isinstance(policy, BrokenPolicy):
            made.rows += _invalid(policy)
    used: set[str] = set()
    for pool in inputs.pools:
        governance = govern(inputs.policies, pool.labels)
        used.update(governance.names)
        if governance.policy is None:
            _not_governed(made, pool, governance)
        else:
            claims = tuple(claim for claim in inputs.claims if claim.pool == pool.name)
            _governed(made, governance.policy, pool, claims, now)
    for policy in inputs.policies:
        if isinstance(policy, Policy) and policy.name not in used:
            made.rows += [Row(found, policy.name) for found in policy_findings(policy, now)]
            _unused(made, policy, inputs)
    made.notes += _strays(inputs)
    return made


def _invalid(policy: BrokenPolicy) -> Iterator[Row]:
    for path, problem in policy.problems:
        yield Row(Finding("fatal", POLICY_INVALID, f"{path} {problem}"), policy.name)


def _not_governed(made: Judgement, pool: Pool, governance: Governance) -> None:
    policies = " and ".join(governance.names)
    if governance.kind is Kind.CONFLICT:
        message = (
            f"policies {policies} select it with equally many constraints, so it isn't rotated: "
            "make one selector more specific, or keep them apart"
        )
        made.rows.append(Row(Finding("fatal", POLICY_CONFLICT, message), None, pool.name))
    elif governance.kind is Kind.INVALID:
        made.notes.append(f"NodePool {pool.name}: its policy {policies} is invalid")
    else:
        made.notes.append(f"NodePool {pool.name}: no policy selects it, so it isn't rotated")


def _governed(
    made: Judgement, policy: Policy, pool: Pool, claims: tuple[Claim, ...], now: datetime
) -> None:
    if policy.suspend:
        made.notes.append(f"NodePool {pool.name}: {policy.name} is suspended, so nothing starts")
    if policy.dry_run:
        made.notes.append(f"NodePool {pool.name}: {policy.name} is a dry run, so nothing starts")
    schedule = derive(policy, pool, now)
    made.figures.append(Figures(pool.name, policy.name, schedule, policy.chances))
    found = [
        *_unreadable(pool),
        *findings(policy, pool, claims, schedule, now),
        *_static(policy, pool),
    ]
    if not any(finding.severity == "fatal" for finding in found):
        found += _short_leads(policy, schedule, claims)
    made.rows += [Row(finding, policy.name, pool.name) for finding in found]


def _unreadable(pool: Pool) -> Iterator[Finding]:
    spans: tuple[tuple[str, Span], ...] = (
        ("expireAfter", pool.expire_after),
        ("terminationGracePeriod", pool.termination_grace_period),
    )
    for name, span in spans:
        if isinstance(span, Malformed):
            yield Finding(
                "fatal",
                NODEPOOL_INVALID,
                f"spec.template.spec.{name} {span.text[:64]!r} isn't a duration: "
                "write one such as 336h, days as hours",
            )


def _static(policy: Policy, pool: Pool) -> Iterator[Finding]:
    if pool.static and not policy.fallback:
        yield Finding(
            "warning",
            STATIC_NODEPOOL,
            "a static NodePool (spec.replicas) can't surge, so nothing rotates it: enable "
            "surge.forcefulFallback, or leave it to expireAfter",
        )


def _short_leads(
    policy: Policy, schedule: Schedule, claims: tuple[Claim, ...]
) -> Iterator[Finding]:
    """All short leads of a pool as one finding: a thousand lines would help nobody."""
    short = [
        (claim.name, found)
        for claim in claims
        if (found := short_lead(policy, schedule, claim)) is not None
    ]
    if len(short) == 1:
        yield short[0][1]
    elif short:
        yield Finding(
            "warning",
            short[0][1].code,
            f"{len(short)} NodeClaims have a short lead ({listed([name for name, _ in short])}); "
            f"the first: {short[0][1].message}",
        )


def _unused(made: Judgement, policy: Policy, inputs: Inputs) -> None:
    if not inputs.pools:
        made.notes.append(
            f"policy {policy.name}: without a NodePool neither A nor C can be derived; "
            "give its file too"
        )
        return
    if any(matches(policy.selector, pool.labels) for pool in inputs.pools):
        made.notes.append(f"policy {policy.name}: governs none of the NodePools")
        return
    message = (
        "its nodePoolSelector matches none of the NodePools: it is compared with the labels of the "
        "NodePool itself (metadata.labels), not with those of its nodes"
    )
    made.rows.append(Row(Finding("warning", POLICY_UNUSED, message), policy.name))


def _strays(inputs: Inputs) -> Iterator[str]:
    pools = {pool.name for pool in inputs.pools}
    strays = [claim.name for claim in inputs.claims if claim.pool not in pools]
    if strays:
        yield f"{len(strays)} NodeClaims belong to no NodePool here: {listed(strays)}"
