"""Each row of the decision table by one eviction, the whole verdict compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hooks.drain.consequences import Verdict
from hooks.drain.facts import Facts
from hooks.drain.model import Case, Kind, Owner, Read, Remembered, Strategy, Unreadable
from hooks.drain.reasons import Answer, Reason
from hooks.drain.tracking import findings
from hooks.drain.verdict import TABLE, failed, judge
from hooks.drain.writes import Announcement, PatchDeployment
from tests.drain.things import (
    CASE,
    DEPLOYMENT,
    NOW,
    OLDER,
    POD,
    REPLICA_SET,
    REVIEW,
    SECOND,
    SILENCE,
    STAMP,
    TERMS,
    TIMEOUT,
    TRACKED,
    decided,
    deployment,
    pod,
    replica_set,
    review,
    tracked,
    walked,
)

READ_POD = Read(Kind.POD, "shop", "web-1-a")
READ_SET = Read(Kind.REPLICA_SET, "shop", "web-1")
READ_DEPLOYMENT = Read(Kind.DEPLOYMENT, "shop", "web")
UNTIL = "2026-11-29T20:10:49Z"
WHO = "noderotation graceful-drain: "


def allowed(
    reason: Reason, *warnings: str, about: str = "", events: tuple[Announcement, ...] = ()
) -> Verdict:
    return Verdict(Answer.ALLOW, reason, warnings=warnings, deployment=about, announcements=events)


def event(reason: str, note: str, name: str) -> Announcement:
    return Announcement(
        name=f"graceful-drain-{name}",
        reason=reason,
        note=note,
        namespace="shop",
        regarding="web",
        regarding_uid="deployment-1",
        at=NOW,
    )


ARGO = Owner("argoproj.io/v1alpha1", "Rollout", "web", "rollout-1", controller=True)
STATEFUL = Owner("apps/v1", "StatefulSet", "web", "set-1", controller=True)
OVER = replace(TRACKED, restarted_at=NOW - TIMEOUT)

BEFORE_THE_DEPLOYMENT: list[tuple[str, Case, int, Verdict]] = [
    ("of something else", review(is_eviction=False), 0, allowed(Reason.NOT_AN_EVICTION)),
    ("a dry run", review(dry_run=True), 0, allowed(Reason.DRY_RUN)),
    (
        "the Pod can't be read",
        replace(CASE, pod=SILENCE),
        1,
        Verdict(
            Answer.DENY,
            Reason.POD_NOT_READ,
            message=f"{WHO}Pod shop/web-1-a can't be read (no answer within 1 s); try again",
            counts=True,
        ),
    ),
    (
        "the Pod can't be read for long",
        replace(CASE, pod=SILENCE, remembered=Remembered(NOW - TIMEOUT)),
        1,
        allowed(Reason.POD_NOT_READ, f"{WHO}no answer within 1 s, for too long; not protected"),
    ),
    ("the Pod is gone", replace(CASE, pod=None), 1, allowed(Reason.POD_GONE)),
    ("a namesake of the Pod", review(uid_wanted="pod-0"), 1, allowed(Reason.ANOTHER_POD)),
    ("terminating", pod(terminating=True), 1, allowed(Reason.POD_TERMINATING)),
    ("succeeded", pod(phase="Succeeded"), 1, allowed(Reason.POD_FINISHED)),
    ("failed", pod(phase="Failed"), 1, allowed(Reason.POD_FINISHED)),
    ("not ready", pod(ready=False), 1, allowed(Reason.POD_NOT_READY)),
    ("of nothing", pod(owners=()), 1, allowed(Reason.NO_DEPLOYMENT)),
    ("of a StatefulSet", pod(owners=(STATEFUL,)), 1, allowed(Reason.NO_DEPLOYMENT)),
    (
        "the ReplicaSet can't be read",
        replace(CASE, replica_set=SILENCE),
        2,
        allowed(
            Reason.OWNER_NOT_READ,
            f"{WHO}the owner of the Pod can't be read (no answer within 1 s); not protected",
        ),
    ),
    ("the ReplicaSet is gone", replace(CASE, replica_set=None), 2, allowed(Reason.OWNER_GONE)),
    ("a namesake of the ReplicaSet", replica_set(uid="set-2"), 2, allowed(Reason.OWNER_GONE)),
    ("a ReplicaSet of nothing", replica_set(owners=()), 2, allowed(Reason.NO_DEPLOYMENT)),
    ("of an Argo Rollout", replica_set(owners=(ARGO,)), 2, allowed(Reason.NO_DEPLOYMENT)),
    (
        "the Deployment can't be read",
        replace(CASE, deployment=SILENCE),
        3,
        allowed(
            Reason.OWNER_NOT_READ,
            f"{WHO}the owner of the Pod can't be read (no answer within 1 s); not protected",
        ),
    ),
    ("the Deployment is gone", replace(CASE, deployment=None), 3, allowed(Reason.OWNER_GONE)),
]

WEB = "shop/web"
RECREATE = (
    "Deployment shop/web can't get a ready successor first; spec.strategy.type stands against"
    " it: set it to RollingUpdate"
)
REQUESTED = "the eviction of Pod web-1-a asked for a rollout, so that a successor comes first"
ADOPTED = "the eviction of Pod web-1-a waits for the rollout that is under way"
UNNUMBERED = deployment(generation=3, template={"spec": "new"})
"""A rollout whose ReplicaSet may be there, and whose revision isn't yet."""
ADOPTS = Verdict(
    Answer.DENY,
    Reason.ROLLOUT_ADOPTED,
    message=f"{WHO}{ADOPTED} (Deployment shop/web, since {STAMP}, until {UNTIL} at most)",
    patch=PatchDeployment(
        "shop",
        "web",
        "deployment-1",
        "7",
        (
            ("graceful-drain.stonal.com/restarted-at", STAMP),
            ("graceful-drain.stonal.com/rolled-for", STAMP),
            ("graceful-drain.stonal.com/last-pod-uid", "pod-a"),
        ),
    ),
    announcements=(
        event("GracefulDrainTriggered", ADOPTED, "3638da7b621eaaacad432d9eec4cb7937d31413b"),
    ),
    deployment=WEB,
    counts=True,
)
OF_THE_DEPLOYMENT: list[tuple[str, Case, Verdict]] = [
    (
        "a namesake of the Deployment",
        deployment(uid="deployment-2"),
        allowed(Reason.OWNER_GONE, about=WEB),
    ),
    ("deleting", tracked(deleting=True), allowed(Reason.DEPLOYMENT_DELETING, about=WEB)),
    (
        "opted out",
        replace(tracked(), terms=replace(TERMS, enabled_annotation="drain")),
        allowed(Reason.OPTED_OUT, about=WEB),
    ),
    ("two replicas", tracked(replicas=2), allowed(Reason.NOT_A_SINGLETON, about=WEB)),
    ("no replicas", tracked(replicas=0), allowed(Reason.NOT_A_SINGLETON, about=WEB)),
    (
        "timed out",
        replace(CASE, deployment=OVER),
        allowed(
            Reason.ROLLOUT_TIMED_OUT,
            f"{WHO}the rollout of Deployment shop/web that was requested at"
            " 2026-11-29T19:50:49Z wasn't ready within 10m0s; not protected",
            about=WEB,
        ),
    ),
    (
        "the successor",
        tracked(ready=2, total=2),
        Verdict(
            Answer.DENY,
            Reason.IS_SUCCESSOR,
            message=f"{WHO}this Pod is the successor of one that goes first"
            f" (Deployment shop/web, since {STAMP}, until {UNTIL} at most)",
            deployment=WEB,
            counts=True,
        ),
    ),
    (
        "two ready, the older one of a rollout of ours",
        tracked(ready=2, total=2, **OLDER),
        allowed(Reason.SUCCESSOR_READY, about=WEB),
    ),
    ("two ready", deployment(ready=2, total=2), allowed(Reason.SUCCESSOR_READY, about=WEB)),
    (
        "tracking was cleared",
        deployment(last_pod_uid="pod-a"),
        allowed(
            Reason.ALREADY_ROLLED,
            f"{WHO}a rollout of Deployment shop/web was requested for this Pod before, and is"
            " over; not protected again",
            about=WEB,
        ),
    ),
    (
        "no successor first",
        deployment(strategy=Strategy("Recreate")),
        allowed(
            Reason.NO_SUCCESSOR_FIRST,
            f"{WHO}{RECREATE}",
            about=WEB,
            events=(
                event(
                    "GracefulDrainImpossible",
                    RECREATE,
                    "0fb67cdfec8e5ef2d7cac7dd69fecb72a43c6cbd",
                ),
            ),
        ),
    ),
    (
        "asked for, and its annotations were taken away",
        replace(CASE, remembered=Remembered(NOW, recorded=True)),
        allowed(
            Reason.ALREADY_ROLLED,
            f"{WHO}a rollout of Deployment shop/web was requested for this Pod before, and is"
            " over; not protected again",
            about=WEB,
        ),
    ),
    (
        "denied for as long as may be, by whatever tracking",
        replace(tracked(), remembered=Remembered(NOW - TIMEOUT)),
        allowed(
            Reason.ROLLOUT_TIMED_OUT,
            f"{WHO}Pod shop/web-1-a has waited for a rollout of Deployment shop/web since"
            " 2026-11-29T19:50:49Z, longer than 10m0s; not protected",
            about=WEB,
        ),
    ),
    (
        "in progress",
        tracked(),
        Verdict(
            Answer.DENY,
            Reason.ROLLOUT_IN_PROGRESS,
            message=f"{WHO}its successor isn't ready yet"
            f" (Deployment shop/web, since {STAMP}, until {UNTIL} at most)",
            deployment=WEB,
            counts=True,
        ),
    ),
    (
        "adopted",
        deployment(**OLDER, rolled_for=NOW - TIMEOUT, last_pod_uid="pod-0"),
        ADOPTS,
    ),
    (
        "adopted before its controller has numbered it",
        UNNUMBERED,
        ADOPTS,
    ),
    (
        "requested",
        CASE,
        Verdict(
            Answer.DENY,
            Reason.ROLLOUT_REQUESTED,
            message=f"{WHO}{REQUESTED} (Deployment shop/web, since {STAMP}, until {UNTIL} at most)",
            patch=PatchDeployment(
                "shop",
                "web",
                "deployment-1",
                "7",
                (
                    ("graceful-drain.stonal.com/restarted-at", STAMP),
                    ("graceful-drain.stonal.com/rolled-for", None),
                    ("graceful-drain.stonal.com/last-pod-uid", "pod-a"),
                ),
            ),
            announcements=(
                event(
                    "GracefulDrainTriggered",
                    REQUESTED,
                    "3638da7b621eaaacad432d9eec4cb7937d31413b",
                ),
            ),
            deployment=WEB,
            counts=True,
        ),
    ),
]
UNUSABLE = tracked(restarted_at=Unreadable("soon"))


