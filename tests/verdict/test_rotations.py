"""What is read off a history about each rotation, and how long its parts took."""

from __future__ import annotations

import pytest

from hooks.verdict.history import Change, replay
from hooks.verdict.rotations import medians, rotations
from tests.verdict import tales
from tests.verdict.tales import GOOD, POOL, told, without


def test_a_rotation_is_read_off_with_its_times() -> None:
    (found,) = rotations(told(*GOOD), POOL)
    begun = [found.anchored, found.cordoned, found.placeholder, found.ready]
    ended = [found.deleted, found.gone, found.cleared]
    assert [step and step.revision for step in begun + ended] == [8, 10, 11, 15, 18, 22, 24]
    assert (found.claim, found.node, found.successor) == ("old", "old", "new")


def test_the_world_is_replayed_in_the_order_of_the_revisions() -> None:
    changes = told(*GOOD)
    assert [moment.change for moment in replay(changes[::-1])] == changes


def test_medians() -> None:
    first, second = told(*GOOD), [later(change, 100) for change in told(*GOOD)]
    found = [*rotations(first, POOL), *rotations(second, POOL)]
    measured = medians(found)
    assert measured.whole == pytest.approx(1.6)
    assert measured.anchor_to_cordon == pytest.approx(0.2)
    assert measured.ready_to_delete == pytest.approx(0.3)
    assert measured.gone_to_next_anchor == pytest.approx(98.6)
    assert measured.karpenter == pytest.approx(0.5 + 0.4)
    assert measured.own == pytest.approx(99.1)


def later(change: Change, seconds: float) -> Change:
    return Change(change.at + seconds, change.revision, change.kind, change.type, change.object)


def test_an_unfinished_rotation_is_not_measured() -> None:
    with pytest.raises(ValueError, match="went through all its steps"):
        medians(rotations(told(*without(tales.cleared)), POOL))
