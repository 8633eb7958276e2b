"""The whole catalogue."""

from __future__ import annotations

from tests.sync.catalogue import (
    candidates,
    draining,
    endings,
    failures,
    fallback,
    findings,
    gates,
    guards,
    leftovers,
    stuck,
    surging,
    troubles,
)

CASES = (
    gates.CASES
    + candidates.CASES
    + findings.CASES
    + surging.CASES
    + draining.CASES
    + fallback.CASES
    + failures.CASES
    + endings.CASES
    + stuck.CASES
    + guards.CASES
    + leftovers.CASES
    + troubles.CASES
)
