"""A trace of the search for people, and to be gone again: its steps, and each pass as a fixture.

The folders have the format of tests/fixtures/sync (tests/support/folders.py): what the request
showed, what was live when the pass began, and the time; copied there, a pass becomes a fixture.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hooks import names
from tests.search.around import Move
from tests.search.explore import Beginning
from tests.search.hands import CLOCK, RESIDENTS
from tests.search.moves import moves
from tests.search.state import Groups, State, shown
from tests.search.things import Thing
from tests.support.folders import Stored
from tests.support.live import CLAIM, NODE, POD, POOL, Json
from tests.support.metamodel import CONTROLLER

BEGINS = "a pass begins"


@dataclass(frozen=True)
class Taken:
    """One step of a trace: from which state, by which move."""

    state: State
    move: Move


def again(beginning: Beginning, steps: Sequence[str]) -> Iterator[Taken]:
    """Go a trace again, step by step; what its last step breaks is raised as it was."""
    state = beginning.state
    for step in steps:
        found = [move for move in moves(state, beginning.rules) if move.name == step]
        if not found:
            return
        yield Taken(state, found[0])
        state = found[0].happens()


def stored(taken: Taken, why: str) -> Stored:
    """The fixture of a pass that begins."""
    state = taken.state
    parts: dict[str, Any] = {
        "request": _request(state, _groups(taken)),
        "live": _live(state),
        "settings": {},
        "troubles": {"troubles": []},
    }
    return Stored("trace", why, CLOCK[state.phase], parts)


def _groups(taken: Taken) -> Groups:
    """What the request of the pass showed: of each group what the name of the step says."""
    now, was = shown(taken.state), taken.state.before
    words = taken.move.name.removeprefix(BEGINS).replace(",", " ").split()
    stale = {name: getattr(was, name) for name in Groups._fields if name in words}
    return now._replace(**stale)


def _named(things: Sequence[Thing], prefix: str = "") -> dict[str, Json]:
    return {prefix + one.name: one.obj for one in things}


def _request(state: State, groups: Groups) -> Json:
    assert groups.pool is not None
    policy = () if state.policy is None else (state.policy,)
    return {
        "controller": CONTROLLER,
        "object": groups.pool.obj,
        "attachments": {names.POD_GROUP: _named(groups.pods, f"{names.NAMESPACE}/")},
        "related": {
            names.NODE_GROUP: _named(groups.nodes),
            names.NODECLAIM_GROUP: _named(groups.claims),
            names.ROTATIONPOLICY_GROUP: _named(policy),
        },
        "finalizing": False,
    }


def _live(state: State) -> Json:
    residents = [pod for host in state.nodes for pod in RESIDENTS.get(host.name, ())]
    pool = () if state.pool is None else (state.pool,)
    return {
        POOL: _named(pool),
        CLAIM: _named(state.claims),
        NODE: _named(state.nodes),
        POD: _named(state.pods, f"{names.NAMESPACE}/") | _named(residents, "default/"),
        "events": sorted(name for name, *_ in state.events),
    }


def dump(beginning: Beginning, steps: Sequence[str], promise: str, folder: Path) -> None:
    """Write the steps, and every pass of them as a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"beginning": beginning.name, "promise": promise, "steps": list(steps)}
    (folder / "trace.json").write_text(json.dumps(told, indent=1) + "\n")
    number = 0
    for taken in again(beginning, steps[:-1]):
        if taken.move.name.startswith(BEGINS):
            number += 1
            one = stored(taken, f"pass {number} of a trace that breaks: {promise}")
            _write(one, folder / f"pass-{number}")


def _write(one: Stored, folder: Path) -> None:
    folder.mkdir()
    (folder / "now.txt").write_text(one.now + "\n")
    (folder / "why.txt").write_text(one.why + "\n")
    for part in ("request", "live"):
        text = json.dumps(one[part], indent=1, sort_keys=True)
        (folder / f"{part}.json").write_text(text + "\n")
