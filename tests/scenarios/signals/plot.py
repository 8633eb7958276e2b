"""The story by which all signals are seen: everything that can become of a pool, one after the other.

Owns the scenes and the moments at which gauges and status are looked at. What has to come out is in
:mod:`.expected`. It is told against a stage, so it plays on any cluster. Source: issue 5, *Done when*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hooks.verdict.questions import POOL_LABEL
from tests.scenarios.manifests import NAMESPACE, Shape
from tests.scenarios.policies import ALWAYS_OPEN, policy
from tests.scenarios.signals import retelling
from tests.scenarios.stage import ListeningStage, Object
from tests.scenarios.story import begin

NEVER = "60m"
SETTLES = 3.0
"""Seconds until the status has followed, and a level is steady."""
BRIEF = "-brief"
"""What the second pool is called beyond the first."""
LIFETIME = 100.0
HELD = "noderotation-e2e/held"
SOME_WEEKS = "480h"
ONE_NODE = Shape(stateful=0, lifetime=SOME_WEEKS, grace="10s")
EXPIRES_SOON = Shape(stateful=0, lifetime=f"{LIFETIME:.0f}s")
DIES_AFTER = {"noderotation-e2e/dies-after": "30m"}
"""KWOK's kubelet lets such a Pod terminate for that long; the embedded one minds finalizers."""
IN_BETWEEN = "blockers=no Pod is held"
"""What a pass says of the stuck drain that falls between letting go of the Pod and of its Node: whether
one does is chance."""
SURGE: Object = {"readyTimeout": "40s", "retryBackoff": "20s"}


