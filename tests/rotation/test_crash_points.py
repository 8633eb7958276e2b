"""Every crash point of the pass table, found by going the journeys, not listed by hand.

For every row, every write in it (of the client and of the answer, and each Event that follows the
writes), and every fault there: the end is that of the undisturbed journey, and each transition is
announced and counted once. A point is taken where its row first makes just these writes before
another certain row; ``NODEROTATION_CRASH_POINTS=all`` takes every pass of every journey (two
minutes). design/rotation.md section 3, last paragraph.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from functools import cache

import pytest

from hooks import names
from hooks.rotation.phases import TABLE
from hooks.rotation.reasons import Reason
from tests.support.arrivals import LINES, SERIES, differences, ending, recorded, strike
from tests.support.journeys import JOURNEYS
from tests.support.mishaps import Fault, Journey, Run
from tests.support.recording import BESIDE, TELL, Passed, Point
from tests.support.stage import CREATE, REMOVE, UPDATE

EVERY = os.environ.get("NODEROTATION_CRASH_POINTS") == "all"
FLOOR = 200

CLAIM, FREEZE, UNFREEZE = "PatchClaim", "Freeze", "Unfreeze"
CANDIDATE, REAP, EVENT = "DeleteCandidate", "Reap", "Announce"
BEGINNING = (
    names.ROTATION_STARTED,
    names.SURGE_CLAMP_BAND_EXCEEDED,
    Reason.SURGE_NOT_CREATED,
    Reason.SURGE_UNSCHEDULABLE,
)
CONDITIONS = (Reason.MALFORMED_STATE, Reason.POLICY_CONFLICT, Reason.STATIC_NODE_POOL)
CAN = {
    "0": {UNFREEZE},
    "1": {UPDATE},
    "2": {UPDATE},
    "3": {CLAIM, FREEZE, CREATE, REMOVE, *map(TELL.__add__, BEGINNING)},
    "4": {CLAIM, FREEZE, UPDATE},
    "5": {FREEZE, CLAIM, CANDIDATE, REMOVE},
    "5b": {UPDATE, CREATE, REMOVE},
    "5c": {UPDATE, CREATE, REMOVE},
    "6": {CLAIM, CANDIDATE, UNFREEZE, EVENT, UPDATE, TELL + Reason.FORCEFUL_FALLBACK},
    "7": {FREEZE, CANDIDATE, UPDATE, REMOVE},
    "7b": {CLAIM, UNFREEZE, EVENT, UPDATE, CREATE, REMOVE},
    "8": {FREEZE, UPDATE, REMOVE, TELL + Reason.DRAIN_STUCK},
    "9": {UNFREEZE, EVENT, UPDATE, REMOVE},
    "10": {UNFREEZE, EVENT, UPDATE, REMOVE},
    "11": {UNFREEZE, EVENT, CLAIM, UPDATE, REMOVE},
    "12": {CLAIM, REAP, UNFREEZE, EVENT, UPDATE, REMOVE},
    "14": {EVENT, CLAIM, TELL + names.ROTATION_STARTED},
    "15": {UNFREEZE, EVENT, UPDATE, REMOVE},
    "16": {UNFREEZE, UPDATE, REMOVE},
    "17": {UNFREEZE, EVENT, CLAIM, UPDATE, REMOVE},
    "18": {UNFREEZE, CLAIM},
    "idle": {UPDATE, REMOVE},
    BESIDE: {TELL + reason for reason in CONDITIONS},
}
"""What each row may write, after the table of design/rotation.md; idle removes what is left over.

The Events that follow all writes stand with the row that tells of them first; a row that only tells
again what another has told has none of its own here.
"""


@cache
def points() -> dict[Journey, list[tuple[Passed, Point]]]:
    seen: set[object] = set()
    found: dict[Journey, list[tuple[Passed, Point]]] = defaultdict(list)
    for journey in JOURNEYS:
        passes = recorded(journey)[1]
        for passed, following in zip(passes, (*passes[1:], None), strict=True):
            kinds = tuple((point.row, point.kind) for point in passed.points)
            then = following.entry if following is not None else None
            what = (passed.entry, passed.decision.reason, kinds, then)
            if EVERY or what not in seen:
                found[journey] += [(passed, point) for point in passed.points]
            seen.add(what)
    return found


def test_the_journeys_take_every_row_of_the_table() -> None:
    taken = {passed.entry for journey in JOURNEYS for passed in recorded(journey)[1]}
    assert taken == {None, *range(len(TABLE))}


def test_the_journeys_make_every_write_that_a_row_can_make() -> None:
    made = defaultdict(set)
    for journey in JOURNEYS:
        for passed in recorded(journey)[1]:
            for point in passed.points:
                made[point.row].add(point.kind)
    assert dict(made) == CAN


def test_there_are_many_crash_points(capsys: pytest.CaptureFixture[str]) -> None:
    found = [point for those in points().values() for _, point in those]
    number = len(found) * len(Fault)
    with capsys.disabled():
        print(f"\ncrash points: {len(found)} writes of {len(CAN)} rows,"
              f" {len(Fault)} faults: {number} combinations")  # fmt: skip
    assert number >= FLOOR


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_wherever_a_fault_strikes_the_end_is_the_same(journey: Journey) -> None:
    bad = [
        line
        for passed, point in points()[journey]
        for fault in Fault
        for line in strike(passed, point, fault)
    ]
    assert bad == []


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_replicas_that_take_turns_tell_and_count_the_same(journey: Journey) -> None:
    run = Run(journey)
    while not run.ended:
        run.fresh()
        run.round()
    assert list(differences(ending(recorded(journey)[0]), ending(run))) == []


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_an_undisturbed_journey_counts_each_transition_once(journey: Journey) -> None:
    run = recorded(journey)[0]
    end = ending(run)
    events = Counter(str(event["reason"]) for event in run.cluster.events.values())
    assert end["lines"] == {line: events[reason] for line, reason in LINES.items()}
    assert end["counted"] == {series: events[reason] for series, reason in SERIES.items()}