@pytest.mark.parametrize(
    ("case", "reads", "expected"),
    [one[1:] for one in BEFORE_THE_DEPLOYMENT],
    ids=[one[0].replace(" ", "-") for one in BEFORE_THE_DEPLOYMENT],
)
def test_a_row_before_the_deployment_is_read(case: Case, reads: int, expected: Verdict) -> None:
    made, verdict = walked(case)
    assert made == [READ_POD, READ_SET, READ_DEPLOYMENT][:reads]
    assert verdict == expected


@pytest.mark.parametrize(
    ("case", "expected"),
    [one[1:] for one in OF_THE_DEPLOYMENT],
    ids=[one[0].replace(" ", "-") for one in OF_THE_DEPLOYMENT],
)
def test_a_row_about_the_deployment(case: Case, expected: Verdict) -> None:
    made, verdict = walked(case)
    assert made == [READ_POD, READ_SET, READ_DEPLOYMENT]
    assert verdict == expected


def test_tracking_that_cannot_be_read_protects_nothing_and_is_told() -> None:
    expected = allowed(Reason.TRACKING_UNREADABLE, about=WEB)
    mine = replace(DEPLOYMENT, restarted_at=Unreadable("soon"))
    assert decided(UNUSABLE) == replace(expected, findings=findings(mine, TERMS))


