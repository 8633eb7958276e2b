"""Every line of design/cases.md *Eviction webhook*, as a course of events on the model of a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from typing_extensions import override

from hooks.drain.model import Deployment, Owner, Review, Strategy
from hooks.drain.progress import progress
from hooks.drain.reasons import Reason, Stage
from hooks.drain.writes import PatchDeployment
from tests.drain.cluster import ROLLING, Cluster, Container
from tests.drain.pieces import Asked, Syncing, is_denied, terms
from tests.drain.things import CASE, POD, REPLICA_SET, TIMEOUT, decided, deployment, pod


def ask(cluster: Cluster, target: Container) -> Reason:
    """An eviction; the Pod goes if it is allowed."""
    verdict = Asked.about(cluster, target).finish()
    if not is_denied(verdict):
        cluster.evict(target)
    return verdict.reason


def ask_in_vain(cluster: Cluster, target: Container) -> Reason:
    """An eviction that leaves the Pod where it is, whatever we say: a budget stands against it."""
    return Asked.about(cluster, target).finish().reason


def sync(cluster: Cluster) -> Stage:
    """A sync on what is there."""
    syncing = Syncing(cluster, cluster.deployment)
    syncing.send()
    syncing.answer()
    return syncing.step.stage


def grow(cluster: Cluster) -> None:
    """Controllers look and new Pods get ready; nothing is taken down yet."""
    cluster.control()
    cluster.replicate()
    for each in cluster.pods:
        cluster.start(each)


def settle(cluster: Cluster) -> None:
    """Until nothing is left to do."""
    for _ in range(2):
        grow(cluster)
    cluster.control()
    cluster.reap()
    cluster.control()


def restarts(seen: Iterable[Deployment]) -> int:
    """How many tracking values a rollout was begun for."""
    return len({it.rolled_for for it in seen} - {None})


def test_a_drain_from_its_first_eviction_to_the_end() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    assert ask(cluster, old) is Reason.ROLLOUT_REQUESTED
    assert ask(cluster, old) is Reason.ROLLOUT_IN_PROGRESS
    assert sync(cluster) is Stage.ROLLS
    assert ask(cluster, old) is Reason.ROLLOUT_IN_PROGRESS
    grow(cluster)
    assert len(cluster.ready_pods) == 2
    assert ask(cluster, old) is Reason.SUCCESSOR_READY
    assert sync(cluster) is Stage.COMPLETED
    settle(cluster)
    assert sync(cluster) is Stage.NOT_TRACKED
    assert [it.uid for it in cluster.pods] != [old.uid]
    assert restarts(cluster.seen) == 1
    assert cluster.deployment.last_pod_uid == old.uid


@pytest.mark.parametrize("tracked", [False, True])
def test_a_dry_run_writes_nothing(*, tracked: bool) -> None:
    case = replace(CASE, review=Review("shop", "web-1-a", dry_run=True))
    if tracked:
        case = replace(case, deployment=deployment(restarted_at=CASE.terms.now).deployment)
    verdict = decided(case)
    assert (verdict.reason, verdict.patch, verdict.announcements) == (Reason.DRY_RUN, None, ())


def test_a_completed_pod_and_a_terminating_one_are_allowed_and_not_tracked() -> None:
    for phase in ("Succeeded", "Failed"):
        assert decided(pod(phase=phase, ready=False)).reason is Reason.POD_FINISHED
    cluster = Cluster()
    (old,) = cluster.pods
    cluster.evict(old)
    assert ask(cluster, old) is Reason.POD_TERMINATING
    assert cluster.deployment.restarted_at is None


def test_the_same_eviction_again_after_tracking_was_cleared_starts_nothing() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    ask(cluster, old)
    sync(cluster)
    grow(cluster)
    assert ask_in_vain(cluster, old) is Reason.SUCCESSOR_READY
    # The successor breaks, and the timeout passes: the Pod of the old ReplicaSet is left.
    cluster.break_down(cluster.pods[-1])
    cluster.pass_time(int(TIMEOUT.total_seconds()))
    assert ask_in_vain(cluster, old) is Reason.ROLLOUT_TIMED_OUT
    assert sync(cluster) is Stage.TIMED_OUT
    for _ in range(100):
        cluster.pass_time(10)
        assert ask_in_vain(cluster, old) is Reason.ALREADY_ROLLED
        assert sync(cluster) is Stage.NOT_TRACKED
    assert restarts(cluster.seen) == 1


def test_a_boot_of_five_minutes_is_one_rollout_and_429_until_it_is_ready() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    reasons = []
    for second in range(0, 300, 5):
        reasons.append(ask(cluster, old))
        sync(cluster)
        cluster.control()
        cluster.replicate()
        cluster.pass_time(5)
        assert cluster.ready_pods == [old], second
    cluster.start(cluster.pods[-1])
    assert reasons == [Reason.ROLLOUT_REQUESTED] + 59 * [Reason.ROLLOUT_IN_PROGRESS]
    assert ask(cluster, old) is Reason.SUCCESSOR_READY
    assert restarts(cluster.seen) == 1


@pytest.mark.parametrize(
    ("strategy", "paused"),
    [
        (ROLLING, True),
        (Strategy("Recreate"), False),
        (Strategy(max_surge=0, max_unavailable=0), False),
        (Strategy(max_surge="0%", max_unavailable="25%"), False),
        (Strategy(max_surge=1, max_unavailable=1), False),
    ],
)
def test_where_no_successor_can_come_first_it_is_allowed_with_a_warning(
    strategy: Strategy, *, paused: bool
) -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    cluster.specify(strategy=strategy, paused=paused)
    cluster.control()
    verdict = Asked.about(cluster, old).finish()
    assert verdict.reason is Reason.NO_SUCCESSOR_FIRST
    assert [event.reason for event in verdict.announcements] == ["GracefulDrainImpossible"]
    assert cluster.deployment.restarted_at is None


def test_pods_of_other_owners_are_allowed() -> None:
    rollout = Owner("argoproj.io/v1alpha1", "Rollout", "web", "rollout-1", controller=True)
    argo = replace(CASE, replica_set=replace(REPLICA_SET, owners=(rollout,)))
    bare = replace(CASE, replica_set=replace(REPLICA_SET, owners=()))
    nobody = replace(CASE, pod=replace(POD, owners=()))
    for case in (argo, bare, nobody):
        assert decided(case).reason is Reason.NO_DEPLOYMENT


def test_a_crash_looping_pod_protects_nothing() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    cluster.break_down(old)
    assert ask(cluster, old) is Reason.POD_NOT_READY
    assert cluster.deployment.restarted_at is None


def test_an_evictor_that_goes_on_after_the_timeout_is_never_denied_again() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    for _ in range(int(TIMEOUT / timedelta(seconds=10))):
        assert is_denied(Asked.about(cluster, old).verdict)
        ask_in_vain(cluster, old)
        sync(cluster)
        cluster.control()
        cluster.pass_time(10)
    for _ in range(200):
        assert not is_denied(Asked.about(cluster, old).verdict)
        ask_in_vain(cluster, old)
        sync(cluster)
        cluster.pass_time(10)
    assert restarts(cluster.seen) == 1


def test_the_successor_whose_own_node_is_drained_waits_until_the_old_one_is_gone() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    ask(cluster, old)
    sync(cluster)
    grow(cluster)
    successor = cluster.pods[-1]
    assert ask(cluster, successor) is Reason.IS_SUCCESSOR
    assert ask(cluster, old) is Reason.SUCCESSOR_READY
    assert ask(cluster, successor) is Reason.ROLLOUT_IN_PROGRESS
    settle(cluster)
    assert sync(cluster) is Stage.COMPLETED
    assert ask(cluster, successor) is Reason.ROLLOUT_REQUESTED
    assert sync(cluster) is Stage.ROLLS
    grow(cluster)
    assert ask(cluster, successor) is Reason.SUCCESSOR_READY


def test_a_successor_that_somebody_rolls_over_still_waits_for_the_old_one() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    ask(cluster, old)
    sync(cluster)
    grow(cluster)
    successor = cluster.pods[-1]
    cluster.control()
    cluster.specify((2, None))
    cluster.control()
    # The old Pod is about to be removed, and the successor is of an older revision as well.
    assert len(cluster.ready_pods) == 2
    assert ask(cluster, successor) is Reason.IS_SUCCESSOR
    cluster.replicate()
    assert cluster.ready_pods == [successor]


def test_another_pod_that_is_about_to_go_as_well_is_no_successor() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    ask(cluster, old)
    sync(cluster)
    cluster.control()
    cluster.replicate()
    between = cluster.pods[-1]
    cluster.specify((2, None))
    # Not ready yet, so its ReplicaSet is scaled down; then it gets ready all the same.
    cluster.control()
    cluster.start(between)
    assert cluster.ready_pods == [old, between]
    assert ask(cluster, old) is Reason.ROLLOUT_IN_PROGRESS
    cluster.replicate()
    assert cluster.ready_pods == [old]
    grow(cluster)
    assert ask(cluster, old) is Reason.SUCCESSOR_READY


def test_gitops_that_reverts_every_minute_sees_one_rollout_and_no_loop() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    ask_in_vain(cluster, old)
    for _ in range(20):
        sync(cluster)
        cluster.control()
        cluster.replicate()
        cluster.specify((1, None))
        cluster.pass_time(60)
        ask_in_vain(cluster, old)
    assert restarts(cluster.seen) == 1
    assert len({it.generation for it in cluster.seen}) == 3, "ours, and what GitOps took back"
    assert cluster.deployment.restarted_at is None


def test_two_evictions_at_one_moment_are_one_rollout() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    first, second = Asked.about(cluster, old), Asked.about(cluster, old)
    assert first.verdict.patch == second.verdict.patch
    assert first.finish().reason is Reason.ROLLOUT_REQUESTED
    assert second.finish().reason is Reason.ROLLOUT_IN_PROGRESS
    assert second.landed is None


class Restless(Cluster):
    """A Deployment that changes before each patch of ours arrives."""

    @override
    def patch(self, patch: PatchDeployment) -> None:
        self.change(annotations={"drain": "true", "at": str(len(self.seen))})
        super().patch(patch)


def test_a_patch_that_is_lost_twice_lets_the_eviction_through() -> None:
    cluster = Restless()
    (old,) = cluster.pods
    assert ask_in_vain(cluster, old) is Reason.TRACKING_NOT_WRITTEN
    assert cluster.deployment.restarted_at is None


def test_two_drains_within_a_second_are_two_rollouts() -> None:
    cluster = Cluster()
    for _ in range(2):
        (old,) = cluster.pods
        assert ask(cluster, old) is Reason.ROLLOUT_REQUESTED
        assert sync(cluster) is Stage.ROLLS
        settle(cluster)
        assert old not in cluster.pods
        assert sync(cluster) is Stage.COMPLETED
    assert restarts(cluster.seen) == 2


def test_an_autoscaler_that_goes_to_two_and_back_ends_tracking() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    ask(cluster, old)
    sync(cluster)
    cluster.specify(replicas=2)
    assert ask_in_vain(cluster, old) is Reason.NOT_A_SINGLETON
    assert sync(cluster) is Stage.NOT_A_SINGLETON
    cluster.specify(replicas=1)
    assert ask_in_vain(cluster, old) is Reason.ALREADY_ROLLED


def test_a_rollout_of_somebody_else_is_adopted_and_waited_for() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    cluster.specify((2, None))
    cluster.control()
    cluster.replicate()
    assert ask(cluster, old) is Reason.ROLLOUT_ADOPTED
    assert sync(cluster) is Stage.ROLLING
    grow(cluster)
    assert ask(cluster, old) is Reason.SUCCESSOR_READY
    settle(cluster)
    assert sync(cluster) is Stage.COMPLETED
    assert cluster.template == (2, None)


@pytest.mark.parametrize("step", ["nothing", "ReplicaSet", "Pod", "revision"])
def test_a_rollout_of_somebody_else_is_adopted_from_its_first_moment_on(step: str) -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    cluster.specify((2, None))
    if step != "nothing":
        cluster.make()
    if step == "Pod":
        cluster.replicate()
    if step == "revision":
        cluster.number()
    assert cluster.deployment.observed_generation < cluster.deployment.generation
    assert ask(cluster, old) is Reason.ROLLOUT_ADOPTED


def test_a_rollout_that_was_undone_is_not_adopted() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    cluster.specify((2, None))
    cluster.control()
    cluster.replicate()
    cluster.specify((1, None))
    # Its revision is the older one until the Deployment controller looks again.
    assert ask(cluster, old) is Reason.ROLLOUT_REQUESTED
    assert sync(cluster) is Stage.NOT_SETTLED
    cluster.control()
    cluster.replicate()
    assert ask(cluster, old) is Reason.ROLLOUT_IN_PROGRESS
    assert sync(cluster) is Stage.ROLLS
    grow(cluster)
    assert ask(cluster, old) is Reason.SUCCESSOR_READY


def test_a_rollout_that_somebody_begins_between_intent_and_patch_is_not_rolled_over() -> None:
    cluster = Cluster()
    (old,) = cluster.pods
    ask(cluster, old)
    cluster.specify((2, None))
    assert sync(cluster) is Stage.NOT_SETTLED
    cluster.control()
    cluster.replicate()
    assert sync(cluster) is Stage.NOT_SETTLED
    assert cluster.template == (2, None)
    assert progress(cluster.deployment, terms(cluster)).patch is None
