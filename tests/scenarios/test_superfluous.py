"""Which node too many is forgiven, and how many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hooks.verdict.history import Change
from hooks.verdict.rotations import rotations
from tests.scenarios.superfluous import BATCH, Toll, superfluous, without_claims
from tests.verdict.tales import (
    GOOD,
    POOL,
    Tale,
    also,
    claim_gone,
    cleared,
    deleted,
    drained,
    machine,
    placeholder_gone,
    told,
)

SLOW = 60.0
"""How many times slower than in a tale."""


def one_more(tale: Tale) -> None:
    machine(tale, "more")


def another(tale: Tale) -> None:
    machine(tale, "another")


def by_karpenter(tale: Tale) -> None:
    tale.leave("NodeClaim", "old")


def later(changes: list[Change], seconds: float) -> list[Change]:
    """The same, with the claim later by so much."""
    return [replace(one, at=one.at + seconds) if one.name == "more" else one for one in changes]


@pytest.mark.parametrize(
    "before", [placeholder_gone, drained, claim_gone], ids=lambda s: s.__name__
)
def test_it_comes_between_the_delete_and_the_end_of_a_batch(before: Callable[[Tale], None]) -> None:
    lost = told(*also(one_more, before=before))
    assert superfluous(lost, POOL) == {0: "more"}
    assert Toll.of(lost, POOL) == Toll(1, 1)
    assert superfluous(without_claims(lost, ["more"]), POOL) == {}
    assert not [one for one in without_claims(lost, ["more"]) if one.name == "more"]


def test_before_the_delete_it_has_another_reason() -> None:
    assert superfluous(told(*also(one_more, before=deleted)), POOL) == {}


def test_long_after_the_placeholder_it_has_another_reason() -> None:
    lost = told(*also(one_more, before=drained))
    assert superfluous(later(lost, BATCH - 0.2), POOL) == {0: "more"}
    assert superfluous(later(lost, BATCH), POOL) == {}


def test_on_a_slow_machine_a_batch_lasts_longer() -> None:
    lost = told(*also(one_more, before=drained))
    slow = [replace(one, at=one.at * SLOW) for one in lost]
    (own,) = rotations(slow, POOL)
    assert own.placeholder is not None
    came, more = (first(slow, "NodeClaim", name) for name in (own.successor, "more"))
    left = first(slow, "Pod", own.placeholder.name, "DELETED")
    lasts = 2 * (came.at - own.placeholder.at)
    rest = left.at + lasts - more.at
    assert lasts > BATCH
    assert superfluous(later(slow, rest - 0.1), POOL) == {0: "more"}
    assert superfluous(later(slow, rest + 0.1), POOL) == {}


def first(changes: list[Change], kind: str, name: str, what: str = "ADDED") -> Change:
    """The first change of an object that is of this type."""
    return next(one for one in changes if (one.kind, one.name, one.type) == (kind, name, what))


def test_after_the_end_of_the_rotation_it_has_another_reason() -> None:
    assert superfluous(told(*GOOD, one_more), POOL) == {}


def test_of_two_only_one_is_forgiven() -> None:
    lost = told(*GOOD[:-4], one_more, another, *GOOD[-4:])
    assert superfluous(lost, POOL) == {0: "more"}


def test_a_placeholder_that_waits_goes_a_pass_after_an_expiry() -> None:
    waits = (*GOOD[:4], by_karpenter, one_more, placeholder_gone, claim_gone, cleared)
    assert superfluous(told(*waits), POOL) == {0: "more"}
    takes_it_along = (*GOOD[:4], by_karpenter, cleared, one_more, placeholder_gone, claim_gone)
    assert superfluous(told(*takes_it_along), POOL) == {0: "more"}
    nothing_waits = (*GOOD[:3], by_karpenter, one_more, claim_gone, cleared)
    assert superfluous(told(*nothing_waits), POOL) == {}


def test_without_a_successor_it_has_another_reason() -> None:
    steps = (*GOOD[:4], deleted, one_more, claim_gone, cleared)
    assert superfluous(told(*steps), POOL) == {}


def test_a_toll_has_its_ceiling() -> None:
    assert Toll(8, 2).is_fair
    assert not Toll(8, 3).is_fair
    assert not Toll().is_fair
    assert (Toll(8, 2) + Toll(1, 1)).describe().startswith("3 of 9 rotations ")
