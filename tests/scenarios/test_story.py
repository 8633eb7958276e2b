"""What a story complains about without being asked, and what it forgives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from typing_extensions import override

from hooks.verdict.case import CORDON, OperatorMark
from hooks.verdict.history import Change
from tests.scenarios.embedded_stage import EmbeddedStage
from tests.scenarios.story import Story
from tests.scenarios.superfluous import BATCH
from tests.scenarios.world import World
from tests.verdict.tales import GOOD, POOL, Tale, also, anchored, drained, machine, told


class Past(EmbeddedStage):
    """A cluster on which all has happened already."""

    def __init__(self, changes: Sequence[Change], *, crowded: bool) -> None:
        super().__init__(POOL)
        self._past = changes
        self._crowded = crowded

    @property
    @override
    def changes(self) -> Sequence[Change]:
        return self._past

    @property
    @override
    def crowded(self) -> bool:
        return self._crowded


def complained(
    changes: Sequence[Change], *, crowded: bool = False, operator: Sequence[OperatorMark] = ()
) -> list[str]:
    """The names of the checks that complain."""
    with Past(changes, crowded=crowded) as stage:
        found = Story(stage, World(stage, POOL)).complaints(operator=operator)
    return [one.partition(":")[0] for one in found]


def superfluous(tale: Tale) -> None:
    machine(tale, "superfluous")


LOST = told(*also(superfluous, before=drained))


def test_of_a_good_rotation_there_is_nothing_to_say() -> None:
    assert complained(told(*GOOD)) == []


def test_a_lost_race_is_forgiven_where_others_are() -> None:
    assert complained(LOST, crowded=True) == []
    assert complained(LOST) == ["one_new_node_each", "all_replaced"]


def test_a_node_too_many_without_a_race_never_is() -> None:
    late = [replace(one, at=one.at + BATCH) if one.name == "superfluous" else one for one in LOST]
    assert complained(late, crowded=True) == ["one_new_node_each", "all_replaced"]


def shut_the_window(tale: Tale) -> None:
    (window,) = tale.objects["RotationPolicy", "weekend"]["spec"]["maintenanceWindows"]
    governed = {"nodePoolSelector": {}, "maintenanceWindows": [{**window, "days": ["Sun"]}]}
    tale.put("RotationPolicy", "weekend", spec=governed)


def test_windows_deadlines_and_operators_are_always_asked_for() -> None:
    outside = told(*also(shut_the_window, before=anchored))
    assert complained(outside) == ["inside_the_windows"]

    def taken(tale: Tale) -> None:
        machine(tale, "taken")
        tale.leave("NodeClaim", "taken")

    assert "before_the_deadline" in complained(told(*also(taken, before=anchored)))
    mark = OperatorMark("old", CORDON, 1)
    assert "operators_marks_kept" in complained(told(*GOOD), operator=[mark])
