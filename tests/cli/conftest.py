"""A stand-in API server for the commands that talk to a cluster, and a way to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hooks.cli.main import group
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import StandIn

Run = Callable[..., Result]


@pytest.fixture
def server() -> Iterator[StandIn]:
    standin = StandIn()
    yield standin
    standin.stop()


@pytest.fixture
def run(server: StandIn, tmp_path: Path) -> Run:
    """Run a command against the stand-in."""
    config = kubeconfig(tmp_path, server.url, {"token": "mine"})

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(group, [*words, "--kubeconfig", config])

    return invoke
