"""What operators ask for, and what they do with their own hands."""

from __future__ import annotations

from hooks.verdict.case import CORDON, OperatorMark
from hooks.verdict.case import DO_NOT_DISRUPT as DO_NOT_DISRUPT_MARK
from hooks.verdict.course import all_replaced
from tests.scenarios.manifests import DO_NOT_DISRUPT, Shape
from tests.scenarios.policies import stamp
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Object, Stage
from tests.scenarios.story import begin

_OPT_OUT: Object = {"metadata": {"annotations": {DO_NOT_DISRUPT: "true"}}}


@scenario()
def due_before(stage: Stage) -> None:
    """``noderotation rotate`` has the older nodes renewed, and not those that replace them."""
    story = begin(stage)
    story.govern()
    story.stays("nothing is due", story.is_at_rest)
    moment = stamp(stage.now())
    ran = stage.command("rotate", story.pool, f"--created-before={moment}")
    assert ran.status == 0, ran.output
    story.finish()
    story.stays("the new nodes aren't due", story.is_at_rest)

    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


@scenario()
def one_claim_is_due(stage: Stage) -> None:
    """``noderotation rotate --claim`` has one node renewed and leaves the other alone."""
    story = begin(stage)
    story.govern()
    chosen, spared = story.originals
    ran = stage.command("rotate", f"--claim={chosen}")
    assert ran.status == 0, ran.output
    story.finish([chosen])
    story.stays("the other one isn't due", story.is_at_rest)

    assert story.complaints(without=[all_replaced]) == []
    assert spared in story.world.claims()
    assert story.reports() == [("RotationCompleted", chosen)]


@scenario(takes=90)
def an_abort(stage: Stage) -> None:
    """``noderotation abort`` rolls a surge back like a time-out; later it is tried again."""
    story = begin(stage, Shape(stateful=0))
    (claim,) = story.originals
    assert "nothing to abort" in stage.command("abort", story.pool).output
    story.world.register_after("60m")
    story.govern(surge={"retryBackoff": "1h"})
    story.ask()
    story.launched()
    ran = stage.command("abort", story.pool)
    assert ran.status == 0, ran.output
    story.failed(claim)
    story.world.register_after("0s")
    story.amend(surge={"retryBackoff": "1s"})
    story.finish()

    reaped = story.brought()[:-1]
    assert story.complaints(excused=[f"{one} was deleted" for one in reaped]) == []
    assert story.states(claim) == ["pending", "failed", "pending", "draining"]
    assert story.reports() == [("RotationFailed", claim), ("RotationCompleted", claim)]


@scenario(takes=100)
def an_operators_marks_are_kept(stage: Stage) -> None:
    """A Node opted out by its operator stays, and a cordon of theirs outlives a failed attempt."""
    story = begin(stage, Shape(stateful=1, stateless=2))
    world, api = story.world, stage.api
    opted_out, cordoned, plain = story.originals
    nodes = {one: world.node_of(one)["metadata"]["name"] for one in story.originals}
    marks = [
        _mark(stage, nodes[opted_out], DO_NOT_DISRUPT_MARK, _OPT_OUT),
        _mark(stage, nodes[cordoned], CORDON, {"spec": {"unschedulable": True}}),
    ]
    story.govern(surge={"retryBackoff": "1h"})
    world.register_after("60m")
    story.ask_for(cordoned)
    story.ask_for(opted_out)
    story.launched()
    assert stage.command("abort", story.pool).status == 0
    story.reported("RotationFailed", cordoned)
    story.rest()
    world.register_after("0s")
    story.ask_for(plain)
    story.finish([plain])

    assert api.get("Node", nodes[cordoned])["spec"].get("unschedulable") is True
    assert api.get("Node", nodes[opted_out])["metadata"]["annotations"][DO_NOT_DISRUPT] == "true"
    assert story.states(opted_out) == []
    assert story.reports() == [("RotationFailed", cordoned), ("RotationCompleted", plain)]
    excused = [
        *(f"{one} was deleted" for one in story.brought()),
        f"on NodeClaim {cordoned}",  # its failed attempt
        f"noderotation.io/due on NodeClaim {opted_out}",
    ]
    assert story.complaints(without=[all_replaced], excused=excused, operator=marks) == []


def _mark(stage: Stage, node: str, what: str, change: Object) -> OperatorMark:
    """Set a mark on a Node as its operator."""
    marked = stage.api.patch("Node", node, change)
    return OperatorMark(node, what, int(marked["metadata"]["resourceVersion"]))
