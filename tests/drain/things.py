"""A ready singleton and its owners, to be varied with :func:`dataclasses.replace`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hooks.drain.consequences import Verdict
from hooks.drain.model import (
    Case,
    Deployment,
    Kind,
    Owner,
    Pod,
    Read,
    ReplicaSet,
    Review,
    Strategy,
    Terms,
    Trouble,
)
from hooks.drain.verdict import judge

NOW: Final = datetime(2026, 11, 29, 20, 0, 49, tzinfo=UTC)
STAMP: Final = "2026-11-29T20:00:49Z"
TIMEOUT: Final = timedelta(minutes=10)
SECOND: Final = timedelta(seconds=1)

TERMS: Final = Terms(NOW, TIMEOUT)
REVIEW: Final = Review("shop", "web-1-a")
POD: Final = Pod(
    "shop",
    "web-1-a",
    "pod-a",
    owners=(Owner("apps/v1", "ReplicaSet", "web-1", "set-1", controller=True),),
    ready=True,
)
REPLICA_SET: Final = ReplicaSet(
    "shop",
    "web-1",
    "set-1",
    owners=(Owner("apps/v1", "Deployment", "web", "deployment-1", controller=True),),
    revision=1,
)
DEPLOYMENT: Final = Deployment(
    "shop",
    "web",
    "deployment-1",
    resource_version="7",
    generation=2,
    strategy=Strategy(max_surge=1, max_unavailable=0),
    observed_generation=2,
    total=1,
    updated=1,
    ready=1,
    revision=1,
)
OLDER: Final = {"revision": 2, "template": {"spec": "new"}}
"""What a Deployment has by which the Pod is known to be replaced."""
CASE: Final = Case(REVIEW, TERMS, POD, REPLICA_SET, DEPLOYMENT)
TRACKED: Final = replace(DEPLOYMENT, restarted_at=NOW, last_pod_uid="pod-a")


def review(**changes: Any) -> Case:
    """The case with another review."""
    return replace(CASE, review=replace(REVIEW, **changes))


def pod(**changes: Any) -> Case:
    """The case with another Pod."""
    return replace(CASE, pod=replace(POD, **changes))


def replica_set(**changes: Any) -> Case:
    """The case with another ReplicaSet."""
    return replace(CASE, replica_set=replace(REPLICA_SET, **changes))


def deployment(**changes: Any) -> Case:
    """The case with another Deployment."""
    return replace(CASE, deployment=replace(DEPLOYMENT, **changes))


def tracked(**changes: Any) -> Case:
    """The case with a Deployment whose rollout was asked for just now."""
    return replace(CASE, deployment=replace(TRACKED, **changes))


def decided(case: Case) -> Verdict:
    """The verdict, reading nothing that the case doesn't hold."""
    verdict = judge(case)
    assert isinstance(verdict, Verdict), verdict
    return verdict


def walked(case: Case) -> tuple[list[Read], Verdict]:
    """Judge with live reads that find what the case holds; the reads that were made, in order."""
    known, reads = Case(case.review, case.terms, remembered=case.remembered), []
    while isinstance(found := judge(known), Read):
        reads.append(found)
        match found.kind:
            case Kind.POD:
                known = replace(known, pod=case.pod)
            case Kind.REPLICA_SET:
                known = replace(known, replica_set=case.replica_set)
            case Kind.DEPLOYMENT:
                known = replace(known, deployment=case.deployment)
    return reads, found


SILENCE: Final = Trouble("no answer within 1 s")
