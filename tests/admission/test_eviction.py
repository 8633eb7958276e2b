"""The webhook of evictions: every fixture whole, and what people expected of it."""

from __future__ import annotations

import json

import pytest

from hooks.drain.reasons import Reason
from hooks.drain.verdict import TABLE
from tests.admission.catalogue import CASES
from tests.support.live import Json
from tests.support.singleton import (
    NEW,
    OLD,
    REMOVED,
    SETS,
    cluster,
    deployment,
    evicted,
    replica_set,
)
from tests.support.singletonfolders import (
    EVICTION,
    DrainCase,
    Outcome,
    body_of,
    inputs_of,
    load,
    names_of_folders,
    run,
    short,
    tells_of,
)
from tests.support.singletonplausible import CHECKS, implausible

every_folder = pytest.mark.parametrize("name", names_of_folders(EVICTION))
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
STATE = ("restarted-at", "rolled-for", "last-pod-uid")


@every_folder
def test_a_review(name: str) -> None:
    stored = load(EVICTION, name)
    outcome = run(EVICTION, stored)
    assert outcome.report == stored["report"], stored.why
    assert outcome.writes == stored["writes"], stored.why
    assert outcome.response == stored["response"], stored.why


def test_each_case_has_its_folder_and_no_other() -> None:
    assert names_of_folders(EVICTION) == sorted(case.name for case in CASES)


@every_case
def test_a_folder_shows_the_world_of_its_case(case: DrainCase) -> None:
    stored = load(EVICTION, case.name)
    assert (stored.body, stored.now, stored.why) == (body_of(case.request), case.now, case.why)
    assert {part: stored[part] for part in inputs_of(case)} == inputs_of(case)


@every_case
def test_a_world_that_could_exist(case: DrainCase) -> None:
    assert implausible(load(EVICTION, case.name)["live"]) == case.unusual


BROKEN = {
    "filed": evicted(metadata__namespace="another"),
    "uids": evicted(metadata__uid=REMOVED),
    "owners": replica_set(metadata__uid="another"),
    "counts": deployment(status__readyReplicas=2),
    "generation": deployment(status__observedGeneration=2),
    "revisions": replica_set(NEW, metadata__name="single-6d6cd94fd5", metadata__uid=SETS[OLD]),
}


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_refuses_a_world_that_could_not_exist(check: str) -> None:
    thing = BROKEN[check]
    world = cluster(evicted(), replica_set(), deployment())
    assert implausible(world) == set()
    kind = {"Pod": "pods", "ReplicaSet": "replicasets", "Deployment": "deployments"}[thing["kind"]]
    (key,) = world[kind]
    world[kind][key] = thing
    assert check in implausible(world)


@every_case
def test_a_folder_expects_what_the_case_says(case: DrainCase) -> None:
    stored = load(EVICTION, case.name)
    outcome = Outcome(None, stored["writes"], stored["response"], stored["report"])
    assert tells_of(EVICTION, outcome) == case.tells
    assert tuple(map(short, outcome.writes)) == case.calls
    assert tuple(line["event"] for line in outcome.report["log"]) == case.log


def answers() -> list[tuple[DrainCase, Json]]:
    found = [(case, load(EVICTION, case.name)["response"]) for case in CASES]
    return [(case, response) for case, response in found if "raises" not in response]


def test_every_answer_is_one_that_the_api_server_takes() -> None:
    for case, review in answers():
        response = review["response"]
        asked = json.loads(body_of(case.request))
        assert review["kind"] == "AdmissionReview"
        assert review["apiVersion"] == asked.get("apiVersion", "admission.k8s.io/v1")
        assert response["uid"] == asked["request"]["uid"]
        allowed = case.tells.startswith("allow")
        assert response["allowed"] is allowed
        assert ("status" in response) is not allowed
        assert response.keys() <= {"uid", "allowed", "warnings", "status"}


def test_a_denial_says_who_what_since_when_and_until_when_at_most() -> None:
    seen = 0
    for case, review in answers():
        status = review["response"].get("status")
        if status is None or case.tells == "deny PodNotRead":
            continue
        seen += 1
        assert (status["code"], status["reason"]) == (429, "TooManyRequests")
        for part in ("noderotation graceful-drain", "Deployment default/single", "since 2026-",
                     "until 2026-", "at most"):  # fmt: skip
            assert part in status["message"], case.name
    assert seen > 10


def test_where_an_operator_must_change_something_there_is_a_warning() -> None:
    silent = {"NotAnEviction", "DryRun", "PodGone", "AnotherPod", "PodTerminating", "PodFinished",
              "PodNotReady", "NoDeployment", "OwnerGone", "DeploymentDeleting", "OptedOut",
              "NotASingleton", "SuccessorReady", "RolloutInProgress", "RolloutAdopted",
              "RolloutRequested", "IsSuccessor", "PodNotRead"}  # fmt: skip
    for case, review in answers():
        warns = "warnings" in review["response"]
        reason = case.tells.split()[1]
        is_told = case.name.startswith("own-timeout-that-is")
        assert warns is (reason not in silent or is_told), case.name


def test_every_row_and_every_reason_is_seen() -> None:
    seen = {case.tells for case, _ in answers()}
    # What takes more than one call is in test_memory.py.
    assert {f"{row.answer} {row.reason}" for row in TABLE} - seen == {"allow PodNotRead"}
    assert {one.split()[1] for one in seen} == set(Reason)


def test_a_dry_run_reads_and_writes_nothing() -> None:
    dry = [case for case in CASES if case.tells.endswith("DryRun")]
    assert len(dry) == 5
    assert all(load(EVICTION, case.name)["writes"] == [] for case in dry)


def test_three_reads_at_most_and_four_after_a_lost_patch() -> None:
    for case in CASES:
        reads = [call for call in case.calls if call.startswith("get")]
        assert len(reads) <= 3 + ("patch!Conflict" in case.calls)


def test_what_is_written_is_tracking_and_nothing_else() -> None:
    written = set()
    for case in CASES:
        for write in load(EVICTION, case.name)["writes"]:
            for op in write.get("ops", ()):
                assert op["path"].startswith("/metadata/annotations")
                keys = op["value"] if isinstance(op.get("value"), dict) else [op["path"]]
                written |= {key.replace("~1", "/").rpartition("/")[2] for key in keys}
    assert written == {*STATE}
