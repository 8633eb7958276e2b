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
    assert (found.held, found.host) == (found.ready, "new")


def again(on: str) -> tales.Step:
    def step(tale: tales.Tale) -> None:
        tales.placeholder_gone(tale)
        if on != "new":
            tales.machine(tale, on)
        tales.placeholder_created(tale)
        running = {"phase": "Running"}
        tale.put("Pod", "noderotation-surge-old", spec={"nodeName": on}, status=running)

    return step


@pytest.mark.parametrize(("on", "held"), [("new", 19), ("newer", 21)])
def test_a_successor_that_was_lost_counts_from_when_it_was_up_for_good(on: str, held: int) -> None:
    (found,) = rotations(told(*tales.also(again(on), before=tales.deleted)), POOL)
    assert found.ready is not None
    assert found.held is not None
    assert (found.ready.revision, found.successor) == (15, "new")
    assert (found.held.revision, found.host) == (held, on)


def test_one_that_is_lost_holds_nothing() -> None:
    lost = (*tales.GOOD[: tales.GOOD.index(tales.deleted)], tales.placeholder_gone)
    (found,) = rotations(told(*lost), POOL)
    assert (found.held, found.host, found.successor) == (None, "", "new")


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
