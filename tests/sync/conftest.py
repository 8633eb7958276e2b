"""The flag that writes the fixtures anew: ``pytest tests/sync --rewrite-fixtures``."""

from __future__ import annotations

import pytest

from tests.support import folders, policyfolders, singletonfolders
from tests.sync.catalogue import deployments, everything, policies


def pytest_collection(session: pytest.Session) -> None:
    # Before the tests are collected: they are named after the folders.
    config = session.config
    if config.getoption("--rewrite-fixtures", default=False) and not hasattr(config, "workerinput"):
        folders.rewrite(everything.CASES)
        policyfolders.rewrite(policies.CASES)
        singletonfolders.rewrite(singletonfolders.DEPLOYMENT, deployments.CASES)
