"""Why a pass did, or did not do, what it did: the one enumeration behind logs, Events and metrics.

Its strings are a contract with users and pinned by a test.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """One outcome of one decision; the comment groups say who gives it."""

    # Nothing starts (gates, in their order).
    POOL_DELETING = "PoolDeleting"
    NO_POLICY = "NoPolicy"
    POLICY_CONFLICT = "PolicyConflict"
    POLICY_INVALID = "PolicyInvalid"
    FATAL_FINDING = "FatalFinding"
    SUSPENDED = "Suspended"
    MALFORMED_STATE = "MalformedState"
    FROZEN = "Frozen"
    OUTSIDE_WINDOW = "OutsideWindow"
    EXCLUDED = "Excluded"
    COOLING_DOWN = "CoolingDown"
    FAILURE_PAUSE = "FailurePause"
    DRY_RUN = "DryRun"
    BACKING_OFF = "BackingOff"
    NO_CANDIDATE = "NoCandidate"
    STATIC_NODE_POOL = "StaticNodePool"
    NO_HEADROOM = "NoHeadroom"
    # A rotation in flight.
    ROTATION_STARTED = "RotationStarted"
    FORCEFUL_FALLBACK = "ForcefulFallback"
    SURGE_PENDING = "SurgePending"
    SURGE_UNSCHEDULABLE = "SurgeUnschedulable"
    SURGE_NOT_CREATED = "SurgeNotCreated"
    CANDIDATE_NODE_GONE = "CandidateNodeGone"
    PLACEHOLDER_LOST = "PlaceholderLost"
    SURGE_READY = "SurgeReady"
    DRAIN_STARTED = "DrainStarted"
    DRAINING = "Draining"
    DRAIN_STUCK = "DrainStuck"
    MIRROR_RESTORED = "MirrorRestored"
    RETRYING = "Retrying"
    WITHDRAWING = "Withdrawing"
    # The ends of a rotation.
    ROTATION_COMPLETED = "RotationCompleted"
    ROTATION_EXPIRED = "RotationExpired"
    ROTATION_FAILED = "RotationFailed"
    FALLBACK_WITHDRAWN = "FallbackWithdrawn"
    GOVERNANCE_LOST = "GovernanceLost"
    # Why a guard refused, or a surge is not ready.
    POOL_GONE = "PoolGone"
    ANCHOR_ELSEWHERE = "AnchorElsewhere"
    MODE_CHANGED = "ModeChanged"
    OUTCOME_CHANGED = "OutcomeChanged"
    CLAIM_GONE = "ClaimGone"
    CLAIM_DELETING = "ClaimDeleting"
    STATE_CHANGED = "StateChanged"
    MIRROR_MISSING = "MirrorMissing"
    ABORTED = "Aborted"
    FALLBACK_NOT_OK = "FallbackNotOk"
    PLACEHOLDER_MISSING = "PlaceholderMissing"
    PLACEHOLDER_NOT_RUNNING = "PlaceholderNotRunning"
    PLACEHOLDER_ON_CANDIDATE = "PlaceholderOnCandidate"
    HOST_NOT_READY = "HostNotReady"
    HOST_LEAVING = "HostLeaving"
    HOST_UNSCHEDULABLE = "HostUnschedulable"
    HOST_OF_ANOTHER_POOL = "HostOfAnotherPool"
    CONFLICT = "Conflict"
    UNKNOWN_STATE = "UnknownState"
