"""What holds of a pool is named once for each policy generation, and once for each tie."""

from __future__ import annotations

from typing import Any

from hooks.rotation.conditions import MOST_SHORT
from tests.rotation.test_figures import decided
from tests.support.scene import idle, where
from tests.support.world import World, nodeclaim, policy


def _events(world: World) -> dict[str, list[str]]:
    """Names of the Events by reason."""
    found: dict[str, list[str]] = {}
    for event in decided(world).announcements:
        found.setdefault(event.reason, []).append(event.name)
    return found


def _generation(number: int) -> Any:
    def change(world: World) -> None:
        for each in world.policies:
            each["metadata"]["generation"] = number

    return change


def test_a_finding_has_one_name_for_each_generation_of_its_policy() -> None:
    first, again, later = (
        _events(where(idle(minRotationChances=1), _generation(number))) for number in (1, 1, 2)
    )
    assert list(first) == list(later) == ["KBelowTwo"]
    assert first == again != later


def test_a_tie_has_one_name_for_the_generations_of_those_that_tie() -> None:
    def tie(*rivals: str) -> World:
        return where(idle(), lambda w: w.policies.extend(policy(name) for name in rivals))

    one, same, more = _events(tie("rival")), _events(tie("rival")), _events(tie("rival", "third"))
    edited = _events(where(tie("rival"), _generation(9)))
    assert list(one) == ["PolicyConflict"]
    assert one == same
    assert len({str(events) for events in (one, more, edited)}) == 3


def test_of_a_crowd_with_short_leads_the_first_hundred_by_deadline_are_told() -> None:
    world = idle()
    world.claims = [
        nodeclaim(f"brief-{number:03}", expireAfter=f"{40 * 60 - number}m") for number in range(150)
    ]
    world.nodes, world.pods = [], []
    told = [event for event in decided(world).announcements if event.reason == "ShortLead"]
    # The one with the shortest life has the earliest deadline.
    expected = [f"brief-{number:03}" for number in range(149, 49, -1)]
    assert ([event.regarding for event in told], MOST_SHORT) == (expected, 100)
    assert decided(world).figures.short_lead == 150
