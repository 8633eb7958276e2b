"""Keeps a placeholder as small as the node that Karpenter believes it can make.

Karpenter plans with one allocatable per instance type, and real nodes can be a little larger. A
node filled past that figure would give a placeholder that no new node can take. Source: seed 002
section 3.3 *Placeholder sizing clamp*.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from hooks.rotation.model import Quantity, Resources

_NOTHING = Fraction(0)


class ClampOutcome(StrEnum):
    """What the clamp did; everything but NONE is worth telling."""

    NONE = "none"
    CLAMPED = "clamped"
    BAND_EXCEEDED = "bandExceeded"
    """Clamped, by more than this node is larger than planned: something else is wrong too."""
    REFUSED = "refused"
    """No node of this shape has room for anything: the full sum stays, and can't be scheduled."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One resource of which more is wanted than a new node of this shape offers.

    ``band`` is how much more the Node has than its NodeClaim says; None when not both report it.
    """

    resource: str
    wanted: Quantity
    limit: Quantity
    band: Quantity | None = None

    @property
    def shortfall(self) -> Quantity:
        """How much of the wanted amount the placeholder doesn't reserve."""
        return self.wanted - self.limit

    @property
    def exceeds_band(self) -> bool:
        """Whether the difference between Node and NodeClaim can't explain the shortfall."""
        return self.band is None or self.shortfall > self.band


@dataclass(frozen=True, slots=True)
class Clamp:
    """The outcome and its figures, by resource name; no cuts when everything fits."""

    outcome: ClampOutcome = ClampOutcome.NONE
    cuts: tuple[Cut, ...] = ()


def clamp(
    wanted: Resources,
    daemons: Resources,
    planned: Resources | None,
    actual: Resources | None,
) -> tuple[Resources, Clamp]:
    """Cut ``wanted`` to what Karpenter plans for such a node, less its DaemonSets.

    ``planned`` is the NodeClaim's allocatable and ``actual`` the Node's. A resource that the
    NodeClaim doesn't report has no known bound and stays as it is, and so does everything when it
    reports none. Refused as a whole when a wanted resource has no room at all: a placeholder
    without it would fit anywhere and reserve nothing.
    """
    cuts = tuple(
        cut for name in sorted(wanted) if (cut := _cut(name, wanted, daemons, planned, actual))
    )
    if not cuts:
        return wanted, Clamp()
    if any(cut.limit == _NOTHING for cut in cuts):
        return wanted, Clamp(ClampOutcome.REFUSED, cuts)
    exceeded = any(cut.exceeds_band for cut in cuts)
    outcome = ClampOutcome.BAND_EXCEEDED if exceeded else ClampOutcome.CLAMPED
    return {**wanted, **{cut.resource: cut.limit for cut in cuts}}, Clamp(outcome, cuts)


def _cut(
    name: str,
    wanted: Resources,
    daemons: Resources,
    planned: Resources | None,
    actual: Resources | None,
) -> Cut | None:
    if planned is None or name not in planned:
        return None
    limit = max(planned[name] - daemons.get(name, _NOTHING), _NOTHING)
    if wanted[name] <= limit:
        return None
    real = (actual or {}).get(name)
    band = None if real is None else real - planned[name]
    return Cut(name, wanted[name], limit, band)
