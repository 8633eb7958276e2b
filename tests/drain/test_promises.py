"""What a graceful drain promises, whatever happens in whatever order.

Hypothesis moves a small model of a cluster: evictors that ask for any Pod, again and again, several
at once; the webhook and the sync, which stop between any two of their steps and whose answers get
lost; caches that lag; rollouts of somebody else, GitOps that takes restartedAt back, an autoscaler
that goes from 1 to 2 and back, Pods that break for good, time that passes. There are two webhooks and
a sync; :class:`DrainsThatLoseAnnotations` also takes any of ours away at any moment.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Final, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from typing_extensions import override

from hooks import names
from hooks.admission.memory import Memory
from hooks.drain.consequences import Verdict
from hooks.drain.model import Deployment, Unreadable
from hooks.drain.reasons import Reason
from hooks.drain.rollout import is_settled
from hooks.rotation.durations import parse_stamp
from tests.drain.cluster import Cluster, Container, as_template
from tests.drain.pieces import Asked, Syncing, is_denied
from tests.drain.things import TIMEOUT

ESCAPES: Final = frozenset(
    {
        Reason.OPTED_OUT,
        Reason.NOT_A_SINGLETON,
        Reason.TRACKING_UNREADABLE,
        Reason.ROLLOUT_TIMED_OUT,
        Reason.ALREADY_ROLLED,
        Reason.NO_SUCCESSOR_FIRST,
        Reason.TRACKING_NOT_WRITTEN,
    }
)
"""The rows that let a ready singleton go without a successor, and say so."""
OFTEN: Final = (True, True, True, False)
FATES: Final = (
    *["is answered"] * 8,
    *["takes its time"] * 5,
    *["its answer gets lost"] * 4,
    "dies before its patch",
    "dies after its patch",
)
"""Of a review; when the webhook dies, failurePolicy Ignore lets the eviction through."""
AT: Final = st.integers(0, 7)
SYNC_STEPS: Final = (
    *["goes well"] * 4,
    *["begins"] * 3,
    *["sends its patch"] * 2,
    "sends its patch and dies",
    "sends its patch and is answered",
    "is answered",
    "dies",
)
CLUSTER_STEPS: Final = (
    *["makes successors ready"] * 4,
    *["comes to rest"] * 2,
    *["looks at its Deployments"] * 3,
    *["makes its ReplicaSet"] * 2,
    "numbers its Deployment",
    *["looks at its ReplicaSets"] * 4,
    "starts a Pod",
    "reaps",
)
CHANGES: Final = (
    *["waits"] * 4,
    "breaks a Pod",
    *["rolls out"] * 2,
    *["undoes a rollout"] * 2,
    *["takes restartedAt back"] * 2,
    *["scales"] * 2,
    "pauses",
    "opts in or out",
    "garbles tracking",
    *["takes an annotation away"] * 2,
    *["takes all away"] * 2,
)
OURS: Final = ("restarted_at", "rolled_for", "last_pod_uid")
MEMORY: Final = timedelta(days=365)
"""No walk is long enough for a Pod to be forgotten."""
ASKS: Final = 7
SYNCS: Final = 13
MOVES: Final = 18
"""Of twenty steps of a walk, up to which each kind goes."""
ROUND: Final = timedelta(seconds=10)
T = TypeVar("T")


def pick(things: list[T], at: int) -> T:
    return things[at % len(things)]


class Drains(RuleBasedStateMachine):
    """Counts in the status are true at every moment here; see :class:`DrainsWithLaggingStatus`."""

    lags = False
    loses = False

    def __init__(self) -> None:
        super().__init__()
        self.memories = [Memory(MEMORY) for _ in range(2)]
        self.begun_here: set[object] = set()
        self.requests: dict[tuple[int, str], datetime] = {}
        self.held: dict[tuple[int, str], datetime] = {}
        self.asked_for: set[datetime] = set()
        self.cluster = Cluster(lags=self.lags)
        self.asked: list[Asked] = []
        self.syncing: list[Syncing] = []
        self.cached = 0
        self.rolled_for: list[object] = []
        self.begun: dict[str, datetime] = {}
        self.excused = self.lags
        """Whether there may be a gap in service that is none of our doing; over when all is at rest."""

    # --- Evictors, and the webhook between its steps. ---
    @rule(at=AT, is_ready=st.sampled_from(OFTEN), fate=st.sampled_from(FATES))
    def an_evictor_asks(self, at: int, *, is_ready: bool, fate: str) -> None:
        self._ask(self.cluster.ready_pods if is_ready else self.cluster.pods, at, fate)

    @precondition(lambda self: self.asked)
    @rule(at=AT, fate=st.sampled_from(FATES))
    def the_webhook_goes_on(self, at: int, fate: str) -> None:
        self._ends(self.asked.pop(at % len(self.asked)), fate)

    def _ask(self, pods: list[Container], at: int, fate: str) -> None:
        if not pods:
            return
        asked = Asked.about(self.cluster, pick(pods, at // 2), self.memories[at % 2])
        if fate == "takes its time" and asked.verdict.patch is not None:
            self.asked.append(asked)
        else:
            self._ends(asked, fate)

    def _ends(self, asked: Asked, fate: str) -> None:
        if fate == "dies before its patch":
            self._goes(asked.pod, excused=True)
        elif fate == "dies after its patch":
            asked.finish()
            self._begins(asked)
            self._goes(asked.pod, excused=True)
        else:
            self._answered(asked, blocked=fate == "its answer gets lost")

    def _answered(self, asked: Asked, *, blocked: bool) -> None:
        """``blocked``: nothing is evicted all the same (a lost answer, or a PodDisruptionBudget)."""
        verdict = asked.finish()
        self._begins(asked)
        if is_denied(verdict):
            self._is_denied(asked, asked.deployment)
        elif not blocked:
            self._is_allowed(asked, verdict)

    def _begins(self, asked: Asked) -> None:
        if asked.landed is None:
            return
        marks, uid = dict(asked.landed.annotations), asked.pod.uid
        since = parse_stamp(marks[names.DRAIN_RESTARTED_AT])
        assert isinstance(since, datetime)
        assert self.loses or uid not in self.begun, "tracking began twice for a Pod"
        process = (self.memories.index(asked.memory), uid)
        is_replaced = asked.pod.owner.template != self.cluster.template
        if marks[names.DRAIN_ROLLED_FOR] is None:
            assert process not in self.requests, "a process asked twice for a rollout for a Pod"
            assert not is_replaced, "a rollout was asked for on top of one that replaces the Pod"
            self.requests[process] = since
        else:
            assert is_replaced, "a rollout was adopted that doesn't replace the Pod"
        self.asked_for.add(since)
        self.held.setdefault(process, asked.case.terms.now)
        self.begun[uid] = since

    def _is_denied(self, asked: Asked, there: Deployment) -> None:
        now, mine = asked.case.terms.now, self.begun.get(asked.pod.uid)
        held = self.held.get((self.memories.index(asked.memory), asked.pod.uid), now)
        assert now - held < TIMEOUT, "a process denied a Pod again after its timeout"
        since = mine if asked.landed else there.restarted_at
        assert isinstance(since, datetime), "denied without tracking"
        assert now - since < TIMEOUT, "denied after the timeout"
        if not self.loses and mine is not None and now - mine >= TIMEOUT:
            assert there.last_pod_uid != asked.pod.uid, "denied again after its own timeout"

    def _is_allowed(self, asked: Asked, verdict: Verdict) -> None:
        excused = verdict.reason in ESCAPES
        if verdict.reason is Reason.SUCCESSOR_READY:
            there = asked.deployment
            # While a rollout of somebody else isn't tracked, the seed's table protects no successor.
            excused = self.loses or (there.restarted_at is None and not is_settled(there))
        if verdict.reason is Reason.ALREADY_ROLLED:
            is_written = asked.deployment.last_pod_uid == asked.pod.uid
            is_replaced = as_template(asked.pod.owner.template) != asked.deployment.template
            is_paused = asked.deployment.paused
            assert is_written or is_paused or not is_replaced, "let go as if nothing came after it"
        self._goes(asked.pod, excused=excused)

    def _goes(self, pod: Container, *, excused: bool) -> None:
        was_ready = pod in self.cluster.ready_pods
        self.excused |= excused and was_ready
        self.cluster.evict(pod)
        if was_ready and not (excused or self.lags):
            assert self.cluster.ready_pods, "a ready singleton went before a ready successor"

    # --- Metacontroller, and the sync between its steps. ---
    @rule(step=st.sampled_from(SYNC_STEPS), at=AT)
    def a_sync(self, step: str, at: int) -> None:
        if step == "goes well":
            self._sync()
        elif step == "begins":
            self._begin_to_sync(at)
        elif self.syncing:
            syncing = pick(self.syncing, at)
            if "sends its patch" in step:
                self._send(syncing)
            if "is answered" in step:
                syncing.answer()
            if step != "sends its patch":
                self.syncing.remove(syncing)

    def _begin_to_sync(self, versions: int) -> None:
        """On what the cache has, which never goes back."""
        self.cached = min(self.cached + versions, len(self.cluster.seen) - 1)
        seen = self.cluster.seen[self.cached]
        if seen.restarted_at is not None:
            self.syncing.append(Syncing(self.cluster, seen, self.begun_here))

    def _sync(self) -> None:
        self.cached = len(self.cluster.seen) - 1
        if self.cluster.deployment.restarted_at is not None:
            syncing = Syncing(self.cluster, self.cluster.deployment, self.begun_here)
            self._send(syncing)
            syncing.answer()

    def _send(self, syncing: Syncing) -> None:
        before = self.cluster.deployment
        if syncing.send() is not None:
            self._rolls(before)

    def _rolls(self, before: Deployment) -> None:
        """With annotations that get lost: one for each time that a webhook began tracking.

        That may be an adoption whose marker was taken away, for the sync can't tell it from a request.
        """
        since = before.restarted_at
        assert isinstance(since, datetime)
        rollout = since if self.loses else before.last_pod_uid
        assert rollout not in self.rolled_for, "a second rollout for a Pod"
        assert since in self.asked_for, "a rollout that nobody asked for"
        self.rolled_for.append(rollout)

    # --- Everybody else. ---
    @rule(step=st.sampled_from(CLUSTER_STEPS))
    def the_cluster(self, step: str) -> None:
        """What takes longer than a review may waits until none is under way."""
        match step:
            case "looks at its Deployments":
                self.cluster.control()
            case "makes its ReplicaSet":
                self.cluster.make()
            case "numbers its Deployment":
                self.cluster.number()
            case "looks at its ReplicaSets":
                self.cluster.replicate()
            case "starts a Pod" if self.cluster.pods:
                self.cluster.start(self.cluster.pods[-1])
            case "makes successors ready" if not self.asked:
                self._grow()
            case "comes to rest" if not self.asked:
                self._settle()
                self.excused = self.lags or not self.cluster.ready_pods
            case _:
                self.cluster.reap()

    @rule(change=st.sampled_from(CHANGES), at=AT)
    def somebody(self, change: str, at: int) -> None:
        cluster, (version, restarted_at) = self.cluster, self.cluster.template
        match change:
            case "waits" if not self.asked:
                cluster.pass_time((1, 10, 60, 590, 600, 660, 1, 10)[at])
            case "breaks a Pod" if cluster.pods:
                pod = pick(cluster.pods, at)
                self.excused |= pod in cluster.ready_pods
                cluster.break_down(pod)
            case "rolls out":
                cluster.specify((version + 1, restarted_at))
            case "undoes a rollout":
                cluster.specify((max(1, version - 1), restarted_at))
            case "takes restartedAt back":
                cluster.specify((version, None))
            case "scales":
                cluster.specify(replicas=3 - cluster.deployment.replicas)
            case "pauses":
                cluster.specify(paused=not cluster.deployment.paused)
            case "opts in or out":
                cluster.change(annotations={"drain": "true" if at % 2 else "false"})
            case "garbles tracking":
                ahead = cluster.now + timedelta(days=1)
                cluster.change(restarted_at=ahead if at % 2 else Unreadable("soon"))
            case _:
                self._lose(change, at)

    def _lose(self, change: str, at: int) -> None:
        if self.loses and change == "takes an annotation away":
            self.cluster.change(**{OURS[at % 3]: None})
        elif self.loses and change == "takes all away":
            self.cluster.change(**dict.fromkeys(OURS))
            self.cluster.specify((self.cluster.template[0], None))

    @invariant()
    def somebody_serves(self) -> None:
        assert self.excused or self.cluster.ready_pods, "a gap in service"

    # --- In the end, left alone. ---
    @override
    def teardown(self) -> None:
        """An evictor that goes on gets every Pod within two timeouts, and nothing of us stays."""
        self.asked.clear()
        for pod in list(self.cluster.pods):
            self._drain(pod)
        for _ in range(TIMEOUT // ROUND + 4):
            self._round()
        assert self.cluster.deployment.restarted_at is None, "tracking stays"

    def _drain(self, pod: Container) -> None:
        for turn in range(2 * (TIMEOUT // ROUND) + 4):
            asked = Asked.about(self.cluster, pod, self.memories[turn % 2])
            self._answered(asked, blocked=False)
            if not is_denied(asked.verdict):
                return
            self._round()
        raise AssertionError("a drain is wedged")

    def _round(self) -> None:
        self.cluster.pass_time(ROUND.seconds)
        self._settle()
        self._sync()

    def _settle(self) -> None:
        self._grow()
        self._grow()
        self.cluster.control()

    def _grow(self) -> None:
        self.cluster.reap()
        self.cluster.control()
        self.cluster.replicate()
        for pod in self.cluster.pods:
            self.cluster.start(pod)


class DrainsWithLaggingStatus(Drains):
    """The status is as old as its controller's last look; a gap may follow from that alone."""

    lags = True


