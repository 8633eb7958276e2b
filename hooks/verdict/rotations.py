"""What a history says about each rotation of a pool: who, when, and how long each part took.

Owns reading rotations off the changes, and the medians. Leaves the judgement to :mod:`.checks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from hooks.verdict.history import Change, Moment, replay
from hooks.verdict.questions import (
    ANCHOR,
    annotation,
    claim_of,
    host_of,
    is_cordoned_for,
    is_leaving,
    missing_successor,
    node_of,
    placeholders,
)


@dataclass(slots=True)
class Rotation:
    """One rotation, from its anchor on; what hasn't happened (yet) is None."""

    claim: str
    node: str
    anchored: Change
    cordoned: Change | None = None
    placeholder: Change | None = None
    ready: Change | None = None
    """The first change after which the successor was up."""
    successor: str = ""
    """The NodeClaim of the Node that was up then."""
    held: Change | None = None
    """The change after which a successor was up without a break, until the delete."""
    host: str = ""
    """The NodeClaim of that successor's Node."""
    deleted: Change | None = None
    gone: Change | None = None
    cleared: Change | None = None


def rotations(changes: Sequence[Change], pool: str) -> list[Rotation]:
    """All rotations of a pool, in their order."""
    found: list[Rotation] = []
    for moment in replay(changes):
        change = moment.change
        if change.kind == "NodePool" and change.name == pool:
            _follow_anchor(found, moment)
        elif found:
            _follow(found[-1], moment, pool)
    return found


def _follow_anchor(found: list[Rotation], moment: Moment) -> None:
    anchor = annotation(moment.change.object, ANCHOR)
    if anchor == annotation(moment.before, ANCHOR):
        return
    if found and found[-1].cleared is None:
        found[-1].cleared = moment.change
    if anchor is not None:
        candidate = moment.world["NodeClaim"].get(("", anchor), {})
        found.append(Rotation(anchor, node_of(candidate), moment.change))


def _follow(rotation: Rotation, moment: Moment, pool: str) -> None:
    change, claim = moment.change, rotation.claim
    if change.kind == "NodeClaim" and change.name == claim:
        _follow_claim(rotation, change)
    elif change.kind == "Node" and change.name == rotation.node and rotation.cordoned is None:
        rotation.cordoned = change if is_cordoned_for(change.object, claim) else None
    elif change.kind == "Pod" and rotation.placeholder is None:
        rotation.placeholder = change if any(placeholders(moment.world, claim)) else None
    if rotation.placeholder is not None and None in (rotation.ready, rotation.deleted):
        _follow_successor(rotation, moment, pool)


def _follow_successor(rotation: Rotation, moment: Moment, pool: str) -> None:
    host = host_of(moment.world, rotation.claim)
    missing = missing_successor(moment.world, pool, rotation.claim, rotation.node)
    up = "" if host is None or missing else claim_of(moment.world, host["metadata"]["name"])
    if up and rotation.ready is None:
        rotation.ready, rotation.successor = moment.change, up
    if rotation.deleted is None and up != rotation.host:
        rotation.held, rotation.host = (moment.change, up) if up else (None, "")


def _follow_claim(rotation: Rotation, change: Change) -> None:
    if rotation.deleted is None and is_leaving(change.object):
        rotation.deleted = change
    if change.type == "DELETED":
        rotation.gone = change


@dataclass(frozen=True, slots=True)
class Medians:
    """Median seconds: of whole rotations, of Karpenter's part, and of the three parts of ours."""

    whole: float
    karpenter: float
    anchor_to_cordon: float
    ready_to_delete: float
    gone_to_next_anchor: float

    @property
    def own(self) -> float:
        """Our own share: hook and controller together."""
        return self.anchor_to_cordon + self.ready_to_delete + self.gone_to_next_anchor

    def describe(self) -> str:
        """One line for people."""
        return (
            f"medians: a whole rotation {self.whole:.1f} s, Karpenter's own part {self.karpenter:.1f} s; "
            f"our share {self.own:.3f} s (anchor to cordon {self.anchor_to_cordon:.3f}, "
            f"ready to delete {self.ready_to_delete:.3f}, gone to next anchor {self.gone_to_next_anchor:.3f})"
        )


def medians(found: Sequence[Rotation]) -> Medians:
    """The medians over finished rotations; raises ``statistics.StatisticsError`` without any."""
    whole = [_between(one.anchored, one.cleared) for one in found]
    cordon = [_between(one.anchored, one.cordoned) for one in found]
    delete = [_between(one.ready, one.deleted) for one in found]
    following = [_between(one.gone, after.anchored) for one, after in pairwise(found)]
    # From the cordon to the successor, and from the delete to the end of the claim.
    karpenter = [
        _between(one.cordoned, one.ready) + _between(one.deleted, one.gone) for one in found
    ]
    return Medians(*map(median, (whole, karpenter, cordon, delete, following)))


def _between(earlier: Change | None, later: Change | None) -> float:
    if earlier is None or later is None:
        message = "only a rotation that went through all its steps can be measured"
        raise ValueError(message)
    return later.at - earlier.at
