"""Row 18 beside other rows, rotations that the Go controller began, namesakes and long names."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from hooks import names
from hooks.rotation.outcomes import event_name
from hooks.rotation.reasons import Reason
from tests.support.cases import CLEAR, CREATED, KEPT, SELECTED, Case, Trouble
from tests.support.scene import (
    ANCHOR,
    PENDING,
    anchored,
    delete,
    deleted,
    drop,
    idle,
    later,
    listed,
    named,
    old,
    pending,
    pool,
    running,
    where,
    without_pods,
)
from tests.support.shortly import claim, event, freeze, unfreeze
from tests.support.shortly import delete as deletes
from tests.support.world import NOW, World, node, nodeclaim, nodepool, uid_of, workload

DND = names.DO_NOT_DISRUPT


def _stray(mark: str = "dead", **more: Any) -> World:
    """``young`` still carries the marks of a rotation of another claim."""
    return where(idle(), lambda w: w.nodes.__setitem__(
        1, node("young", frozen_for=mark, created="2026-11-27T20:00:00Z", **more)))  # fmt: skip


def _starts(name: str, why: str, world: World, *writes: str, **more: Any) -> Case:
    return Case(name, why, world, "1", Reason.ROTATION_STARTED, writes=writes,
                annotations=ANCHOR, **more)  # fmt: skip


NODES = (
    _starts("stray-marks", "row 18: the marks of a dead rotation go, beside row 1", _stray(),
            unfreeze("young")),
    _starts("stray-marks-with-a-cordon", "row 18: our cordon goes too", _stray(cordoned=True),
            unfreeze("young", cordoned=True)),
    _starts("stray-marks-beside-an-operators", "an operator's do-not-disrupt and cordon stay",
            where(_stray(unschedulable=True), lambda w: named(w.nodes, "node-young")["metadata"][
                "annotations"].pop(names.DO_NOT_DISRUPT_OWNED)),
            "node node-young: -label:surge-for -surge-for"),
    _starts("stray-marks-that-somebody-changed", "a do-not-disrupt that isn't ours any more stays",
            _stray(marks={DND: "false"}),
            "node node-young: -do-not-disrupt-owned -label:surge-for -surge-for"),
    _starts("stray-cordon-that-somebody-lifted", "a marker without the cordon goes alone",
            where(_stray(cordoned=True), lambda w: named(w.nodes, "node-young")["spec"].pop(
                "unschedulable")),
            "node node-young: -cordoned -do-not-disrupt -do-not-disrupt-owned -label:surge-for"
            " -surge-for"),
    _starts("stray-label-alone", "row 18: a label without its annotation goes",
            where(_stray(), lambda w: named(w.nodes, "node-young")["metadata"].pop("annotations"),
                  lambda w: named(w.nodes, "node-young")["metadata"].update(annotations={})),
            "node node-young: -label:surge-for", unusual=frozenset({"mark without label"})),
    _starts("stray-marks-that-are-gone-by-now", "row 18 looks at the Node live", _stray(),
            live=later(_stray(), lambda w: w.nodes.__setitem__(
                1, node("young", created="2026-11-27T20:00:00Z")))),
    _starts("stray-marks-of-another-rotation-by-now", "row 18 looks at the Node live", _stray(),
            live=later(_stray(), lambda w: w.nodes.__setitem__(
                1, node("young", frozen_for="other", created="2026-11-27T20:00:00Z")))),
    _starts("stray-marks-of-what-is-the-anchor-by-now", "row 18 looks at the anchor live",
            _stray("old"), live=where(_stray("old"), pool(
                active_rotation="old", active_rotation_uid=uid_of("old")))),
    _starts("stray-marks-in-a-pool-that-is-gone", "row 18: nothing to judge them by", _stray(),
            live=where(_stray(), lambda w: w.pool["metadata"].update(name="another"))),
    Case("stray-marks-beside-a-surge", "row 18 beside row 3: only what isn't the anchor's",
         where(listed(), lambda w: w.nodes.__setitem__(1, node(
             "young", frozen_for="dead", created="2026-11-27T20:00:00Z"))),
         "3", Reason.SURGE_PENDING, listed=KEPT, log=SELECTED, writes=(unfreeze("young"),)),
    Case("stray-claim-beside-a-surge", "row 18 beside row 3: a forgotten attempt is failed",
         where(listed(), lambda w: w.claims.__setitem__(1, nodeclaim(
             "young", PENDING, created="2026-11-27T20:00:00Z"))),
         "3", Reason.SURGE_PENDING, listed=KEPT, log=("forgotten attempt failed", *SELECTED),
         writes=(claim("young", f"state=failed failed-at={NOW} -started-at"),)),
    Case("stray-claim-that-is-the-anchor-by-now", "row 18 looks at the anchor live",
         where(pending(), lambda w: setattr(w, "pool", nodepool())), "idle", Reason.NO_CANDIDATE,
         log=("no candidate",), census={"inFlight": 1, "tooYoung": 1}, live=pending()),
    Case("stray-claim-that-changed-meanwhile", "row 18: claim guard",
         where(idle(), lambda w: w.claims.__setitem__(0, nodeclaim("old", PENDING))), "stop",
         Reason.STATE_CHANGED, look_again=2,
         live=later(where(idle(), lambda w: w.claims.__setitem__(0, nodeclaim("old", PENDING))),
                    old(state="failed"))),
    Case("stray-claim-in-conflict", "row 18: a patch that conflicts for ever stops the pass",
         where(idle(), lambda w: w.claims.__setitem__(0, nodeclaim("old", PENDING))), "stop",
         Reason.CONFLICT, look_again=2,
         troubles=(Trouble("patch nodeclaims", nth=0, error="Conflict"),)),
    Case("stray-marks-in-a-deleting-pool", "row 18 beside row 0",
         where(_stray(), lambda w: delete(w.pool)), "0", Reason.POOL_DELETING,
         writes=(unfreeze("young"),)),
)  # fmt: skip


def _begun_by_go(world: World) -> World:
    """The same rotation as the original controller would have begun it: no UID, no labels."""
    where(world, pool(active_rotation_uid=None))
    for each in world.nodes:
        each["metadata"]["labels"].pop(names.SURGE_FOR, None)
    return world


GO: tuple[Case, ...] = (
    Case("go-rotation-goes-on", "the labels are added; the name alone counts", _begun_by_go(
        listed()), "3", Reason.SURGE_PENDING, listed=KEPT, log=SELECTED,
         writes=("node node-old: label:surge-for=old",), unusual=frozenset({"mark without label"})),
    Case("go-rotation-times-out", "the candidate's and the surge-claim's Node are read live",
         _begun_by_go(without_pods(running())), "12", Reason.ROTATION_FAILED,
         now="2026-11-29T20:03:01Z", log=("attempt failed",),
         annotations={"active-rotation": None, "last-failure-at": "2026-11-29T20:03:01Z"},
         writes=(deletes("new"),
                 unfreeze("old", cordoned=True).replace("-label:surge-for ", ""),
                 unfreeze("new").replace("-label:surge-for ", ""),
                 claim("old", "state=failed failed-at=2026-11-29T20:03:01Z retry-count=1"
                              " -started-at -surge-claim"),
                 event("RotationFailed")),
         unusual=frozenset({"mark without label"})),
    Case("go-rotation-loses-its-governance", "the surge-claim is read live when it isn't related",
         where(_begun_by_go(without_pods(running())), lambda w: w.policies.clear(),
               lambda w: drop(w.claims, "new")), "17", Reason.GOVERNANCE_LOST,
         log=("governance lost",), annotations={"active-rotation": None},
         writes=(unfreeze("old", cordoned=True).replace("-label:surge-for ", ""),
                 unfreeze("new").replace("-label:surge-for ", ""),
                 event("GovernanceLost", "NodePool"),
                 claim("old", "-state -started-at -surge-claim")),
         live=_begun_by_go(without_pods(running())), unusual=frozenset({"mark without label"})),
    Case("go-rotation-drains", "row 8: once the claim is gone only a label leads to the host",
         _begun_by_go(where(deleted(), pool(active_rotation_uid=None))), "8", Reason.DRAINING,
         writes=("node node-new: label:surge-for=old",),
         unusual=frozenset({"mark without label"})),
    Case("go-rotation-expires", "the terminal Event's name rests on the anchor's words",
         where(_begun_by_go(pending()), lambda w: delete(w.claims[0])), "11",
         Reason.ROTATION_EXPIRED, log=("rotation expired",), annotations={"active-rotation": None},
         writes=(unfreeze("old", cordoned=True).replace("-label:surge-for ", ""),
                 event("RotationExpired"), claim("old", "state=expired -started-at")),
         unusual=frozenset({"mark without label"})),
)  # fmt: skip

GO_COUNTED = (event_name("75ff670b-bc1f-4934-8e3a-c3b7e5ee519a", "old", "terminal"),)
GO += (
    Case("go-rotation-expires-and-was-counted", "without a UID the anchor's name stands for it",
         _begun_by_go(where(anchored(), lambda w: delete(w.claims[0]))), "11",
         Reason.ROTATION_EXPIRED, annotations={"active-rotation": None}, events=GO_COUNTED,
         writes=(claim("old", "state=expired"),)),
    Case("go-rotation-vanished-and-was-counted", "row 11 counted it; row 10 knows the same name",
         where(_begun_by_go(anchored()), lambda w: drop(w.claims, "old"),
               lambda w: drop(w.nodes, "node-old"), lambda w: w.pods.clear()), "10",
         Reason.ROTATION_EXPIRED, annotations={"active-rotation": None}, events=GO_COUNTED),
)  # fmt: skip

NAMESAKES = (
    Case("pending-namesake", "the anchored claim is gone; its namesake is a stray (row 18)",
         where(pending(), lambda w: w.claims[0]["metadata"].update(uid=uid_of("twin"))), "10",
         Reason.ROTATION_EXPIRED, log=("forgotten attempt failed", "rotation expired"),
         annotations=CLEAR,
         writes=(claim("old", f"state=failed failed-at={NOW} -started-at"),
                 unfreeze("old", cordoned=True), event("RotationExpired"))),
    Case("absorbed-with-a-gone-surge-claim", "a surge-claim that is gone has no Node to unfreeze",
         where(pending(), old(surge_claim="lost"), lambda w: w.policies.clear()), "17",
         Reason.GOVERNANCE_LOST, log=("governance lost",), annotations=CLEAR,
         writes=(unfreeze("old", cordoned=True), event("GovernanceLost", "NodePool"),
                 claim("old", "-state -started-at -surge-claim"))),
)  # fmt: skip

LONG = "api-" + "x" * 66
LABEL = f"{LONG[:54]}-{sha256(LONG.encode()).hexdigest()[:8]}"


def _long() -> World:
    world = anchored()
    world.pool = nodepool({"active-rotation": LONG, "active-rotation-uid": uid_of(LONG)})
    world.claims = [nodeclaim(LONG)]
    world.nodes = [node(LONG)]
    world.pods = [workload("web-1", LONG)]
    return world


LONG_NAMES = (
    Case("name-longer-than-a-label", "the label is cut and hashed, the annotation is whole",
         _long(), "3", Reason.SURGE_PENDING, listed=CREATED,
         writes=(claim(LONG, f"state=pending started-at={NOW}"),
                 freeze(LONG, LONG, cordon=True).replace(f"label:surge-for={LONG}",
                                                         f"label:surge-for={LABEL}")),
         log=("candidate selected", "placeholder created")),
)  # fmt: skip

CASES = NODES + GO + NAMESAKES + LONG_NAMES
