"""The steps of a rotation, as a scenario waits for them.

Owns what is looked for in the history of one world's pool. Leaves to :mod:`.story` what is asked for
and what is left when all is over.
"""

from __future__ import annotations

from collections.abc import Callable

from hooks.verdict.history import Change
from hooks.verdict.questions import (
    ANCHOR,
    POOL_LABEL,
    STATE,
    SURGE_FOR,
    annotation,
    is_leaving,
    label,
)
from tests.scenarios.reports import about, is_report
from tests.scenarios.stage import Object, Stage
from tests.scenarios.world import World


class Steps:
    """The steps of the rotations of one world's pool."""

    def __init__(self, stage: Stage, world: World) -> None:
        """The world has been created."""
        self.stage = stage
        self.world = world
        self.pool = world.name
        self.originals = world.claims()

    def in_turn(self) -> list[str]:
        """The originals in the order in which they are rotated when all are asked for at once.

        They live equally long: the one that was created first goes first, of one second the one whose
        name is first. Names alone don't tell, as Karpenter draws them by lot.
        """
        born = {
            claim: self.world.claim(claim)["metadata"]["creationTimestamp"]
            for claim in self.originals
        }
        return sorted(self.originals, key=lambda claim: (born[claim], claim))

    def anchored(self, claim: str | None = None, after: int = 0) -> Change:
        """The change by which a claim (any, or this one) becomes the pool's anchor."""

        def is_it(change: Change) -> bool:
            anchor = annotation(change.object, ANCHOR) if self.is_pool(change) else None
            return anchor is not None and claim in {None, anchor}

        return self._seen(f"{claim or 'a claim'} is anchored", is_it, after)

    def anchor(self, after: int = 0) -> str:
        """The name of the claim whose rotation has begun."""
        return annotation(self.anchored(after=after).object, ANCHOR) or ""

    def cleared(self, after: int = 0) -> Change:
        """The change after which the pool has no anchor."""

        def is_it(change: Change) -> bool:
            return self.is_pool(change) and annotation(change.object, ANCHOR) is None

        return self._seen("the anchor is cleared", is_it, after)

    def state(self, state: str | None, claim: str | None = None, after: int = 0) -> Change:
        """The change by which a claim (any, or this one) comes into a state of its rotation."""

        def is_it(change: Change) -> bool:
            if not self.is_claim(change, claim) or change.type == "DELETED":
                return False
            return annotation(change.object, STATE) == state

        return self._seen(f"{claim or 'a claim'} is {state}", is_it, after)

    def failed(self, claim: str, after: int = 0) -> Change:
        """The change by which a claim's attempt has failed, once that attempt is over.

        Who lets the next one begin before the anchor is cleared leaves it to chance whether it is ever.
        """
        change = self.state("failed", claim, after)
        self.cleared(after=change.revision)
        return change

    def placeholder(self, phase: str | None = None, after: int = 0) -> Change:
        """The change by which a placeholder of the pool is there, or is in this phase."""

        def is_it(change: Change) -> bool:
            ours = change.kind == "Pod" and change.name.startswith(self._surge_prefix)
            fits = phase is None or change.object.get("status", {}).get("phase") == phase
            return ours and fits and change.type != "DELETED" and not is_leaving(change.object)

        return self._seen(f"the placeholder is {phase or 'there'}", is_it, after)

    def marked(self, node: str) -> Change:
        """The change by which a Node is marked as the host of the placeholder."""

        def is_it(change: Change) -> bool:
            ours = change.kind == "Node" and change.name == node
            return ours and label(change.object, SURGE_FOR) is not None

        return self._seen(f"{node} is marked", is_it)

    def launched(self) -> None:
        """Wait until Karpenter has launched a machine for the placeholder, or has one on its way.

        Whoever gives a surge up before that leaves it to chance whether there is one to be reaped.
        """

        def is_there() -> bool:
            selector = f"{POOL_LABEL}={self.pool}"
            return any(
                map(self._is_on_its_way, self.stage.api.find("NodeClaim", labelSelector=selector))
            )

        self.stage.wait_until("a machine is launched for the placeholder", is_there)

    def up(self) -> None:
        """Wait until the node takes Pods that was brought for a placeholder which isn't there any more.

        Who begins the next attempt before that leaves it to chance whether its placeholder has to wait.
        A Node is Ready before the taints of its beginning are off.
        """
        self.stage.wait_until(
            "the successor is up without a placeholder",
            lambda: len(self.world.initialized_nodes()) > self.world.size,
        )

    def _is_on_its_way(self, claim: Object) -> bool:
        conditions = claim.get("status", {}).get("conditions", ())
        launched = any(one["type"] == "Launched" and one["status"] == "True" for one in conditions)
        return (
            launched and claim["metadata"]["name"] not in self.originals and not is_leaving(claim)
        )

    def no_placeholder(self) -> bool:
        """Whether the pool has none now."""
        pods = self.stage.api.find("Pod", labelSelector="noderotation.io/surge-for")
        return not any(pod["metadata"]["name"].startswith(self._surge_prefix) for pod in pods)

    def deleted(self, claim: str | None = None, after: int = 0) -> Change:
        """The change by which somebody asks for the deletion of a claim."""

        def is_it(change: Change) -> bool:
            return self.is_claim(change, claim) and is_leaving(change.object)

        return self._seen(f"{claim or 'a claim'} is being deleted", is_it, after)

    def gone(self, claim: str) -> Change:
        """The change by which a claim is there no more."""

        def is_it(change: Change) -> bool:
            return self.is_claim(change, claim) and change.type == "DELETED"

        return self._seen(f"{claim} is gone", is_it)

    def reported(self, reason: str, whom: str | None = None, after: int = 0) -> Change:
        """The Event of ours with this reason, about this object."""

        def is_it(change: Change) -> bool:
            return is_report(change, reason) and whom in {None, about(change.object)}

        return self._seen(f"{reason} of {whom or 'anything'}", is_it, after)

    @property
    def _surge_prefix(self) -> str:
        return f"noderotation-surge-{self.pool}-"

    def is_pool(self, change: Change) -> bool:
        """Whether a change is one of the NodePool."""
        return change.kind == "NodePool" and change.name == self.pool

    def is_claim(self, change: Change, claim: str | None) -> bool:
        """Whether a change is one of a claim of the pool (any, or this one)."""
        ours = change.kind == "NodeClaim" and label(change.object, POOL_LABEL) == self.pool
        return ours and claim in {None, change.name}

    def _seen(self, what: str, holds: Callable[[Change], bool], after: int = 0) -> Change:
        return self.stage.wait_for(f"{self.pool}: {what}", holds, after=after)
