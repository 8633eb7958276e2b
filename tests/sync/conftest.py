"""The flag that writes the fixtures anew: ``pytest tests/sync --rewrite-fixtures``."""

from __future__ import annotations

import pytest

from tests.support.folders import rewrite
from tests.sync.catalogue.everything import CASES


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-fixtures",
        action="store_true",
        help="write tests/fixtures/sync/nodepool from the catalogue and the code, for review",
    )


def pytest_collection(session: pytest.Session) -> None:
    # Before the tests are collected: they are named after the folders.
    config = session.config
    if config.getoption("--rewrite-fixtures", default=False) and not hasattr(config, "workerinput"):
        rewrite(CASES)
