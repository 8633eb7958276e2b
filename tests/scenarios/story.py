"""How the rotation of one world's pool goes on, as a scenario tells and watches it.

Owns asking for rotations, waiting for their end, and what the history says of them. Leaves waiting
for their steps to :mod:`.steps`, and the judgement of whole histories to :mod:`hooks.verdict`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from hooks.verdict.case import Case, Check, OperatorMark
from hooks.verdict.checks import ALWAYS, AT_THE_END, IN_THEIR_TIME, violations
from hooks.verdict.course import all_replaced, one_new_node_each
from hooks.verdict.history import Change
from hooks.verdict.questions import ANCHOR, STATE, annotation
from hooks.verdict.rotations import Rotation, rotations
from tests.scenarios.interposer import Rule
from tests.scenarios.manifests import Shape
from tests.scenarios.policies import policy, stamp
from tests.scenarios.reports import reports
from tests.scenarios.stage import LONGEST, Object, Stage
from tests.scenarios.steps import Steps
from tests.scenarios.superfluous import superfluous, without_claims
from tests.scenarios.world import World

PLACEHOLDERS = "node-rotation-system"
MIRROR = f"{ANCHOR}-state"
EVERYTHING = (*ALWAYS, *AT_THE_END, *IN_THEIR_TIME)
COUNTING = (one_new_node_each, all_replaced)
"""The checks that count nodes."""
SETTLED_FOR = 4.0
"""Seconds that are watched after the end, for whatever shouldn't happen any more."""


