"""The strings of the reasons: they reach logs, Events and metrics, so they are a contract."""

from __future__ import annotations

from hooks.rotation.reasons import Reason

PINNED = [
    "PoolDeleting",
    "NoPolicy",
    "PolicyConflict",
    "PolicyInvalid",
    "FatalFinding",
    "Suspended",
    "MalformedState",
    "Frozen",
    "OutsideWindow",
    "Excluded",
    "CoolingDown",
    "FailurePause",
    "DryRun",
    "BackingOff",
    "NoCandidate",
    "StaticNodePool",
    "NoHeadroom",
    "RotationStarted",
    "ForcefulFallback",
    "SurgePending",
    "SurgeUnschedulable",
    "SurgeNotCreated",
    "CandidateNodeGone",
    "PlaceholderLost",
    "SurgeReady",
    "DrainStarted",
    "Draining",
    "DrainStuck",
    "MirrorRestored",
    "Retrying",
    "Withdrawing",
    "RotationCompleted",
    "RotationExpired",
    "RotationFailed",
    "FallbackWithdrawn",
    "GovernanceLost",
    "PoolGone",
    "AnchorElsewhere",
    "ModeChanged",
    "OutcomeChanged",
    "ClaimGone",
    "ClaimDeleting",
    "StateChanged",
    "MirrorMissing",
    "Aborted",
    "FallbackNotOk",
    "PlaceholderMissing",
    "PlaceholderNotRunning",
    "PlaceholderOnCandidate",
    "HostNotReady",
    "HostLeaving",
    "HostUnschedulable",
    "HostOfAnotherPool",
    "Conflict",
    "UnknownState",
]


def test_the_strings_are_pinned() -> None:
    assert [reason.value for reason in Reason] == PINNED


def test_each_member_is_called_like_its_string() -> None:
    for reason in Reason:
        assert reason.name.replace("_", "").lower() == reason.value.lower()
