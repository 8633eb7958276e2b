"""One control plane for the whole run, with our software installed on it.

Each test brings a world with a pool of its own name, and runs its own hook server.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TypeAlias

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.history import Recorder
from tests.e2e.installation import Installation
from tests.e2e.programs import programs

Say: TypeAlias = Callable[[str], None]
ON_A_CLUSTER = "plane"
"""The fixture by which a test shows that it needs the control plane."""
LONGEST = 3600
"""Seconds for one test, the first build of all programs included; each wait has its own bound."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "e2e: needs a real control plane (Go, or ready programs)")
    config.addinivalue_line("markers", "mutants: shows that the checks find faults")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if ON_A_CLUSTER in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(LONGEST))
    # What mutants leave behind is not for the others to clean up.
    items.sort(key=lambda item: item.get_closest_marker("mutants") is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fixtures = getattr(item, "funcargs", {})
    plane = fixtures.get(ON_A_CLUSTER)
    # After the last test's teardown it is gone already.
    if report.failed and isinstance(plane, ControlPlane) and plane.logs.exists():
        plane.keep_logs()
        history = fixtures.get("history")
        if isinstance(history, Recorder):
            history.write(plane.logs / "history.jsonl")
    return report


@pytest.fixture(scope="session")
def say(pytestconfig: pytest.Config) -> Say:
    """Print for the person who waits, whatever pytest captures."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")

    def write(text: str) -> None:
        if capture is None:
            print(text, flush=True)
            return
        with capture.global_and_fixture_disabled():
            print(f"\n{text}", flush=True)

    return write


@pytest.fixture(scope="session")
def plane(say: Say) -> Iterator[ControlPlane]:
    """A running control plane."""
    with ControlPlane(programs(say), say) as running:
        yield running


@pytest.fixture(scope="session")
def history(plane: ControlPlane) -> Iterator[Recorder]:
    """Everything that has happened on it since the first test."""
    with Recorder(plane.api) as recorder:
        yield recorder


@pytest.fixture(scope="session")
def installation(plane: ControlPlane) -> Iterator[Installation]:
    """Our manifests applied, and what calls the hooks running."""
    installed = Installation(plane)
    installed.install()
    with installed.controller():
        yield installed
