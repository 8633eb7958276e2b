"""The documents say what the code does, where a machine can tell."""

from __future__ import annotations

import re
from pathlib import Path

from hooks import names
from hooks.drain.reasons import Answer, Outcome, Reason
from hooks.drain.verdict import TABLE as EVICTIONS
from hooks.rotation.phases import TABLE
from hooks.rotation.status import Phase
from hooks.rotation.status_ready import ReadyReason
from hooks.settings import OPTIONS
from hooks.telemetry import drainlog
from tests.manifest_files import SYSTEM, the
from tests.protocol.policies import crd, schema

ROOT = Path(__file__).parent.parent


def test_the_pass_table_of_the_concepts_is_the_table_of_the_code() -> None:
    text = (ROOT / "docs" / "concepts.md").read_text()
    told = re.findall(r"^\| (\d+[bc]?) \| (Row .*) \|$", text, re.MULTILINE)
    held = [(row.name, (row.answer.__doc__ or "").splitlines()[0]) for row in TABLE]
    assert told == held


def test_every_row_answers_with_its_own_name() -> None:
    for row in TABLE:
        assert (row.answer.__doc__ or "").startswith(f"Row {row.name}"), row.name


def test_the_page_about_the_status_tells_every_field_reason_and_phase() -> None:
    text = (ROOT / "docs" / "status.md").read_text()
    told = set(re.findall(r"`([A-Za-z.\[\]]+)`", text))
    status = schema()["properties"]["status"]["properties"]
    fields = {*status, *(f"pools[].{name}" for name in status["pools"]["items"]["properties"])}
    assert fields - told == {"conditions", "pools[].name"}
    assert {*ReadyReason, *Phase} <= told
    (version,) = crd()["spec"]["versions"]
    columns = [column["name"].upper() for column in version["additionalPrinterColumns"]]
    (heading,) = re.findall(r"^NAME +(.*)$", text, re.MULTILINE)
    assert re.split(r" {2,}", heading) == columns


DRAIN = (ROOT / "docs" / "drain.md").read_text()


def told_of_evictions() -> list[tuple[str, str]]:
    """Answer and reason of each row of the tables about evictions."""
    rows = re.findall(r"^\| (?:\*\*)?(allow|deny)(?:\*\*)? \| `(\w+)` \| \S", DRAIN, re.MULTILINE)
    return [(answer, reason) for answer, reason in rows]


def test_the_decision_table_of_the_page_about_the_drain_is_the_table_of_the_code() -> None:
    held = [(str(row.answer), str(row.reason)) for row in EVICTIONS]
    assert told_of_evictions()[: len(held)] == held


def test_that_page_tells_every_reason_and_faults_of_ours_never_deny() -> None:
    told = told_of_evictions()
    assert {reason for _, reason in told} == {*Reason}
    beside = told[len(EVICTIONS) :]
    assert [reason for _, reason in beside] == [*Reason][-len(beside) :]
    assert {answer for answer, _ in beside} == {Answer.ALLOW}


def test_that_page_tells_every_annotation_and_every_event_of_the_drain() -> None:
    keys = {value for value in vars(names).values() if str(value).startswith(names.DRAIN_PREFIX)}
    annotations = set(
        re.findall(r"^\| `(graceful-drain\.stonal\.com/\S+)` \|", DRAIN, re.MULTILINE)
    )
    assert annotations == keys - {names.DRAIN_PREFIX}
    events = dict(re.findall(r"^\| `(GracefulDrain\w+)` \| (\w+) \|", DRAIN, re.MULTILINE))
    assert events == names.DRAIN_EVENTS


def test_that_page_tells_every_outcome_of_a_rollout() -> None:
    told = re.findall(r"^\| `([a-z-]+)` \| [^`|]", DRAIN, re.MULTILINE)
    assert told == [*Outcome]


def test_the_docs_tell_every_log_line_of_the_drain_and_its_level() -> None:
    text = (ROOT / "docs" / "observability.md").read_text()
    section = text.split("\n## Log lines of the graceful drain\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([a-z ]+)` \| (.*?) \|", section, re.MULTILINE)
    told = {event: set(re.findall("info|warning", levels)) for event, levels in rows}
    other = {"tracking cleared", "rollout started", "annotation unusable"}
    assert told.keys() == {*drainlog.EVENTS.values(), *drainlog.ENDS.values()} | other
    for outcome in Outcome:
        event = drainlog.ENDS.get(outcome, "tracking cleared")
        assert ("warning" if outcome in drainlog.WARNINGS else "info") in told[event]


def test_that_page_tells_the_settings_of_the_config_map_and_their_defaults() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| (?:`(\w+)`|empty) \|", DRAIN, re.MULTILINE))
    assert told == the("ConfigMap", SYSTEM, "noderotation-drain")["data"]


def test_the_denial_that_it_shows_is_the_webhook_s() -> None:
    assert f'admission webhook "{names.WEBHOOK}" denied the request' in DRAIN


def test_every_variable_that_the_docs_name_is_one_of_serve() -> None:
    texts = [path.read_text() for path in (ROOT / "docs").glob("*.md")]
    named = {name for text in texts for name in re.findall(r"NODEROTATION_[A-Z_]*[A-Z]", text)}
    assert named <= {option.variable for option in OPTIONS}


def test_the_links_between_the_pages_lead_somewhere() -> None:
    pages = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
    for name, text in pages.items():
        for page, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
            target = page or name
            assert target in pages, (name, page)
            assert not anchor or anchor in anchors(pages[target]), (name, target, anchor)


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings get."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading.replace("`", "")).lower().replace(" ", "-")
        for heading in headings
    }
