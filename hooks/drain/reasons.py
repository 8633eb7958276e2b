"""Why an eviction was allowed or denied, and what became of a rollout: for logs, Events and metrics.

Their strings are a contract with users and pinned by a test. Source: seed 004, design/drain.md.
"""

from __future__ import annotations

from enum import StrEnum


class Answer(StrEnum):
    """What the API server is told; the label ``decision`` of gracefuldrain_evictions_total."""

    ALLOW = "allow"
    DENY = "deny"


class Reason(StrEnum):
    """Why an eviction got its answer; the comment groups say after which read."""

    # Before anything is read.
    NOT_AN_EVICTION = "NotAnEviction"
    DRY_RUN = "DryRun"
    # The Pod.
    POD_NOT_READ = "PodNotRead"
    POD_GONE = "PodGone"
    ANOTHER_POD = "AnotherPod"
    POD_TERMINATING = "PodTerminating"
    POD_FINISHED = "PodFinished"
    POD_NOT_READY = "PodNotReady"
    # Its owners.
    NO_DEPLOYMENT = "NoDeployment"
    OWNER_NOT_READ = "OwnerNotRead"
    OWNER_GONE = "OwnerGone"
    # The Deployment.
    DEPLOYMENT_DELETING = "DeploymentDeleting"
    OPTED_OUT = "OptedOut"
    NOT_A_SINGLETON = "NotASingleton"
    TRACKING_UNREADABLE = "TrackingUnreadable"
    ROLLOUT_TIMED_OUT = "RolloutTimedOut"
    IS_SUCCESSOR = "IsSuccessor"
    SUCCESSOR_READY = "SuccessorReady"
    ALREADY_ROLLED = "AlreadyRolled"
    NO_SUCCESSOR_FIRST = "NoSuccessorFirst"
    ROLLOUT_IN_PROGRESS = "RolloutInProgress"
    ROLLOUT_ADOPTED = "RolloutAdopted"
    ROLLOUT_REQUESTED = "RolloutRequested"
    # Our own faults: never a reason to hold a drain.
    MALFORMED_REVIEW = "MalformedReview"
    TRACKING_NOT_WRITTEN = "TrackingNotWritten"
    OUT_OF_TIME = "OutOfTime"
    INTERNAL_ERROR = "InternalError"


class Outcome(StrEnum):
    """How tracking ended; the label ``outcome`` of gracefuldrain_rollouts_total."""

    COMPLETED = "completed"
    TIMEOUT = "timeout"
    IMPOSSIBLE = "impossible"
    SCALED = "scaled"
    OPTED_OUT = "opted-out"
    DELETED = "deleted"
    UNREADABLE = "unreadable"


class Stage(StrEnum):
    """Where a tracked Deployment is, as a sync finds it; the comment groups say what follows."""

    # Nothing to do.
    NOT_TRACKED = "NotTracked"
    # Tracking is cleared.
    TRACKING_UNREADABLE = "TrackingUnreadable"
    DELETING = "DeploymentDeleting"
    OPTED_OUT = "OptedOut"
    NOT_A_SINGLETON = "NotASingleton"
    COMPLETED = "RolloutCompleted"
    TIMED_OUT = "RolloutTimedOut"
    NO_SUCCESSOR_FIRST = "NoSuccessorFirst"
    # It is waited.
    ROLLING = "RolloutInProgress"
    NOT_SETTLED = "AnotherRolloutUnderWay"
    # It is patched, once.
    ROLLS = "RolloutStarted"
