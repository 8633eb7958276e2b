"""The catalogue of scenarios: how one is entered, and all of them in order.

Owns what a runner has to know of a scenario beside its code. The scenarios themselves are the
functions in ``catalogue/``; whoever wants them asks :func:`scenarios`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from tests.scenarios import catalogue
from tests.scenarios.stage import Stage

Play: TypeAlias = Callable[[Stage], None]


class Beside(Enum):
    """What may go on beside a scenario on one cluster."""

    ALL = "all"
    """Any other scenario: what it does touches its own pools only."""
    NOTHING = "nothing"
    """It changes what all of them rest on."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One entry."""

    play: Play
    beside: Beside
    takes: float
    """Roughly how many seconds of real time, so that the longest can begin first."""
    own_server: bool = False
    """Whether it needs a hook server for its own pools alone: it kills it, or notes all its writes."""

    @property
    def name(self) -> str:
        """The function's name as an object may be called."""
        return self.play.__name__.replace("_", "-")

    @property
    def sentence(self) -> str:
        """What the scenario shows."""
        return (self.play.__doc__ or "").partition("\n")[0]


_ENTERED: list[Scenario] = []


def scenario(
    *,
    beside: Beside = Beside.ALL,
    takes: float = 60,
    own_server: bool = False,
) -> Callable[[Play], Play]:
    """Enter a function into the catalogue."""

    def enter(play: Play) -> Play:
        _ENTERED.append(Scenario(play, beside, takes, own_server))
        return play

    return enter


def scenarios() -> tuple[Scenario, ...]:
    """All scenarios, by module and in the order of their modules."""
    for module in pkgutil.iter_modules(catalogue.__path__, f"{catalogue.__name__}."):
        importlib.import_module(module.name)
    return tuple(_ENTERED)
