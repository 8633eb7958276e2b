"""What a finding is, and which ones there are: the codes are Event reasons, so they never change.

Owns the vocabulary. Leaves the checks to :mod:`hooks.rotation.feasibility` and
:mod:`hooks.rotation.throughput`. Source: seed 002 section 3.2, design/observability.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

Severity: TypeAlias = Literal["fatal", "warning"]


class Code(StrEnum):
    """Every finding, the fatal ones first, in the order in which they are told."""

    NO_WINDOWS = "NoWindows"
    K_BELOW_ONE = "KBelowOne"
    A_NON_POSITIVE = "ANonPositive"
    OVERRIDE_NON_POSITIVE = "OverrideNonPositive"
    OVERRIDE_G_BELOW_ONE = "OverrideGBelowOne"
    K_BELOW_TWO = "KBelowTwo"
    A_VERY_AGGRESSIVE = "AVeryAggressive"
    TGP_UNSET = "TGPUnset"
    HARD_CAP_EXCEEDED = "HardCapExceeded"
    RETRY_BACKOFF_SHORT = "RetryBackoffShort"
    DRAIN_ESTIMATE_ABOVE_TGP = "DrainEstimateAboveTGP"
    PROVISIONING_ESTIMATE_ABOVE_READY_TIMEOUT = "ProvisioningEstimateAboveReadyTimeout"
    THROUGHPUT_BELOW_ARRIVAL = "ThroughputBelowArrival"
    THROUGHPUT_BURST_SHORTFALL = "ThroughputBurstShortfall"
    ROTATION_SPANS_NEXT_WINDOW = "RotationSpansNextWindow"
    OVERRIDE_G_BELOW_K = "OverrideGBelowK"
    ZONE_NOT_REPLICATED = "ZoneNotReplicated"
    NO_HEADROOM = "NoHeadroom"
    EXCLUSION_SHORTENS_LEAD = "ExclusionShortensLead"
    SHORT_LEAD = "ShortLead"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with the settings, with its figures and what to change."""

    severity: Severity
    code: str
    message: str


def fatal(code: Code, message: str) -> Finding:
    """A finding that blocks every start."""
    return Finding("fatal", code.value, message)


def warning(code: Code, message: str) -> Finding:
    """A finding that blocks nothing."""
    return Finding("warning", code.value, message)


_ORDER: Final = {code.value: place for place, code in enumerate(Code)}


def place(finding: Finding) -> int:
    """What findings are sorted by."""
    return _ORDER[finding.code]