def test_each_reason_of_the_table_has_a_case_here() -> None:
    seen = {one[3].reason for one in BEFORE_THE_DEPLOYMENT}
    seen |= {one[2].reason for one in OF_THE_DEPLOYMENT}
    assert seen | {Reason.TRACKING_UNREADABLE} == {row.reason for row in TABLE}


@pytest.mark.parametrize(
    "reason",
    [
        Reason.MALFORMED_REVIEW,
        Reason.TRACKING_NOT_WRITTEN,
        Reason.OUT_OF_TIME,
        Reason.INTERNAL_ERROR,
    ],
)
def test_a_fault_of_ours_is_allowed_and_said(reason: Reason) -> None:
    warning = f"{WHO}the tracking annotation wasn't written; not protected"
    assert failed(reason, "the tracking annotation wasn't written") == allowed(reason, warning)


def test_every_reason_is_of_the_table_or_a_fault_of_ours() -> None:
    faults = {"MalformedReview", "TrackingNotWritten", "OutOfTime", "InternalError"}
    assert {row.reason.value for row in TABLE} | faults == {reason.value for reason in Reason}


def test_only_these_rows_deny() -> None:
    assert [row.reason.value for row in TABLE if row.answer is Answer.DENY] == [
        "PodNotRead",
        "IsSuccessor",
        "RolloutInProgress",
        "RolloutAdopted",
        "RolloutRequested",
    ]


