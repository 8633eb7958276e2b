"""One control plane for the whole run, with our software installed on it.

Each test brings a world with a pool of its own name, and runs its own hook server.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.history import Recorder
from tests.e2e.installation import Installation
from tests.e2e.listening import listening
from tests.e2e.playing import OnStage, is_crowded
from tests.e2e.programs import programs
from tests.e2e.retelling import Retold, retelling
from tests.e2e.stage import HookServer, RealStage
from tests.scenarios.registry import Scenario
from tests.scenarios.signals.telling import tell_and_repeat

# Scenes assert outside of test modules.
pytest.register_assert_rewrite("tests.e2e.drain.scenes")

Say: TypeAlias = Callable[[str], None]
PLOTS = "plots"
ON_A_CLUSTER = "plane"
"""The fixture by which a test shows that it needs the control plane."""
LONGEST = 3600
"""Seconds for one test, the first build of all programs included; each wait has its own bound."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "e2e: needs a real control plane (Go, or ready programs)")
    config.addinivalue_line("markers", "mutants: shows that the checks find faults")
    config.addinivalue_line("markers", f"{PLOTS}: compares what was played before")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if ON_A_CLUSTER in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(LONGEST))
    # What mutants leave behind is not for the others to clean up; plots come after the plays.
    late = ("mutants", PLOTS)
    items.sort(key=lambda item: [item.get_closest_marker(one) is not None for one in late])


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
def history(plane: ControlPlane, installation: Installation) -> Iterator[Recorder]:
    """Everything that has happened on it since the first test, our own kind included."""
    assert installation is not None
    with Recorder(plane.api) as recorder:
        yield recorder


@pytest.fixture(scope="session")
def installation(plane: ControlPlane) -> Iterator[Installation]:
    """Our manifests applied, and what calls the hooks running."""
    installed = Installation(plane)
    installed.install()
    with installed.controller():
        yield installed


@pytest.fixture(scope="session")
def signals(
    plane: ControlPlane, installation: Installation, history: Recorder
) -> Iterator[Future[None]]:
    """The story of signals, which goes on from the first time that somebody asks for it."""

    def tell() -> None:
        with listening("signals", plane, installation, history) as stage:
            tell_and_repeat(stage)

    with ThreadPoolExecutor(1) as teller:
        yield teller.submit(tell)


@pytest.fixture(scope="module")
def server(plane: ControlPlane, installation: Installation) -> Iterator[HookServer]:
    """The hook server of all scenarios that leave it alone."""
    with HookServer(plane, installation) as running:
        yield running


@pytest.fixture(scope="module")
def on_stage(
    plane: ControlPlane, history: Recorder, installation: Installation, server: HookServer
) -> OnStage:
    """Make a stage for a scenario; one that wants a hook server of its own gets it."""

    @contextmanager
    def make(scenario: Scenario, name: str) -> Iterator[RealStage]:
        with ExitStack() as held:
            its = server
            if scenario.own_server:
                its = HookServer(plane, installation, name, server.ending)
                held.enter_context(its)
            yield RealStage(name, plane, history, its, is_crowded(scenario))

    return make


@pytest.fixture(scope="session")
def retold(request: pytest.FixtureRequest) -> Iterator[Retold]:
    """Each scenario whose plot is wanted, once more, from the first time that somebody asks for it."""
    late = [item for item in request.session.items if item.get_closest_marker(PLOTS)]
    given = [getattr(item, "callspec", None) for item in late]
    names = [one.params["scenario"].name for one in given if one is not None]
    with retelling(names) as begun:
        yield begun