@dataclass(frozen=True, slots=True)
class Moment:
    """What gauges and status show at one moment of the story."""

    what: str
    gauges: Mapping[str, str | float]
    status: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What was told of one pool."""

    events: Sequence[str]
    lines: Sequence[str]
    counts: Mapping[str, float]


class Signals:
    """The story: a pool that everything happens to, and another one whose node expires."""

    def __init__(self, stage: ListeningStage) -> None:
        """Make the first pool."""
        self.stage = stage
        self.story = begin(stage, ONE_NODE)
        self.moments: list[Moment] = []

    def play(self) -> None:
        """All scenes."""
        self._nobody_may_start()
        self._the_window_opens()
        self._an_attempt_fails_and_the_next_one_succeeds()
        self._a_drain_gets_stuck_while_another_node_expires()
        self._governance_is_lost()

    @property
    def pools(self) -> tuple[str, str]:
        """The two pools."""
        return self.story.pool, f"{self.story.pool}{BRIEF}"

    def heard(self) -> tuple[Heard, ...]:
        """What has been told of each of both pools so far."""
        changes, log, metrics = self.stage.changes, self.stage.log_lines(), self.stage.metrics()
        return tuple(
            Heard(
                retelling.events(changes, pool),
                [one for one in retelling.lines(log, changes, pool) if IN_BETWEEN not in one],
                retelling.counts(metrics, pool),
            )
            for pool in self.pools
        )

    def objects(self) -> list[Object]:
        """All that is there of both pools, but for what goes by the clock."""
        found = []
        for pool in self.pools:
            found += [self.stage.api.get("NodePool", pool)]
            for kind in ("NodeClaim", "Node"):
                found += self.stage.api.find(kind, labelSelector=f"{POOL_LABEL}={pool}")
            found += self.stage.api.find("Pod", labelSelector=f"pool={pool}")
        found += [
            policy
            for pool in self.pools
            if (policy := self.stage.api.find_one("RotationPolicy", pool)) is not None
        ]
        return sorted(map(_lasting, found), key=lambda one: str(one["metadata"]["uid"]))

    def _nobody_may_start(self) -> None:
        story = self.story
        self._comes("nobody governs", {"reason": "NoPolicy"})
        broken = {**ALWAYS_OPEN, "timezone": "Mars/Olympus"}
        self.stage.api.apply_objects(policy(story.pool, surge=SURGE, maintenanceWindows=[broken]))
        self._comes("the policy is invalid", {"reason": "PolicyInvalid"})
        story.amend(maintenanceWindows=[half_a_day(self.stage.now() + timedelta(hours=2))])
        self._comes("the window is closed", {"reason": "OutsideWindow"})
        twin = f"{story.pool}-twin"
        self.stage.api.apply_objects(policy(story.pool, name=twin, surge=SURGE))
        self._comes("two policies tie", {"reason": "PolicyConflict"})
        self.stage.api.delete("RotationPolicy", twin)
        story.ask()
        self._comes("a node is due", {"reason": "OutsideWindow", "candidates": 1.0})

    def _the_window_opens(self) -> None:
        story, stage = self.story, self.stage
        story.world.register_after(NEVER)
        opens = next_minute(stage.now())
        story.amend(maintenanceWindows=[half_a_day(opens)])
        story.anchored()
        assert stage.now() >= opens
        self._comes("no node has room", {"reason": "SurgeUnschedulable"})

    def _an_attempt_fails_and_the_next_one_succeeds(self) -> None:
        story = self.story
        (claim,) = story.originals
        failed = story.state("failed", claim)
        self._comes("it has failed", {"retry_count": 1.0, "reason": "NoCandidate"})
        story.world.register_after("0s")
        story.state("pending", claim, after=failed.revision)
        self._finish(claim)
        self._comes("it was rotated", {"reason": "NoCandidate"})

    def _a_drain_gets_stuck_while_another_node_expires(self) -> None:
        story = self.story
        (claim,) = story.world.claims()
        node = story.world.node_of(claim)["metadata"]["name"]
        (pod,) = (one["metadata"]["name"] for one in story.world.pods())
        self._hold("Pod", pod, NAMESPACE, DIES_AFTER)
        self._hold("Node", node)
        story.ask()
        story.deleted(claim)
        self._a_node_expires()
        self._comes("the drain is stuck", {"drain_stuck": 1.0, "reason": "DrainStuck"})
        self._let_go("Pod", pod, NAMESPACE, dict.fromkeys(DIES_AFTER))
        self._let_go("Node", node)
        self._finish(claim)
        self._comes("it is over", {"reason": "NoCandidate"})

    def _a_node_expires(self) -> None:
        stage = self.stage
        brief = begin(stage, EXPIRES_SOON, BRIEF)
        (claim,) = brief.originals
        brief.world.live_for(SOME_WEEKS)
        born = datetime.fromisoformat(brief.world.claim(claim)["metadata"]["creationTimestamp"])
        left = LIFETIME - (stage.now() - born).total_seconds()
        brief.world.register_after(f"{left + 15:.0f}s")
        brief.govern()
        brief.ask()
        brief.reported("RotationExpired", claim)
        brief.finish()

    def _governance_is_lost(self) -> None:
        story = self.story
        story.world.register_after(NEVER)
        after = story.latest()
        story.ask()
        story.placeholder(after=after)
        self._comes("the next one is on its way", {"reason": "SurgeUnschedulable"})
        self.stage.api.delete("RotationPolicy", story.pool)
        story.reported("GovernanceLost")
        self._comes("nobody governs any more", {"reason": "NoPolicy"})
        self.stage.wait_until("the placeholder is gone", story.no_placeholder)
        story.catch_up()

    def _finish(self, claim: str) -> None:
        """Wait for the end, and see to it that the next scene finds one node."""
        self.story.finish([claim])
        self.story.dismiss_superfluous()

    def _comes(self, what: str, expected: dict[str, str | float]) -> None:
        """Wait until the gauges have these values, and let all come to rest; keep what is shown."""
        story, stage = self.story, self.stage

        def shown() -> dict[str, str | float]:
            return retelling.gauges(stage.metrics(), story.pool)

        stage.wait_until(f"{story.pool}: {what}", lambda: expected.items() <= shown().items())
        stage.pause(SETTLES)
        policy_now = stage.api.find_one("RotationPolicy", story.pool)
        standing = retelling.standing(policy_now, story.pool)
        self.moments.append(Moment(what, shown(), standing))

    def _hold(
        self, kind: str, name: str, namespace: str = "", annotations: Object | None = None
    ) -> None:
        kept = self.stage.api.get(kind, name, namespace)["metadata"].get("finalizers", [])
        metadata = {"finalizers": [*kept, HELD], "annotations": annotations or {}}
        self.stage.api.patch(kind, name, {"metadata": metadata}, namespace)

    def _let_go(
        self, kind: str, name: str, namespace: str = "", annotations: Object | None = None
    ) -> None:
        found = self.stage.api.find_one(kind, name, namespace)
        if found is not None:
            kept = [one for one in found["metadata"].get("finalizers", []) if one != HELD]
            metadata = {"finalizers": kept, "annotations": annotations or {}}
            self.stage.api.patch(kind, name, {"metadata": metadata}, namespace)


def next_minute(now: datetime) -> datetime:
    """The first full minute that is at least ten seconds away."""
    return (now + timedelta(seconds=70)).replace(second=0, microsecond=0)


def half_a_day(opens: datetime) -> Object:
    """A window of twelve hours a day from that time of day on."""
    closes = opens + timedelta(hours=12)
    return {**ALWAYS_OPEN, "start": f"{opens:%H:%M}", "end": f"{closes:%H:%M}"}


def _lasting(thing: Object) -> Object:
    """An object without its version, and without what others say of it."""
    metadata = dict(thing["metadata"])
    for key in ("resourceVersion", "managedFields"):
        metadata.pop(key, None)
    kept = ("kind", "spec", "status") if thing.get("kind") == "RotationPolicy" else ("kind", "spec")
    return {"metadata": metadata} | {key: thing[key] for key in kept if key in thing}