def test_a_row_that_asks_too_early_is_a_fault_of_the_table() -> None:
    facts = Facts(Case(REVIEW, TERMS))
    with pytest.raises(LookupError, match="no row before it has made sure of"):
        _ = facts.pod
    with pytest.raises(LookupError, match="no row before it has made sure of"):
        _ = Facts(replace(CASE, deployment=SILENCE)).deployment


@pytest.mark.parametrize(
    ("annotations", "reason"),
    [
        ({}, Reason.OPTED_OUT),
        ({"other": "true"}, Reason.OPTED_OUT),
        ({"drain": "false"}, Reason.OPTED_OUT),
        ({"drain": " False "}, Reason.OPTED_OUT),
        ({"drain": "true"}, Reason.ROLLOUT_REQUESTED),
        ({"drain": ""}, Reason.ROLLOUT_REQUESTED),
    ],
    ids=str,
)
def test_the_annotation_that_opts_in(annotations: dict[str, str], reason: Reason) -> None:
    terms = replace(TERMS, enabled_annotation="drain")
    case = replace(deployment(annotations=annotations), terms=terms)
    assert decided(case).reason == reason


def test_tracking_begins_on_a_whole_second() -> None:
    case = replace(CASE, terms=replace(TERMS, now=NOW + timedelta(milliseconds=999)))
    wanted = decided(case).patch
    assert wanted is not None
    assert wanted.annotations[0] == ("graceful-drain.stonal.com/restarted-at", STAMP)
    assert f"since {STAMP}, until {UNTIL} at most" in decided(case).message


def test_a_timeout_of_its_own_is_what_the_evictor_is_told() -> None:
    own = timedelta(minutes=2)
    assert "until 2026-11-29T20:02:49Z" in decided(deployment(rollout_timeout=own)).message
    assert "until 2026-11-29T20:02:49Z" in decided(tracked(rollout_timeout=own)).message


def test_an_invalid_timeout_is_told_and_the_default_counts() -> None:
    verdict = decided(tracked(rollout_timeout=Unreadable("soon")))
    assert verdict.reason is Reason.ROLLOUT_IN_PROGRESS
    assert [finding.code.value for finding in verdict.findings] == ["RolloutTimeoutInvalid"]
    assert UNTIL in verdict.message


def test_events_of_one_pod_and_obstacle_are_one_and_of_others_are_not() -> None:
    recreate = deployment(strategy=Strategy("Recreate"))
    later = replace(recreate, terms=replace(TERMS, now=NOW + SECOND))
    assert decided(recreate).announcements[0].name == decided(later).announcements[0].name
    other = replace(recreate, pod=replace(POD, uid="pod-b"))
    assert decided(recreate).announcements[0].name != decided(other).announcements[0].name


