"""The promises of design/rotation.md section 6, on every state that a few disturbances lead to.

The real decide, the real writes and the real answers, on a pool with two claims that are due; see
:mod:`tests.search.explore`. ``make search`` runs it. ``NODEROTATION_SEARCH=1`` asks for one more
disturbance (about forty times as many states), and ``NODEROTATION_SEARCH_STATES`` for another
number of states at most; ``NODEROTATION_TRACE`` goes the steps of a trace.json again.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.search.beginnings import beginnings
from tests.search.explore import Beginning, Search
from tests.search.fixture import again, dump, stored
from tests.search.judge import Broken
from tests.search.rest import Rest
from tests.support.folders import run

DISTURBANCES = {
    "a deadline is near": 2, "idle": 2, "failed": 2, "running": 2, "the window closes": 2,
}  # fmt: skip
"""How many there may be, by beginning; the longest search first."""
MORE = int(os.environ.get("NODEROTATION_SEARCH", "0"))
CUSTOMARY = 700_000
MOST = int(os.environ.get("NODEROTATION_SEARCH_STATES", str(CUSTOMARY)))
"""From each beginning; beyond them the search is no longer exhaustive, and says so."""
EVERY = 8
"""Of the worlds one in so many is gone on from also with the policy gone, frozen, or deleted."""
FLOOR = 100_000
WORKERS = 2


@dataclass(frozen=True)
class Found:
    """What a worker has to say."""

    line: str
    states: frozenset[int]
    broken: str
    whole: bool


def _search(name: str) -> Found:
    gc.disable()  # Nothing here is garbage before the end, and looking for it takes most of the time.
    beginning = _named(name)
    search = Search(beginning, DISTURBANCES[name] + MORE, most=MOST, every=EVERY).run()
    end = "as far as it went" if search.stopped else "all of them"
    line = (
        f"{name}, {search.disturbances} disturbances: {len(search.seen)} states ({end}),"
        f" {search.edges} steps,"
        f" {len(search.cores)} worlds gone on from to rest in {search.rest.passes} passes"
    )
    broken = ""
    if search.broken is not None:
        trace = search.broken
        folder = Path(tempfile.mkdtemp(prefix="noderotation-trace-"))
        dump(beginning, trace.steps, trace.promise, folder)
        steps = "\n".join(f"  {number}. {step}" for number, step in enumerate(trace.steps, 1))
        broken = f"{trace.promise}\nfrom {name}:\n{steps}\nas fixtures: {folder}"
    return Found(line, frozenset(search.seen), broken, not search.stopped)


def _named(name: str) -> Beginning:
    return next(one for one in beginnings() if one.name == name)


@pytest.mark.timeout(1200)
def test_the_promises_hold_in_every_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert {one.name for one in beginnings()} == set(DISTURBANCES)
    # Forked workers hash alike, so that their states can be counted together.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as workers:
        found = list(workers.map(_search, DISTURBANCES))
    states = frozenset[int]().union(*(one.states for one in found))
    with capsys.disabled():
        told = "\n".join(one.line for one in found)
        print(f"\n{len(states)} distinct states\n{told}")
    broken = [one.broken for one in found if one.broken]
    assert not broken, "\n\n".join(broken)
    assert len(states) >= FLOOR
    if not MORE and MOST >= CUSTOMARY:
        assert all(one.whole for one in found), "it is no longer exhaustive: look at the bounds"


HAPPY = (
    "a pass begins", "the NodePool is updated", "a pass begins", "the pass writes: PatchClaim",
    "the pass writes: Freeze", "the answer is made", "attachments are applied",
    "Karpenter brings a node", "noderotation-surge-old is bound to node-new-1",
    "a pass begins", "the pass writes: PatchClaim", "the pass writes: Freeze",
    "noderotation-surge-old runs", "a pass begins", "the NodePool is updated",
    "a pass begins", "the pass writes: PatchClaim", "the pass writes: DeleteCandidate",
    "attachments are applied", "old is gone", "a pass begins",
    "the pass writes: Unfreeze", "the pass writes: Announce", "the NodePool is updated",
)  # fmt: skip


def test_a_rotation_that_nothing_disturbs_is_among_what_is_searched() -> None:
    """So that the promises aren't kept by never doing anything; each step is a move that exists."""
    taken = list(again(_named("idle"), HAPPY))
    assert [one.move.name for one in taken] == list(HAPPY)
    end = taken[-1].move.happens()
    assert [claim.name for claim in end.claims] == ["new-1", "other"]
    assert [outcome for _, outcome, _ in end.events] == ["RotationCompleted"]


ONCE_BROKEN = {
    "an aborted fallback fails once, though a request doesn't show the abort": ("the window closes", (
        "a pass begins", "the NodePool is updated", "an operator aborts",
        "a pass begins", "the pass writes: PatchClaim", "the pass writes: Unfreeze",
        "the pass writes: PatchClaim", "the pass writes: Announce", "the answer is lost",
        "a pass begins, pool one version back", "the pass writes: PatchClaim",
    )),
}  # fmt: skip
"""Traces of three disturbances, which ``make search`` doesn't get to from every beginning."""


@pytest.mark.parametrize("trace", ONCE_BROKEN)
def test_what_once_broke_a_promise_comes_to_rest(trace: str) -> None:
    name, steps = ONCE_BROKEN[trace]
    for last in again(_named(name), steps):
        state = last.move.happens()
        Rest().comes(state)
        Rest().comes(state, helped=False)


def test_the_whole_hook_does_on_a_passs_fixture_what_the_steps_do() -> None:
    """The search cuts a pass in pieces: together they are what the hook does in one go."""
    taken = list(again(_named("idle"), HAPPY))
    starts = [at for at, one in enumerate(taken) if one.move.name == "a pass begins"]
    for start, end in zip(starts, [*starts[1:], len(taken)], strict=True):
        outcome = run(stored(taken[start], "a pass of the undisturbed rotation"))
        names = [one.move.name for one in taken[start:end]]
        written = [name for name in names if name.startswith("the pass writes")]
        cut = [write for write in outcome.writes if write.get("reason") != "RotationStarted"]
        assert len(cut) == len(written)
        updated = "annotations" in outcome.response
        assert updated is ("the NodePool is updated" in names)


if "NODEROTATION_TRACE" in os.environ:

    def test_the_trace_that_was_given_goes_through() -> None:
        trace = json.loads(Path(os.environ["NODEROTATION_TRACE"]).read_text())
        steps = trace["steps"]
        try:
            taken = len(list(again(_named(trace["beginning"]), steps)))
            last = list(again(_named(trace["beginning"]), steps))[-1]
            last.move.happens()
        except Broken as broken:
            pytest.fail(str(broken))
        assert taken == len(steps), f"step {taken + 1} can't be taken: {steps[taken]}"
