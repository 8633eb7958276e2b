"""The face, asked what a real kube-apiserver was asked, answers the same."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from hooks.sandbox.face import Face
from hooks.sandbox.store.kinds import NAMESPACES
from tests.sandbox.face.conversation import exchanges, hold
from tests.sandbox.store.worlds import World

EXCHANGES = exchanges()
NAMES = [
    f"{number}-{exchange['ask']['method']}-{exchange['ask']['path']}"
    for number, exchange in enumerate(EXCHANGES)
]


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    world = World()
    world.store.create(NAMESPACES, {"metadata": {"name": "default"}})
    with Face(world.store) as face, requests.Session() as session:
        session.trust_env = False
        return hold(session, face.url, 0)


@pytest.mark.parametrize("number", range(len(EXCHANGES)), ids=NAMES)
def test_the_answer_is_that_of_the_real_server(answers: list[dict[str, Any]], number: int) -> None:
    assert answers[number] == EXCHANGES[number]["told"]
