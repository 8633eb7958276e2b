"""A pool of five real Karpenter nodes with work on it.

Leaves what it consists of to :mod:`tests.scenarios.world`. Source: issue 3, "Done when".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.e2e.api import Api
from tests.scenarios import world
from tests.scenarios.manifests import Shape
from tests.scenarios.world import SETTLING
from tests.support.waiting import wait_until


@dataclass(frozen=True, slots=True)
class Polled:
    """The control plane as a place for a world: whoever waits asks again and again."""

    api: Api

    def wait_until(self, what: str, holds: Callable[[], bool], seconds: float = SETTLING) -> None:
        """Ask until it holds."""
        wait_until(what, holds, seconds)


class World(world.World):
    """The pool called ``name``: a node for each replica of its StatefulSet and its Deployment."""

    def __init__(self, api: Api, name: str, stateful: int = 2, stateless: int = 3) -> None:
        """Nothing is created yet."""
        super().__init__(Polled(api), name, Shape(stateful, stateless))