def test_what_is_for_another_pod_does_not_use_up_a_pods_own_time() -> None:
    assert not decided(tracked(last_pod_uid="pod-0")).counts
    assert not decided(tracked(last_pod_uid="pod-0", ready=2)).counts
    assert decided(tracked(last_pod_uid=None)).counts


def test_a_pod_that_nothing_replaces_and_that_we_never_asked_for_begins_anew() -> None:
    remembered = Remembered(NOW - TIMEOUT)
    assert decided(replace(CASE, remembered=remembered)).reason is Reason.ROLLOUT_REQUESTED
    older = replace(deployment(**OLDER), remembered=remembered)
    assert decided(older).reason is Reason.ROLLOUT_TIMED_OUT
    assert decided(replace(UNNUMBERED, remembered=remembered)).reason is Reason.ROLLOUT_TIMED_OUT


def test_a_rollout_of_ours_whose_tracking_was_taken_away_is_adopted() -> None:
    remembered = Remembered(NOW, recorded=True)
    older = replace(deployment(**OLDER), remembered=remembered)
    assert decided(older).reason is Reason.ROLLOUT_ADOPTED
    assert decided(replace(UNNUMBERED, remembered=remembered)).reason is Reason.ROLLOUT_ADOPTED


@pytest.mark.parametrize("generation", [2, 3])
def test_a_rollout_that_was_undone_replaces_nothing_though_it_is_numbered_still(
    generation: int,
) -> None:
    """Its controller hasn't observed that yet, or the ReplicaSet was read before it was renumbered."""
    undone = deployment(generation=generation, revision=2)
    assert decided(undone).reason is Reason.ROLLOUT_REQUESTED
    ours = replace(undone, remembered=Remembered(NOW, recorded=True))
    assert decided(ours).reason is Reason.ALREADY_ROLLED


@pytest.mark.parametrize(
    ("total", "updated", "reason"),
    [
        (2, 0, Reason.ROLLOUT_IN_PROGRESS),
        (2, 1, Reason.SUCCESSOR_READY),
        (3, 1, Reason.ROLLOUT_IN_PROGRESS),
        (3, 2, Reason.SUCCESSOR_READY),
    ],
)
def test_an_old_pod_goes_once_one_of_those_that_are_ready_must_be_updated(
    total: int, updated: int, reason: Reason
) -> None:
    case = tracked(**OLDER, ready=2, total=total, updated=updated)
    assert decided(case).reason is reason


def test_of_two_that_are_ready_neither_goes_while_an_undone_rollout_is_not_observed() -> None:
    undone = {"generation": 3, "revision": 2, "ready": 2}
    assert decided(deployment(**undone)).reason is Reason.ROLLOUT_REQUESTED
    assert decided(tracked(**undone)).reason is Reason.ROLLOUT_IN_PROGRESS


def test_a_timeout_of_its_own_counts_for_what_is_remembered() -> None:
    remembered = Remembered(NOW - timedelta(minutes=1))
    case = replace(tracked(rollout_timeout=timedelta(minutes=1)), remembered=remembered)
    assert decided(case).reason is Reason.ROLLOUT_TIMED_OUT
    longer = replace(tracked(rollout_timeout=timedelta(seconds=61)), remembered=remembered)
    assert decided(longer).reason is Reason.ROLLOUT_IN_PROGRESS


def test_a_verdict_needs_no_more_than_its_reads() -> None:
    known = Case(REVIEW, TERMS)
    assert judge(known) == READ_POD
    known = replace(known, pod=POD)
    assert judge(known) == READ_SET
    known = replace(known, replica_set=REPLICA_SET)
    assert judge(known) == READ_DEPLOYMENT


def test_two_trackings_within_a_second_differ() -> None:
    verdict = decided(deployment(rolled_for=NOW, last_pod_uid="pod-0"))
    assert verdict.patch is not None
    assert verdict.patch.annotations[0][1] == "2026-11-29T20:00:50Z"
    assert "since 2026-11-29T20:00:50Z, until 2026-11-29T20:10:50Z at most" in verdict.message
