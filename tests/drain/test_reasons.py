"""The strings of the reasons: they reach logs, Events and metrics, so they are a contract."""

from __future__ import annotations

from hooks.drain.reasons import Answer, Outcome, Reason, Stage
from hooks.drain.writes import Code

REASONS = [
    "NotAnEviction",
    "DryRun",
    "PodNotRead",
    "PodGone",
    "AnotherPod",
    "PodTerminating",
    "PodFinished",
    "PodNotReady",
    "NoDeployment",
    "OwnerNotRead",
    "OwnerGone",
    "DeploymentDeleting",
    "OptedOut",
    "NotASingleton",
    "TrackingUnreadable",
    "RolloutTimedOut",
    "IsSuccessor",
    "SuccessorReady",
    "AlreadyRolled",
    "NoSuccessorFirst",
    "RolloutInProgress",
    "RolloutAdopted",
    "RolloutRequested",
    "MalformedReview",
    "TrackingNotWritten",
    "OutOfTime",
    "InternalError",
]
STAGES = [
    "NotTracked",
    "TrackingUnreadable",
    "DeploymentDeleting",
    "OptedOut",
    "NotASingleton",
    "RolloutCompleted",
    "RolloutTimedOut",
    "NoSuccessorFirst",
    "RolloutInProgress",
    "AnotherRolloutUnderWay",
    "RolloutStarted",
]


def test_the_reasons_are_pinned() -> None:
    assert [reason.value for reason in Reason] == REASONS


def test_the_stages_are_pinned() -> None:
    assert [stage.value for stage in Stage] == STAGES


def test_the_other_words_are_pinned() -> None:
    assert [answer.value for answer in Answer] == ["allow", "deny"]
    assert [outcome.value for outcome in Outcome] == [
        "completed",
        "timeout",
        "impossible",
        "scaled",
        "opted-out",
        "deleted",
        "unreadable",
    ]
    assert [code.value for code in Code] == [
        "RolloutTimeoutInvalid",
        "TrackingUnreadable",
        "TrackingAhead",
    ]