class DrainsThatLoseAnnotations(Drains):
    """GitOps or a replace takes annotations of ours away; memories are the second line."""

    loses = True


TestDrains = Drains.TestCase
TestDrains.settings = settings(max_examples=100, stateful_step_count=50)
TestDrainsWithLaggingStatus = DrainsWithLaggingStatus.TestCase
TestDrainsWithLaggingStatus.settings = settings(max_examples=50, stateful_step_count=50)
TestDrainsThatLoseAnnotations = DrainsThatLoseAnnotations.TestCase
TestDrainsThatLoseAnnotations.settings = settings(max_examples=50, stateful_step_count=50)


@pytest.mark.parametrize("machine", [Drains, DrainsWithLaggingStatus, DrainsThatLoseAnnotations])
@pytest.mark.parametrize("part", range(4))
def test_long_walks_keep_the_promises_too(machine: type[Drains], part: int) -> None:
    """Hypothesis looks for odd beginnings; these go far, evenly, and in every run the same way."""
    for seed in range(part * 50, part * 50 + 50):
        walk(machine(), Random(seed))


def walk(drains: Drains, random: Random) -> None:
    """Sixty steps, and what follows when all is left alone."""
    for _ in range(60):
        at, which = random.randrange(8), random.randrange(20)
        if which < ASKS:
            ready = random.choice(OFTEN)
            drains.an_evictor_asks(at, is_ready=ready, fate=random.choice(FATES))
        elif which == ASKS and drains.asked:
            drains.the_webhook_goes_on(at, random.choice(FATES))
        elif which < SYNCS:
            drains.a_sync(random.choice(SYNC_STEPS), at)
        elif which < MOVES:
            drains.the_cluster(random.choice(CLUSTER_STEPS))
        else:
            drains.somebody(random.choice(CHANGES), at)
        drains.somebody_serves()
    drains.teardown()
