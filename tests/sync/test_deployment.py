"""The sync hook of tracked Deployments: every fixture whole, and what people expected of it."""

from __future__ import annotations

import json

import pytest

from hooks import names
from hooks.drain.progress import TABLE
from hooks.drain.reasons import Outcome as End
from tests.support.singletonfolders import (
    DEPLOYMENT,
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
from tests.support.singletonplausible import implausible
from tests.sync.catalogue.deployments import CASES

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.mark.parametrize("name", names_of_folders(DEPLOYMENT))
def test_a_sync(name: str) -> None:
    stored = load(DEPLOYMENT, name)
    outcome = run(DEPLOYMENT, stored)
    assert outcome.report == stored["report"], stored.why
    assert outcome.writes == stored["writes"], stored.why
    assert outcome.response == stored["response"], stored.why


def test_each_case_has_its_folder_and_no_other() -> None:
    assert names_of_folders(DEPLOYMENT) == sorted(case.name for case in CASES)


@every_case
def test_a_folder_shows_the_world_of_its_case(case: DrainCase) -> None:
    stored = load(DEPLOYMENT, case.name)
    assert (stored.body, stored.now, stored.why) == (body_of(case.request), case.now, case.why)
    assert {part: stored[part] for part in inputs_of(case)} == inputs_of(case)


@every_case
def test_a_world_that_could_exist(case: DrainCase) -> None:
    assert implausible(load(DEPLOYMENT, case.name)["live"]) == case.unusual


@every_case
def test_a_folder_expects_what_the_case_says(case: DrainCase) -> None:
    stored = load(DEPLOYMENT, case.name)
    outcome = Outcome(None, stored["writes"], stored["response"], stored["report"])
    assert tells_of(DEPLOYMENT, outcome) == case.tells
    assert tuple(map(short, outcome.writes)) == case.calls
    assert tuple(line["event"] for line in outcome.report["log"]) == case.log


def test_an_answer_removes_tracking_or_nothing() -> None:
    for case in CASES:
        response = load(DEPLOYMENT, case.name)["response"]
        if "raises" not in response:
            assert response.get("annotations") in (None, {names.DRAIN_RESTARTED_AT: None})
            assert response.keys() <= {"annotations", "resyncAfterSeconds"}


def test_the_template_and_the_marker_are_one_patch_and_nothing_else_is_written() -> None:
    patched = set()
    for case in CASES:
        for write in load(DEPLOYMENT, case.name)["writes"]:
            if "ops" in write:
                first, second = write["ops"]
                assert first["path"].endswith("graceful-drain.stonal.com~1rolled-for")
                patched.add(second["path"])
                since = json.loads(body_of(case.request))["object"]["metadata"]["annotations"]
                assert first["value"] == since[names.DRAIN_RESTARTED_AT]
    assert patched == {
        "/spec/template/metadata/annotations",
        "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt",
    }


def test_every_stage_and_every_end_is_seen() -> None:
    reports = [load(DEPLOYMENT, case.name)["report"] for case in CASES]
    lines = [line for report in reports for line in report["log"]]
    assert {line["outcome"] for line in lines if "outcome" in line} == set(End)
    told = {line["reason"] for line in lines}
    quiet = {"NotTracked", "RolloutInProgress", "AnotherRolloutUnderWay"}
    assert {row.stage.value for row in TABLE} <= told | quiet


def test_an_end_counts_once_however_often_it_is_answered() -> None:
    counted = "gracefuldrain_rollouts_total{outcome="
    for case in CASES:
        report = load(DEPLOYMENT, case.name)["report"]
        ends = [line for line in report["metrics"] if line.startswith(counted)]
        assert len(ends) == sum("outcome" in line for line in report["log"])
