"""The fixtures are what the catalogue says, could exist, and leave nothing out."""

from __future__ import annotations

import configparser
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hooks import names
from hooks.rotation.finding import Code
from hooks.rotation.phases import TABLE
from hooks.rotation.reasons import Reason
from tests.support.cases import AMONG_WRITES, CREATED, KEPT, NONE, Case, events_of
from tests.support.folders import Stored, inputs_of, load, names_of_folders, run
from tests.support.live import Json
from tests.support.plausible import CHECKS, implausible
from tests.support.shortly import short
from tests.support.world import uid_of
from tests.sync.catalogue.everything import CASES

ELSEWHERE = {
    Code.SHORT_LEAD,  # told of single NodeClaims, not of a pool
    # The schema refuses these, so at the hook such a policy is a broken one (see refused-*).
    Code.NO_WINDOWS,
    Code.K_BELOW_ONE,
    Code.OVERRIDE_NON_POSITIVE,
}

META, NOTES = "metadata", ("metadata", "annotations")
POD = ("live", "pods", "node-rotation-system/noderotation-surge-old")
NODE, CLAIM = ("live", "nodes", "node-old"), ("live", "nodeclaims", "old")
SHOWN_NODE = ("request", "related", names.NODE_GROUP, "node-old")
SHOWN_CLAIM = ("request", "related", names.NODECLAIM_GROUP, "old")
IMPOSSIBLE: dict[str, tuple[tuple[str, ...], object]] = {
    "placeholder without anchor": (("request", "object", *NOTES, names.ACTIVE_ROTATION), None),
    "mark without label": ((*NODE, META, "labels", names.SURGE_FOR), None),
    "unrelated node": ((*SHOWN_NODE, META, "labels", names.SURGE_FOR), None),
    "claim without node": (NODE, None),
    "node without claim": (CLAIM, None),
    "pod without node": ((*POD, "spec", "nodeName"), "elsewhere"),
    "running nowhere": ((*POD, "spec"), {}),
    "wrong time": ((*NODE, META, "creationTimestamp"), "2027-01-01T00:00:00Z"),
    "stamp out of order": ((*CLAIM, *NOTES, names.STARTED_AT), "2020-01-01T00:00:00Z"),
    "stale live": ((*CLAIM, "status", "nodeName"), ""),
    "misfiled": ((*NODE, META, "name"), "another"),
    "shared uid": ((*NODE, META, "uid"), uid_of("old")),
    "other pool": ((*SHOWN_CLAIM, META, "labels", names.NODEPOOL_LABEL), "web"),
}

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
every_folder = pytest.mark.parametrize("name", names_of_folders())


def test_each_case_has_its_folder_and_no_other() -> None:
    assert names_of_folders() == sorted(case.name for case in CASES)


@every_case
def test_a_folder_shows_the_world_of_its_case(case: Case) -> None:
    stored = load(case.name)
    assert {part: stored[part] for part in inputs_of(case)} == inputs_of(case)
    assert (stored.now, stored.why) == (case.now, case.why)


@every_case
def test_a_folder_expects_what_the_case_says(case: Case) -> None:
    stored = load(case.name)
    report, response = stored["report"], stored["response"]
    after = [write for write in stored["writes"] if is_told_after(write)]
    written = tuple(short(write) for write in stored["writes"] if write not in after)
    logged = tuple(line["event"] for line in report["log"])
    assert (written, logged) == (case.writes, case.log)
    assert sorted(write["reason"] for write in after) == events_of(case)
    assert stored["writes"][len(written) :] == after
    assert response.get("raises", "") == case.raises
    if case.raises:
        return
    assert (report["row"], report["reason"]) == (case.row, case.reason)
    assert tuple(report["findings"]) == case.findings
    assert response.get("annotations", {}) == {
        names.PREFIX + key: value for key, value in case.annotations.items()
    }
    assert _listing(response, stored) == case.listed


@every_case
def test_a_folder_has_the_details_that_the_case_fixes(case: Case) -> None:
    stored = load(case.name)
    report, response = stored["report"], stored["response"]
    if case.look_again is not None:
        assert response["resyncAfterSeconds"] == case.look_again
    if case.detail is not None:
        assert report["detail"] == case.detail
    if case.census is not None:
        assert report["census"] == case.census


def is_told_after(write: Json) -> bool:
    return "event" in write and write["reason"] not in AMONG_WRITES


def _listing(response: Json, stored: Stored) -> str:
    attachments = response["attachments"]
    if not attachments:
        return NONE
    (pod,) = attachments
    meta = pod["metadata"]
    shown = f"{meta['namespace']}/{meta['name']}" in stored["request"]["attachments"]["Pod.v1"]
    assert shown is ("spec" not in pod), "what is there is kept by name, what isn't has a spec"
    return KEPT if shown else CREATED


@every_case
def test_a_world_that_could_exist(case: Case) -> None:
    assert set(implausible(load(case.name))) == case.unusual


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_each_check_refuses_a_world_that_could_not_exist(check: str) -> None:
    stored = load("runs-on-a-host-that-is-not-ready")
    assert implausible(stored) == {}
    broken = Stored(stored.name, stored.why, stored.now, json.loads(json.dumps(stored.parts)))
    path, value = IMPOSSIBLE[check]
    _put(broken.parts, path, value)
    assert check in implausible(broken)


def _put(thing: Any, path: tuple[str, ...], value: object) -> None:
    """Sets (or with None removes) what a path leads to."""
    for key in path[:-1]:
        thing = thing[key]
    if value is None:
        del thing[path[-1]]
    else:
        thing[path[-1]] = value


@every_folder
def test_the_same_world_gives_the_same_bytes(name: str) -> None:
    stored = load(name)
    parts = stored.parts | {"request": _reversed(stored["request"])}
    first, again, other = run(stored), run(stored), run(replace(stored, parts=parts))
    assert first.body == again.body == other.body
    assert first.writes == again.writes == other.writes


def _reversed(value: Any) -> Any:
    """The same with the keys of every object in reverse order."""
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _reports() -> Iterator[Json]:
    for name in names_of_folders():
        yield load(name)["report"]


def test_what_must_be_covered_is_there() -> None:
    """A module that was renamed would drop out of `make coverage` unseen."""
    read = configparser.ConfigParser()
    read.read(Path(__file__).with_name("table.coveragerc"))
    modules = [line.removeprefix("*/") for line in read["report"]["include"].split()]
    assert len(modules) > 10
    for module in modules:
        assert find_spec(module.removesuffix(".py").replace("/", ".")) is not None, module


def test_every_row_is_seen() -> None:
    rows = {row.name for row in TABLE} | {"1", "2", "idle", "stop"}
    assert {report["row"] for report in _reports() if "row" in report} == rows


def test_every_reason_is_seen() -> None:
    reports = [report for report in _reports() if "row" in report]
    seen = {text for report in reports for text in (report["reason"], report["detail"])}
    assert [reason.value for reason in Reason if reason.value not in seen] == []


def test_every_finding_is_seen() -> None:
    codes = {code for report in _reports() for code in report.get("findings", [])}
    assert codes == set(Code) - ELSEWHERE


def test_every_reason_why_a_claim_is_passed_over_is_seen() -> None:
    counted = {why for report in _reports() for why in report.get("census", {})}
    assert counted == {
        "tooYoung", "deleting", "notReady", "noNode", "inBackoff", "inFlight", "unreadable",
        "optedOut", "disrupted",
    }  # fmt: skip
