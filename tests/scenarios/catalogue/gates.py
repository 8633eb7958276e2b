"""Freeze, suspend, dryRun and exclusion, each set in every phase of a rotation.

A freeze holds a rotation until its delete; the other three only keep the next one from starting, but
for a fallback: each of them withdraws it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from tests.scenarios.catalogue.endings import FALLBACK, WITHOUT_A_SURGE
from tests.scenarios.manifests import Shape
from tests.scenarios.policies import exclusion
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Stage
from tests.scenarios.story import Story, begin

Turn: TypeAlias = Callable[[Story], None]


class Gate(NamedTuple):
    """What keeps rotations from starting: how it is shut, and how it is opened again."""

    shut: Turn
    reopen: Turn


FREEZE = Gate(Story.freeze, Story.thaw)
SUSPENSION = Gate(lambda s: s.amend(suspend=True), lambda s: s.amend(suspend=False))
DRY_RUN = Gate(lambda s: s.amend(dryRun=True), lambda s: s.amend(dryRun=False))
EXCLUSION = Gate(
    lambda s: s.amend(exclusions=[exclusion(s.stage.now())]), lambda s: s.amend(exclusions=[])
)
GATES = (FREEZE, SUSPENSION, DRY_RUN, EXCLUSION)


@scenario(takes=130)
def a_freeze_in_each_phase(stage: Stage) -> None:
    """A freeze holds whatever hasn't been deleted yet, and lets a drain go on."""
    _in_each_phase(stage, FREEZE, holds=True)


@scenario(takes=130)
def a_suspension_in_each_phase(stage: Stage) -> None:
    """A suspended policy starts nothing, and what is in flight goes on."""
    _in_each_phase(stage, SUSPENSION, holds=False)


@scenario(takes=130)
def a_dry_run_in_each_phase(stage: Stage) -> None:
    """A dry run starts nothing, and what is in flight goes on."""
    _in_each_phase(stage, DRY_RUN, holds=False)


@scenario(takes=130)
def an_exclusion_in_each_phase(stage: Stage) -> None:
    """An exclusion starts nothing, and what is in flight goes on."""
    _in_each_phase(stage, EXCLUSION, holds=False)


@scenario(takes=150)
def each_gate_after_a_failure(stage: Stage) -> None:
    """A failed node isn't tried again while a gate is shut, though its backoff is over."""
    story = begin(stage, Shape(stateful=0))
    (claim,) = story.originals
    story.world.register_after("60m")
    story.govern(surge={"retryBackoff": "1h"})
    story.ask()
    latest = 0
    for gate in GATES:
        story.launched()
        assert stage.command("abort", story.pool).status == 0
        story.failed(claim, after=latest)
        gate.shut(story)
        story.amend(surge={"retryBackoff": "1s"})
        story.stays("it isn't tried again", story.unanchored, 10.0)  # 1 s, doubled thrice
        if gate is GATES[-1]:
            story.world.register_after("0s")
        latest = story.latest()
        gate.reopen(story)
        story.state("pending", claim, after=latest)
        story.amend(surge={"retryBackoff": "1h"})
    story.finish()

    times = len(GATES)
    reaped = story.brought()[:-1]
    assert story.complaints(excused=[f"{one} was deleted" for one in reaped]) == []
    assert story.states(claim) == [*("pending", "failed") * times, "pending", "draining"]
    assert story.reports() == [
        *[("RotationFailed", claim)] * times,
        ("RotationCompleted", claim),
    ]


@scenario(takes=100)
def each_gate_in_a_fallback(stage: Stage) -> None:
    """A fallback that is anchored is withdrawn when any gate shuts before its delete."""
    story = begin(stage, Shape(stateful=0, lifetime="10m", grace="10s"))
    (claim,) = story.originals
    story.world.live_for("720h")
    for number, gate in enumerate(GATES):
        latest = story.latest()
        taking = story.patch(
            '"draining"', claim, before=lambda _, gate=gate: gate.shut(story), withheld=True
        )
        with stage.intercept(taking):
            if number == 0:
                story.govern(surge=FALLBACK)
            else:
                GATES[number - 1].reopen(story)
            begun = story.anchored(claim, after=latest)
            story.cleared(after=begun.revision)
        story.stays("the candidate is kept", story.kept(claim))
        story.stays("nothing starts", story.unanchored)
    GATES[-1].reopen(story)
    story.finish()

    assert story.complaints(without=WITHOUT_A_SURGE) == []
    assert story.states(claim) == ["draining"]
    assert story.reports() == [("RotationCompleted", claim)]


@scenario(own_server=True, takes=100)
def the_whole_cluster_is_suspended(stage: Stage) -> None:
    """With NODEROTATION_SUSPEND nothing starts on any pool, and what is in flight goes on."""
    story = begin(stage)
    story.world.register_after("8s")
    story.govern()
    story.ask()
    first = story.anchor()
    story.placeholder()
    stage.hooks.kill()
    stage.hooks.start(NODEROTATION_SUSPEND="true")
    try:
        story.cleared(after=story.gone(first).revision)
        _nothing_starts(story)
        story.world.register_after("0s")
    finally:
        stage.hooks.kill()
        stage.hooks.start()
    story.finish()

    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


def _in_each_phase(stage: Stage, gate: Gate, *, holds: bool) -> None:
    story = begin(stage, Shape(stateful=1, stateless=2))
    story.world.register_after("8s")
    story.govern()
    first = _while_draining(story, gate.shut)
    second = _while_pending(story, gate, holds=holds)
    (third,) = set(story.originals) - {first, second}
    _while_ready(story, gate, third, holds=holds)
    story.finish()

    assert story.complaints() == []
    assert story.states(third) == ["pending", "draining"] * (2 if holds else 1)
    assert story.reports() == [("RotationCompleted", one) for one in (first, second, third)]


def _while_draining(story: Story, shut: Turn) -> str:
    """It goes on, whatever the gate; afterwards the gate is shut."""
    world = story.world
    world.require_available(world.size)
    story.ask()
    claim = story.deleted().name
    shut(story)
    world.require_available(world.size - 1)
    story.cleared(after=story.gone(claim).revision)
    _nothing_starts(story)
    return claim


def _while_pending(story: Story, gate: Gate, *, holds: bool) -> str:
    """The gate is shut as soon as the placeholder is there; afterwards it is shut."""
    latest = story.latest()
    gate.reopen(story)
    claim = story.anchor(after=latest)
    story.placeholder(after=latest)
    gate.shut(story)
    if holds:
        story.placeholder("Running", after=latest)
        story.stays("the candidate is kept", story.kept(claim))
    else:
        story.cleared(after=story.gone(claim).revision)
        _nothing_starts(story)
    return claim


def _while_ready(story: Story, gate: Gate, claim: str, *, holds: bool) -> None:
    """The gate is shut directly before the candidate is taken; afterwards it is open."""
    taking = story.patch('"draining"', claim, before=lambda _: gate.shut(story))
    with story.stage.intercept(taking):
        gate.reopen(story)
        taken = story.state("draining", claim)
    if holds:
        story.state("pending", claim, after=taken.revision)
        story.stays("the candidate is kept", story.kept(claim))
    else:
        story.gone(claim)
    gate.reopen(story)


def _nothing_starts(story: Story) -> None:
    # On a node too many the next placeholder would be up before the gate can be shut.
    story.dismiss_superfluous()
    story.stays("nothing starts", story.unanchored)
