"""One stand-in API server for each test, and a connection to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.cluster.connection import Connection, connect
from hooks.cluster.credentials import find_access
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import StandIn


@pytest.fixture
def server() -> Iterator[StandIn]:
    standin = StandIn()
    yield standin
    standin.stop()


@pytest.fixture
def connection(server: StandIn, tmp_path: Path) -> Iterator[Connection]:
    made = connect(find_access(kubeconfig(tmp_path, server.url, {"token": "s3cret"})))
    yield made
    made.close()
