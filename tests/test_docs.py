"""The documents say what the code does, where a machine can tell."""

from __future__ import annotations

import re
from pathlib import Path

from hooks.rotation.phases import TABLE

ROOT = Path(__file__).parent.parent


def test_the_pass_table_of_the_concepts_is_the_table_of_the_code() -> None:
    text = (ROOT / "docs" / "concepts.md").read_text()
    told = re.findall(r"^\| (\d+[bc]?) \| (Row .*) \|$", text, re.MULTILINE)
    held = [(row.name, (row.answer.__doc__ or "").splitlines()[0]) for row in TABLE]
    assert told == held


def test_every_row_answers_with_its_own_name() -> None:
    for row in TABLE:
        assert (row.answer.__doc__ or "").startswith(f"Row {row.name}"), row.name
