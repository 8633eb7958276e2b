"""One face on a world of its own for each test, and plain HTTP to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hooks.sandbox.face import Face
from tests.sandbox.face.client import Client
from tests.sandbox.store.worlds import World


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def face(world: World) -> Iterator[Face]:
    with Face(world.store) as made:
        yield made


@pytest.fixture
def client(face: Face) -> Iterator[Client]:
    with Client(face.url) as made:
        yield made
