"""Where a journey ends, so that two ends can be compared: everything but times, versions and UIDs.

Also owns the named ways in which an end may differ by design; each says where that is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from hooks import names
from hooks.rotation.outcomes import DRAIN, SURGE_WAIT
from hooks.rotation.reasons import Reason
from tests.support.live import CLAIM, NODE, POD, Json
from tests.support.mishaps import Fault, Journey, Run
from tests.support.recording import Passed, Point, record

STAMP: Final = re.compile(r"20\d\d-\d\d-\d\dT.*Z")
ANY_TIME: Final = "some time"
LINES: Final = {
    "candidate selected surge": names.ROTATION_STARTED,
    "rotation complete": names.ROTATION_COMPLETED,
    "rotation expired": Reason.ROTATION_EXPIRED,
    "attempt failed": Reason.ROTATION_FAILED,
}
"""The lines that stand for a transition, and the Event of the same."""
SERIES: Final = {
    "noderotation_completed_total success": names.ROTATION_COMPLETED,
    "noderotation_completed_total failure": Reason.ROTATION_FAILED,
    "noderotation_completed_total expired": Reason.ROTATION_EXPIRED,
    "noderotation_forceful_fallback_total": Reason.FORCEFUL_FALLBACK,
}
DURATIONS: Final = tuple(
    f"noderotation_duration_seconds_count {phase}" for phase in (SURGE_WAIT, DRAIN)
)
ONCE_AT_MOST: Final = (
    "candidate selected forceful-fallback",
    "drain started",
    "surge node ready",
)
"""The lines of a delete that no Event goes with: a process that dies after it says nothing."""
OURS: Final = (names.PREFIX, names.DO_NOT_DISRUPT)


def ending(run: Run) -> dict[str, Any]:
    """The world at the end, and what has been told."""
    cluster = run.cluster
    return {
        "pool": _notes(cluster.pool) if cluster.pool else None,
        "policies": sorted(cluster.policies),
        "claims": {
            name: _notes(claim) | {"deleting": "deletionTimestamp" in claim["metadata"]}
            for name, claim in cluster.objects[CLAIM].items()
        },
        "nodes": {name: _node(host) for name, host in cluster.objects[NODE].items()},
        "pods": {
            name: (pod["status"]["phase"], pod["spec"].get("nodeName"))
            for name, pod in cluster.objects[POD].items()
        },
        "events": Counter(
            f"{event['reason']} {event['regarding']['name']}" for event in cluster.events.values()
        ),
        "lines": {line: _whole(run, run.told[line], reason) for line, reason in LINES.items()},
        "counted": {
            series: _whole(run, run.numbers()[series], reason) for series, reason in SERIES.items()
        },
        "durations": {series: run.numbers()[series] for series in DURATIONS},
    }


def _whole(run: Run, found: int, reason: str) -> int:
    """What is counted, but for what must show (design/rotation.md section 3, *Counting*).

    Who creates the Event counts, and may die before it does. An Event whose creation gives no
    answer counts, also if it was there already; that takes two faults.
    """
    return found + run.untold[reason] - run.retold[reason]


def _notes(thing: Json) -> dict[str, object]:
    notes = thing["metadata"].get("annotations", {})
    return {
        key: ANY_TIME if STAMP.fullmatch(str(value)) else str(value)
        for key, value in notes.items()
        if key.startswith(OURS)
    }


def _node(host: Json) -> dict[str, object]:
    return _notes(host) | {
        "label": host["metadata"]["labels"].get(names.SURGE_FOR),
        "cordoned": host["spec"].get("unschedulable", False),
        "taints": host["spec"].get("taints", []),
    }


def differences(wanted: object, found: object, path: str = "") -> Iterator[str]:
    """Where two ends differ, a line for each place."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key in sorted({*wanted, *found}):
            inside = f"{path}/{key}" if path else key
            yield from differences(wanted.get(key), found.get(key), inside)
    elif wanted != found:
        yield f"{path}: {found} instead of {wanted}"


@dataclass(frozen=True)
class Allowed:
    """A difference that is by design: where, why, and in which journeys it may come up."""

    path: str
    """Beginning of the lines that it covers."""
    why: str
    applies: Callable[[Run, Point, Fault], bool]


ALLOWED: Final[tuple[Allowed, ...]] = (
    Allowed(
        "durations/",
        "they are observed with the success that they belong to, and a dead process observes nothing",
        lambda run, _point, _fault: names.ROTATION_COMPLETED in run.untold | run.retold,
    ),
    Allowed(
        f"claims/old/{names.SURGE_CLAIM}",
        "row 0 takes the marks off Nodes and nothing else: a claim of a pool that is deleted stays"
        " as the last pass left it",
        lambda run, _point, _fault: not run.cluster.pool,
    ),
)


@cache
def recorded(journey: Journey) -> tuple[Run, tuple[Passed, ...]]:
    """The journey undisturbed, gone once."""
    run, passes = record(journey)
    return run, tuple(passes)


def without(journey: Journey, forestalled: tuple[int, ...]) -> Journey:
    """The journey without those of its happenings that a mishap has forestalled."""
    kept = tuple(h for at, h in enumerate(journey.happens) if at not in forestalled)
    return replace(journey, happens=kept)


def strike(passed: Passed, point: Point, fault: Fault) -> list[str]:
    """Let a fault strike at a point, go on to rest, and compare.

    Gives what differs though it may not, a line for each place. Where the fault forestalls something of the
    journey's own (it died before the place where the journey would have died), the end is that of
    the journey without it.
    """
    run = passed.before.fork()
    run.round((point.index, fault))
    run.to_the_end()
    undisturbed = recorded(without(run.journey, run.forestalled))[0]
    found = [
        line
        for line in differences(ending(undisturbed), ending(run))
        if not any(line.startswith(a.path) and a.applies(run, point, fault) for a in ALLOWED)
    ]
    found += [f"{line}: twice" for line in ONCE_AT_MOST if run.told[line] > undisturbed.told[line]]
    return [f"{fault.value} at {point}: {line}" for line in found]
