"""Lets tests share code as ``tests.…`` without putting the checkout before the installed wheel.

The checkout comes last on the path: ``hooks`` is the wheel wherever one is installed, which
test_layers.py insists on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Scenarios assert outside of test modules.
pytest.register_assert_rewrite("tests.scenarios")
sys.path.append(str(Path(__file__).parents[1]))

# What an example takes is the machine's affair, and says nothing of what is tested.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that tests/sync and tests/admission obey."""
    parser.addoption(
        "--rewrite-fixtures",
        action="store_true",
        help="write the fixtures of these tests from their catalogues and the code, for review",
    )
