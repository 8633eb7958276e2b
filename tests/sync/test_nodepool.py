"""Every fixture, whole: the request goes in, and writes, answer and report are compared.

These alone hold the pass table: `make coverage` measures the branches that they reach.
"""

from __future__ import annotations

import pytest

from tests.support.folders import load, names_of_folders, run


@pytest.mark.parametrize("name", names_of_folders())
def test_a_pass(name: str) -> None:
    stored = load(name)
    outcome = run(stored)
    assert outcome.report == stored["report"], stored.why
    assert outcome.writes == stored["writes"], stored.why
    assert outcome.response == stored["response"], stored.why