class Story(Steps):
    """The rotations of one world's pool."""

    def __init__(self, stage: Stage, world: World) -> None:
        """The world has been created."""
        super().__init__(stage, world)
        self._dismissed: set[str] = set()

    def govern(self, surge: Object | None = None) -> None:
        """Put a policy over the pool, with these settings of ``surge`` beside the usual ones."""
        self.stage.api.apply_objects(policy(self.pool, surge=surge))

    def amend(self, **spec: object) -> None:
        """Change these fields of the policy's spec and nothing else."""
        self.stage.api.patch("RotationPolicy", self.pool, {"spec": spec})

    def ask(self) -> None:
        """Ask for every node that is there now to be rotated."""
        self.world.annotate_pool(due_before=stamp(self.stage.now()))

    def ask_for(self, claim: str) -> None:
        """Ask for one node to be rotated."""
        self.stage.api.patch("NodeClaim", claim, _annotations({"noderotation.io/due": "true"}))

    def hold_with_a_successor(self) -> str:
        """Begin a rotation and hold it by a freeze; returns the Node of its running placeholder.

        Whoever takes it away before it is marked leaves it to chance whether it ever is.
        """
        self.govern()
        self.ask()
        self.placeholder()
        self.freeze()
        host: str = self.placeholder("Running").object["spec"]["nodeName"]
        self.marked(host)
        return host

    def stays(self, what: str, holds: Callable[[], bool], seconds: float = 5.0) -> None:
        """Let time go by and see that it still holds."""
        assert holds(), what
        self.stage.pause(seconds)
        assert holds(), f"{what}, also {seconds:.0f} s later"

    # --- The end ---

    def latest(self) -> int:
        """The revision of the NodePool as it is now."""
        return int(self.world.pool()["metadata"]["resourceVersion"])

    def unanchored(self) -> bool:
        """Whether the pool has no anchor now."""
        return annotation(self.world.pool(), ANCHOR) is None

    def freeze(self) -> None:
        """Freeze the pool for an hour."""
        self.world.annotate_pool(freeze=stamp(self.stage.now() + timedelta(hours=1)))

    def thaw(self) -> None:
        """Take the freeze back."""
        self.world.annotate_pool(freeze=None)

    def kept(self, claim: str) -> Callable[[], bool]:
        """Whether a claim is there and nobody has asked for its deletion, to be asked later."""
        return lambda: claim in self.world.claims() and not self.world.is_deleting(claim)

    def finish(self, claims: Sequence[str] | None = None) -> None:
        """Wait until these claims (or all that were there) are gone and nothing is under way."""
        leaving = set(self.originals if claims is None else claims)

        def is_over() -> bool:
            return not leaving & set(self.world.claims()) and self.is_at_rest()

        self.stage.wait_until(
            f"the rotations of {self.pool} are over", is_over, LONGEST + 100 * len(leaving)
        )
        self.stage.pause(SETTLED_FOR)
        self.catch_up()

    def dismiss_superfluous(self) -> None:
        """Where others are, delete each node too many that a lost race has brought, as people would."""
        lost = set(self._superfluous()) - self._dismissed
        self._dismissed |= lost
        for claim in lost:
            self.stage.api.delete("NodeClaim", claim)
        self.stage.wait_until(
            f"nodes too many of {self.pool} are gone",
            lambda: not lost & set(self.world.claims()) and self.world.is_settled(),
        )
        self.catch_up()

    def rest(self) -> None:
        """Wait until nothing is under way."""
        self.stage.wait_until(f"{self.pool} is at rest", self.is_at_rest)
        self.catch_up()

    def is_at_rest(self) -> bool:
        """Whether there is no anchor, no placeholder, and the world is as it should be."""
        return self.unanchored() and self.no_placeholder() and self.world.is_settled()

    def catch_up(self) -> None:
        """Wait until the history has all that is there now."""
        now = self.latest()
        self._seen("the present", lambda c: self.is_pool(c) and c.revision >= now)

    # --- What the history says ---

    @property
    def changes(self) -> Sequence[Change]:
        """The history."""
        return self.stage.changes

    def complaints(
        self,
        *,
        without: Sequence[Check] = (),
        excused: Sequence[str] = (),
        operator: Sequence[OperatorMark] = (),
    ) -> list[str]:
        """What the checks have to complain about, but for what has a text of ``excused`` in it.

        ``operator`` are the marks that the scenario set as an operator. Where others slow the
        cluster down, a node too many is forgiven when the race of :mod:`.superfluous` brought it.
        """
        fair = without_claims(self.changes, self._superfluous())
        by_hand = [
            f"{claim} {what}"
            for claim in self._dismissed
            for what in ("was deleted", "went without")
        ]
        found: list[str] = []
        for check in EVERYTHING:
            told = fair if check in COUNTING else self.changes
            case = Case(told, self.pool, tuple(operator))
            found += map(str, violations(case, () if check in without else (check,)))
        return [one for one in found if not any(text in one for text in (*excused, *by_hand))]

    def _superfluous(self) -> list[str]:
        """The nodes too many that may be forgiven."""
        return list(superfluous(self.changes, self.pool).values()) if self.stage.crowded else []

    def brought(self, after: int = 0) -> list[str]:
        """The NodeClaims that Karpenter has made since the first rotation began."""
        begun = max(self.rotations()[0].anchored.revision, after)
        return [
            change.name
            for change in self.changes
            if self.is_claim(change, None) and change.type == "ADDED" and change.revision > begun
        ]

    def rotations(self) -> list[Rotation]:
        """All rotations of the pool."""
        return rotations(self.changes, self.pool)

    def states(self, claim: str) -> list[str]:
        """The states through which the claim's rotation went; "" for none in between."""
        seen: list[str] = []
        for change in sorted(self.changes, key=lambda one: one.revision):
            if change.kind == "NodeClaim" and change.name == claim and change.type != "DELETED":
                state = annotation(change.object, STATE) or ""
                if seen[-1:] != [state]:
                    seen.append(state)
        return seen[1:] if seen[:1] == [""] else seen

    def reports(self) -> list[tuple[str, str]]:
        """(reason, about what) of each Event of ours about this pool or its claims, in order."""
        return reports(self.changes, self.pool)

    def patch(self, text: str, claim: str = "", **what: Any) -> Rule:
        """A rule for the patch of a NodeClaim (any of the pool's, or one) with ``text`` in it."""
        path = f"/apis/karpenter.sh/v1/nodeclaims/{claim or self.pool + '-[a-z0-9]+'}"
        return Rule("PATCH", path, text, **what)

    def deletion(self, **what: Any) -> Rule:
        """A rule for the delete of one of the pool's NodeClaims."""
        return Rule("DELETE", f"/apis/karpenter.sh/v1/nodeclaims/{self.pool}-[a-z0-9]+", **what)

    def node_patch(self, text: str, **what: Any) -> Rule:
        """A rule for the patch of one of the pool's Nodes whose body contains ``text``."""
        return Rule("PATCH", f"/api/v1/nodes/[a-z-]*{self.pool}-[a-z0-9-]+", text, **what)

    def event(self, text: str, **what: Any) -> Rule:
        """A rule for the creation of an Event with ``text`` in it."""
        path = "/apis/events.k8s.io/v1/namespaces/default/events"
        return Rule("POST", path, text, **what)


def begin(stage: Stage, shape: Shape | None = None, suffix: str = "") -> Story:
    """A settled world of the stage's own, to tell a story of."""
    world = World(stage, f"{stage.name}{suffix}", shape)
    world.create()
    return Story(stage, world)


def _annotations(changes: Object) -> Object:
    return {"metadata": {"annotations": changes}}
