"""The flag writes the fixtures anew: ``pytest tests/admission --rewrite-fixtures``."""

from __future__ import annotations

import pytest

from tests.admission.catalogue import CASES
from tests.support import singletonfolders


def pytest_collection(session: pytest.Session) -> None:
    # Before the tests are collected: they are named after the folders.
    config = session.config
    if config.getoption("--rewrite-fixtures", default=False) and not hasattr(config, "workerinput"):
        singletonfolders.rewrite(singletonfolders.EVICTION, CASES)
