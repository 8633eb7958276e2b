"""The search finds what it is for: with any guard taken out, a promise breaks, and soon.

Each mutant's trace is written as fixtures and gone again, and breaks the same promise there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hooks import names
from hooks.cluster import apply
from hooks.rotation import answer, endings, guards, phases, view
from hooks.rotation.marks import NodeChange
from hooks.rotation.model import Node
from tests.search import passes
from tests.search.beginnings import beginnings
from tests.search.explore import Beginning, Search, Trace
from tests.search.fixture import again, dump
from tests.search.judge import Broken
from tests.search.rest import Rest

SOON = 10_000
"""States within which a fault is found."""


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """What steps did is remembered only as long as the software is the same."""
    passes.forget()
    yield
    passes.forget()


def _none(*_any: object, **_more: object) -> None:
    return None


def _yes(*_any: object, **_more: object) -> bool:
    return True


def _claim_as_it_is(reader: Any, write: Any) -> tuple[None, object]:
    return None, reader.claim(write.claim)


def _all_marks_gone(node: Node) -> NodeChange | None:
    """The Node's marks removed, whoever set them."""
    if not node.marked:
        return None
    ours = (names.SURGE_FOR, names.DO_NOT_DISRUPT_OWNED, names.CORDONED)
    gone = dict.fromkeys((*ours, names.DO_NOT_DISRUPT))
    return NodeChange(gone, {names.SURGE_FOR: None}, unschedulable=False)


MUTANTS: dict[str, tuple[str, tuple[tuple[object, str, Callable[..., object]], ...]]] = {
    "the delete guard lets all through": ("S1", ((apply, "delete_guard", _claim_as_it_is),)),
    "a successor is always ready": (
        "S1",
        ((guards, "surge_ready", _none), (view, "surge_ready", _none)),
    ),
    "a fallback is always fine": (
        "S1",
        ((guards, "fallback_ok", _yes), (phases, "fallback_ok", _yes)),
    ),
    "the claim guard lets all through": ("C1", ((apply, "claim_guard", _none),)),
    "the create guard lets all through": ("S4", ((answer, "create_guard", _none),)),
    "an operator's marks go with ours": ("S3", ((apply, "unfreezing", _all_marks_gone),)),
    "marks stay for ever": ("L1", ((apply, "unfreezing", _none),)),
    "the outcome guard lets all through": ("C1", ((endings, "_outcome_changed", _none),)),
}


def _first_broken() -> tuple[Beginning, Trace] | None:
    for disturbances in range(3):
        for beginning in beginnings():
            found = Search(beginning, disturbances, most=SOON).run().broken
            if found is not None:
                return beginning, found
    return None


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_fault_is_found(mutant: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    promise, changes = MUTANTS[mutant]
    for where, name, instead in changes:
        monkeypatch.setattr(where, name, instead)
    found = _first_broken()
    assert found is not None
    beginning, trace = found
    assert trace.promise.startswith(promise)
    dump(beginning, trace.steps, trace.promise, tmp_path / "trace")
    told = json.loads((tmp_path / "trace" / "trace.json").read_text())
    # A fault that shows only when the world is left alone needs no pass before that.
    alone = told["steps"][-1] == "it is left alone"
    assert alone or list(tmp_path.glob("trace/pass-*/request.json")) != []
    again_broken = _breaks(beginning, told["steps"])
    assert again_broken.startswith(promise) if alone else again_broken in trace.promise


def _breaks(beginning: Beginning, steps: list[str]) -> str:
    """Go the trace again: what it breaks."""
    try:
        state = beginning.state
        for taken in again(beginning, steps[:-1]):
            state = taken.move.happens()
        moved = list(again(Beginning("on", state, beginning.rules), steps[-1:]))
        if moved:
            moved[0].move.happens()
        else:
            Rest().comes(state)
            Rest().comes(state, helped=False)
    except Broken as broken:
        return str(broken)
    return "nothing"
