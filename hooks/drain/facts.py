"""What the rows of the decision table ask about one eviction, as far as it has been read.

Owns the questions; each reads as one. Leaves the order, and what follows, to
:mod:`hooks.drain.verdict`. Source: seed 004 *The decision table*, design/drain.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from hooks.drain import owner, rollout
from hooks.drain.model import (
    Case,
    Deployment,
    Kind,
    Owner,
    Pod,
    Read,
    ReplicaSet,
    Review,
    Terms,
    Trouble,
    Unread,
)
from hooks.drain.tracking import State, Tracking, timeout_of, tracking

T = TypeVar("T")
_FINISHED = frozenset({"Succeeded", "Failed"})


def _known(thing: T | Trouble | Unread | None) -> T:
    """What an earlier row has made sure of."""
    if thing is None or isinstance(thing, Trouble | Unread):
        raise LookupError("a row asks for what no row before it has made sure of")
    return thing


@dataclass(frozen=True, slots=True)
class Facts:
    """One eviction. Asking for what hasn't been read raises LookupError: a fault of the table."""

    case: Case

    # --- What has been read, or is to be read next. ---
    @property
    def review(self) -> Review:
        """What the API server asks."""
        return self.case.review

    @property
    def terms(self) -> Terms:
        """Now, and the settings."""
        return self.case.terms

    @property
    def pod(self) -> Pod:
        """The Pod, once it is there."""
        return _known(self.case.pod)

    @property
    def replica_set(self) -> ReplicaSet:
        """Its ReplicaSet, once it is there."""
        return _known(self.case.replica_set)

    @property
    def deployment(self) -> Deployment:
        """The Deployment of that one, once it is there."""
        return _known(self.case.deployment)

    def next_read(self, after: Kind | None) -> Read | None:
        """The read that a row needs and that hasn't been made; None when it may be asked."""
        if after is Kind.POD and self.case.pod is Unread.UNREAD:
            return Read(Kind.POD, self.review.namespace, self.review.pod)
        if after is Kind.REPLICA_SET and self.case.replica_set is Unread.UNREAD:
            return Read(after, self.pod.namespace, _known(self._set_owner).name)
        if after is Kind.DEPLOYMENT and self.case.deployment is Unread.UNREAD:
            return Read(after, self.pod.namespace, _known(self._deployment_owner).name)
        return None

    # --- The Pod. ---
    @property
    def cannot_be_read(self) -> bool:
        """Whether the read of the Pod failed."""
        return isinstance(self.case.pod, Trouble)

    @property
    def could_not_be_read_for_long(self) -> bool:
        """Whether its reads have failed for as long as a rollout may take."""
        return self.cannot_be_read and self._is_denied_for(self.terms.rollout_timeout)

    @property
    def is_another_pod(self) -> bool:
        """Whether the evictor means a Pod of that name that is gone."""
        return self.review.uid_wanted not in {None, self.pod.uid}

    @property
    def is_finished(self) -> bool:
        """Whether the Pod will never run again."""
        return self.pod.phase in _FINISHED

    # --- Its owners. ---
    @property
    def has_no_replica_set(self) -> bool:
        """Whether something else than a ReplicaSet of group apps controls the Pod, or nothing."""
        return self._set_owner is None

    @property
    def replica_set_is_gone(self) -> bool:
        """Whether the controlling ReplicaSet doesn't exist any more."""
        there = self.case.replica_set
        return there is None or self.replica_set.uid != _known(self._set_owner).uid

    @property
    def has_no_deployment(self) -> bool:
        """Whether something else than a Deployment of group apps controls it, or nothing."""
        return self._deployment_owner is None

    @property
    def deployment_is_gone(self) -> bool:
        """Whether the controlling Deployment doesn't exist any more."""
        there = self.case.deployment
        return there is None or self.deployment.uid != _known(self._deployment_owner).uid

    # --- The Deployment. ---
    @property
    def is_opted_out(self) -> bool:
        """Whether the settings leave this Deployment alone."""
        return is_opted_out(self.deployment, self.terms)

    @property
    def tracking(self) -> Tracking:
        """What its tracking value is good for now."""
        return tracking(self.deployment, self.terms)

    @property
    def is_tracked(self) -> bool:
        """Whether a rollout has been asked for and hasn't timed out."""
        return self.tracking.state is State.LIVE

    @property
    def has_two_ready(self) -> bool:
        """Whether another Pod of the Deployment is ready beside this one."""
        return self.deployment.ready > 1

    @property
    def has_ready_successor(self) -> bool:
        """Whether the other one that is ready can be relied on.

        A Pod that is being replaced can go once an updated one must be ready: the other one may be
        of an older revision, too, and about to go, after somebody rolled out on top of a rollout.
        For any other, while its controller hasn't observed the spec, the status may still count a
        Pod that is about to go, after an autoscaler went from two to one.
        """
        if self.is_of_older_revision:
            return self.has_two_ready and rollout.has_ready_update(self.deployment)
        return self.has_two_ready and rollout.is_observed(self.deployment)

    @property
    def is_of_older_revision(self) -> bool:
        """Whether a rollout, ours or somebody's, is known to be replacing the Pod already."""
        return owner.is_older(self.replica_set, self.deployment)

    @property
    def is_being_replaced(self) -> bool:
        """The same, or a rollout has just been asked for and its controller hasn't numbered it yet."""
        is_new = not rollout.is_observed(self.deployment)
        return self.is_of_older_revision or (
            is_new and owner.is_left_behind(self.replica_set, self.deployment)
        )

    @property
    def may_be_successor(self) -> bool:
        """Whether the Pod isn't known to be the one that a tracked rollout replaces.

        Known is it by its revision, and by its UID where tracking says one: when somebody rolls out
        on top of our rollout, the successor is of an older revision, too. The UID alone says it where
        a revision is missing; where both are known, a rollout that was undone keeps the current one.
        """
        if self.is_for_another_pod:
            return True
        is_known = owner.is_current(self.replica_set, self.deployment)
        return is_known or not (self.is_of_older_revision or self.is_written_down)

    @property
    def is_for_another_pod(self) -> bool:
        """Whether tracking is known to be for another Pod than this one."""
        return self.deployment.last_pod_uid not in {None, self.pod.uid}

    @property
    def is_written_down(self) -> bool:
        """Whether the last tracking is known to be for this very Pod."""
        return self.deployment.last_pod_uid == self.pod.uid

    @property
    def was_rolled_for(self) -> bool:
        """Whether tracking began for this very Pod once, as far as is written or remembered.

        What is only remembered doesn't say that it is over, as long as the Pod is being replaced.
        """
        is_ours = self.case.remembered.recorded and not self.is_being_replaced
        return is_ours or self.is_written_down

    @property
    def has_had_its_time(self) -> bool:
        """Whether the Pod has been denied for its timeout, whatever became of the annotations.

        A Pod that nothing replaces, and for which we never asked, begins anew.
        """
        is_held = self.is_tracked or self.is_being_replaced
        return is_held and self._is_denied_for(timeout_of(self.deployment, self.terms))

    @property
    def has_no_successor_first(self) -> bool:
        """Whether a rollout couldn't bring a ready successor before the old Pod goes."""
        return rollout.obstacle(self.deployment) is not None

    def _is_denied_for(self, span: timedelta) -> bool:
        since = self.case.remembered.denied_since
        return since is not None and self.terms.now - since >= span

    @property
    def _set_owner(self) -> Owner | None:
        return owner.owner_of(self.pod, Kind.REPLICA_SET)

    @property
    def _deployment_owner(self) -> Owner | None:
        return owner.owner_of(self.replica_set, Kind.DEPLOYMENT)


def is_opted_out(deployment: Deployment, terms: Terms) -> bool:
    """Whether the settings ask for an annotation that the Deployment lacks, or that says false."""
    key = terms.enabled_annotation
    return bool(key) and deployment.annotations.get(key, "false").strip().lower() == "false"
