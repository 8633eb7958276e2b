"""The guards: each condition once false, live, while the request still says that it holds."""

from __future__ import annotations

from typing import Any

from hooks import names
from hooks.rotation.reasons import Reason
from tests.support.cases import KEPT, UNMIRROR, Case, Trouble
from tests.support.scene import (
    ANCHOR,
    DELETED,
    SURGE_MIRROR,
    anchored,
    delete,
    draining,
    fallback,
    gone,
    later,
    mirrored,
    old,
    pending,
    pool,
    surge_pod,
    where,
)
from tests.support.shortly import claim, unfreeze
from tests.support.world import Json, World, node, nodeclaim, nodepool, uid_of

HELD = "2026-11-29T23:00:00Z"
TAKEN = (claim("old", "state=draining"),)
TAINT = {"key": names.DISRUPTED_TAINT, "effect": "NoSchedule"}
OTHER = {"active-rotation": "young", "active-rotation-uid": uid_of("young")}


def _stops(name: str, why: str, world: World, reason: Reason, **more: Any) -> Case:
    more = {"listed": KEPT} | more
    return Case(name, why, world, "stop", reason, look_again=2, **more)


def _without_pool(world: World) -> World:
    return where(world.copy(), lambda w: w.pool["metadata"].update(name="another"))


def _twin() -> Json:
    twin = nodeclaim("old", {"state": "draining"})
    twin["metadata"]["uid"] = uid_of("twin")
    return twin


def _gone(marks: dict[str, str]) -> World:
    return where(gone(), lambda w: setattr(w, "pool", nodepool(marks)))


DELETE_LIVE: tuple[tuple[str, Any, Reason], ...] = (
    ("the-pool-is-being-deleted", lambda w: delete(w.pool), Reason.POOL_DELETING),
    ("the-mirror-is-gone", pool(active_rotation_state=None), Reason.MIRROR_MISSING),
    ("the-mode-changed", pool(rotation_mode="forceful-fallback"), Reason.MODE_CHANGED),
    ("a-freeze-came", pool(freeze=HELD), Reason.FROZEN),
    ("an-abort-came", pool(abort="old"), Reason.ABORTED),
)
"""What the delete guard alone refuses: the claim is taken, and not deleted."""

DELETE = (
    *(_stops(f"no-delete-as-{name}", "row 5, delete guard: read live before the delete",
             mirrored(), reason, writes=TAKEN, live=later(mirrored(), change))
      for name, change, reason in DELETE_LIVE),
    *(_stops(f"no-delete-of-the-fallback-as-{name}", "row 6, delete guard", fallback(), reason,
             writes=TAKEN, live=later(fallback(), change), listed="none")
      for name, change, reason in (
          DELETE_LIVE[0], DELETE_LIVE[1], ("the-mode-changed", pool(rotation_mode=None),
                                           Reason.MODE_CHANGED), *DELETE_LIVE[3:])),
    _stops("no-delete-of-the-fallback-as-its-deadline-moved", "row 6: fallback_ok is judged live",
           fallback(), Reason.FALLBACK_NOT_OK, writes=TAKEN, listed="none",
           live=later(fallback(), lambda w: w.claims[0]["spec"].update(expireAfter="400h"))),
    _stops("no-delete-as-the-placeholder-was-preempted-between-the-writes",
           "found in review: no delete without a successor", mirrored(),
           Reason.PLACEHOLDER_MISSING, writes=TAKEN, troubles=(
               Trouble("get pods", nth=2, change={
                   "pods": {"node-rotation-system/noderotation-surge-old": None}}),)),
    _stops("no-delete-as-the-claim-changed-between-the-writes", "the state is read live again",
           mirrored(), Reason.STATE_CHANGED, writes=TAKEN, troubles=(
               Trouble("get nodeclaims", "old", 2, change={
                   "nodeclaims": {"old": nodeclaim("old", {"state": "failed"})}}),)),
    _stops("no-delete-as-the-claim-went-between-the-writes", "gone", mirrored(),
           Reason.CLAIM_GONE, writes=TAKEN, troubles=(
               Trouble("get nodeclaims", "old", 2, change={"nodeclaims": {"old": None}}),)),
    _stops("no-delete-as-somebody-else-deleted-it", "Karpenter was faster", mirrored(),
           Reason.CLAIM_DELETING, writes=TAKEN, troubles=(
               Trouble("get nodeclaims", "old", 2, change={"nodeclaims": {
                   "old": nodeclaim("old", {"state": "draining"}, deleted=DELETED)}}),)),
    _stops("no-delete-as-the-claim-is-a-namesake-by-now", "another UID", mirrored(),
           Reason.CLAIM_GONE, writes=TAKEN, troubles=(
               Trouble("get nodeclaims", "old", 2, change={"nodeclaims": {"old": _twin()}}),)),
    _stops("no-delete-as-the-anchor-went-between-the-writes", "the anchor is read live again",
           mirrored(), Reason.ANCHOR_ELSEWHERE, writes=TAKEN, troubles=(
               Trouble("get nodepools", nth=2, change={"nodepools": {"api": nodepool()}}),)),
    _stops("no-delete-as-the-pool-went-between-the-writes", "the pool is read live again",
           mirrored(), Reason.POOL_GONE, writes=TAKEN, troubles=(
               Trouble("get nodepools", nth=2, change={"nodepools": {"api": None}}),)),
    _stops("no-resumed-delete-as-the-pool-is-gone", "row 7 doesn't match, nor does 7b",
           draining(), Reason.POOL_GONE, live=_without_pool(draining())),
    _stops("no-resumed-delete-as-the-anchor-names-another", "row 7 doesn't match, nor does 7b",
           draining(), Reason.ANCHOR_ELSEWHERE,
           live=later(draining(), lambda w: setattr(w, "pool", nodepool(OTHER | SURGE_MIRROR)))),
    _stops("no-resumed-delete-as-karpenter-deletes-it", "row 8 comes with the next request",
           draining(), Reason.CLAIM_DELETING,
           live=later(draining(), lambda w: delete(w.claims[0]))),
    _stops("no-resumed-delete-without-the-live-mirror", "the request's mirror is not enough",
           draining(), Reason.MIRROR_MISSING,
           live=later(draining(), pool(active_rotation_state=None))),
    Case("mirror-restored-though-it-is-there", "the answer conflicts, and that is all",
         where(draining(), pool(active_rotation_state=None)), "7", Reason.MIRROR_RESTORED,
         annotations={"active-rotation-state": "draining"}, listed=KEPT, live=draining()),
)  # fmt: skip

CLAIM_LIVE: tuple[tuple[str, Any, Reason, frozenset[str]], ...] = (
    ("the-pool-is-gone", lambda w: w.pool["metadata"].update(name="another"),
     Reason.POOL_GONE, frozenset()),
    ("the-anchor-names-another", lambda w: setattr(w, "pool", nodepool(OTHER)),
     Reason.ANCHOR_ELSEWHERE, frozenset()),
    ("the-anchor-names-a-namesake", pool(active_rotation_uid=uid_of("twin")),
     Reason.ANCHOR_ELSEWHERE, frozenset()),
    ("the-anchor-is-gone", lambda w: setattr(w, "pool", nodepool()), Reason.ANCHOR_ELSEWHERE,
     frozenset()),
    ("the-claim-is-gone", lambda w: w.claims.pop(0), Reason.CLAIM_GONE,
     frozenset({"node without claim"})),
    ("the-claim-is-a-namesake", lambda w: w.claims[0]["metadata"].update(uid=uid_of("twin")),
     Reason.CLAIM_GONE, frozenset()),
    ("the-claim-is-being-deleted", lambda w: delete(w.claims[0]), Reason.CLAIM_DELETING,
     frozenset()),
    ("the-claims-state-changed", old(state="failed"), Reason.STATE_CHANGED, frozenset()),
    ("the-claims-start-changed", old(started_at="2026-11-29T19:59:00Z"), Reason.STATE_CHANGED,
     frozenset()),
)  # fmt: skip

CLAIM = (
    *(_stops(f"no-write-as-{name}", "row 3, claim guard: read live before the write",
             anchored(), reason, live=later(anchored(), change), listed="none", unusual=unusual)
      for name, change, reason, unusual in CLAIM_LIVE),
    _stops("no-write-to-a-stray-claim-as-it-is-the-anchor", "row 18 names no anchored claim",
           where(pending(), lambda w: setattr(w, "pool", nodepool())), Reason.ANCHOR_ELSEWHERE,
           listed="none", troubles=(Trouble("get nodepools", nth=2, change={
               "nodepools": {"api": nodepool(ANCHOR)}}),),
           writes=(unfreeze("old", cordoned=True),)),
)  # fmt: skip

CREATE = tuple(
    _stops(f"no-placeholder-as-{name}", "row 3, create guard: read live before listing it",
           pending(), reason, live=later(pending(), change), listed="none", unusual=unusual)
    for name, change, reason, unusual in (
        *(entry for entry in CLAIM_LIVE[:7]),
        ("the-pool-is-being-deleted", lambda w: delete(w.pool), Reason.POOL_GONE, frozenset()),
    )
)  # fmt: skip

OUTCOME = tuple(
    _stops(f"no-outcome-{row}-as-{name}", f"row {row}, outcome guard: nothing is counted",
           _gone(marks), reason, live=later(_gone(marks), change), listed="none")
    for row, marks, changes in (
        ("9", ANCHOR | SURGE_MIRROR, (
            ("the-mirror-is-gone", pool(active_rotation_state=None), Reason.OUTCOME_CHANGED),
            ("the-anchor-changed", lambda w: setattr(w, "pool", nodepool(OTHER | SURGE_MIRROR)),
             Reason.OUTCOME_CHANGED),
            ("the-uid-changed", pool(active_rotation_uid="x"), Reason.OUTCOME_CHANGED),
            ("the-mode-changed", pool(rotation_mode="forceful-fallback"),
             Reason.OUTCOME_CHANGED),
            ("the-pool-is-gone", lambda w: w.pool["metadata"].update(name="another"),
             Reason.POOL_GONE),
        )),
        ("10", ANCHOR, (
            ("a-mirror-came", pool(active_rotation_state="draining"), Reason.OUTCOME_CHANGED),
            ("the-anchor-is-gone", lambda w: setattr(w, "pool", nodepool()),
             Reason.OUTCOME_CHANGED),
        )),
    )
    for name, change, reason in changes
)  # fmt: skip

LIVE_CLAIM = (
    _stops("mirrored-but-taken-meanwhile", "row 5b: live, the claim no longer waits",
           where(mirrored(), pool(freeze=HELD)), Reason.STATE_CHANGED,
           live=later(where(mirrored(), pool(freeze=HELD)), old(state="draining"))),
    _stops("mirrored-but-gone-meanwhile", "row 5b: live, the claim is gone",
           where(mirrored(), pool(freeze=HELD)), Reason.STATE_CHANGED,
           live=later(mirrored(), lambda w: w.claims.pop(0)),
           unusual=frozenset({"node without claim"})),
    _stops("cleared-but-taken-meanwhile", "row 5c: live, the claim has a state again",
           where(mirrored(), lambda w: w.claims.__setitem__(0, nodeclaim("old"))),
           Reason.STATE_CHANGED, live=mirrored()),
    _stops("cleared-but-expiring-meanwhile", "row 5c: live, the claim is being deleted",
           where(mirrored(), lambda w: w.claims.__setitem__(0, nodeclaim("old"))),
           Reason.STATE_CHANGED, live=where(mirrored(), lambda w: w.claims.__setitem__(
               0, nodeclaim("old", deleted=DELETED)))),
)  # fmt: skip


def _unready(name: str, reason: Reason, change: Any, **more: Any) -> Case:
    more = {"annotations": UNMIRROR, "listed": KEPT} | more
    return Case(f"not-ready-as-{name}", "surge_ready is judged on live objects alone", mirrored(),
                "5b", reason, live=later(mirrored(), change), **more)  # fmt: skip


READY = (
    _unready("the-placeholder-is-gone", Reason.PLACEHOLDER_MISSING,
             lambda w: w.pods.remove(surge_pod(w))),
    _unready("the-placeholder-is-pending", Reason.PLACEHOLDER_NOT_RUNNING,
             lambda w: surge_pod(w)["status"].update(phase="Pending")),
    _unready("the-placeholder-is-terminating", Reason.PLACEHOLDER_NOT_RUNNING,
             lambda w: delete(surge_pod(w))),
    _unready("the-placeholder-runs-on-the-candidate", Reason.PLACEHOLDER_ON_CANDIDATE,
             lambda w: surge_pod(w)["spec"].update(nodeName="node-old")),
    _unready("the-host-is-gone", Reason.HOST_LEAVING, lambda w: w.nodes.pop(),
             unusual=frozenset({"claim without node", "pod without node"})),
    _unready("the-host-is-of-another-pool", Reason.HOST_OF_ANOTHER_POOL,
             lambda w: w.nodes[-1]["metadata"]["labels"].update({names.NODEPOOL_LABEL: "web"})),
    _unready("the-hosts-claim-is-gone", Reason.HOST_LEAVING, lambda w: w.claims.pop(),
             unusual=frozenset({"node without claim"})),
    _unready("the-hosts-claim-is-being-deleted", Reason.HOST_LEAVING,
             lambda w: delete(w.claims[-1])),
    _unready("the-host-has-no-owner", Reason.HOST_LEAVING,
             lambda w: w.nodes[-1]["metadata"]["ownerReferences"][0].update(kind="Machine")),
    _unready("the-host-is-being-deleted", Reason.HOST_LEAVING, lambda w: delete(w.nodes[-1])),
    _unready("karpenter-disrupts-the-host", Reason.HOST_LEAVING,
             lambda w: w.nodes[-1]["spec"].update(taints=[TAINT])),
    _unready("the-host-is-cordoned", Reason.HOST_UNSCHEDULABLE,
             lambda w: w.nodes[-1]["spec"].update(unschedulable=True)),
    _unready("the-host-is-not-ready", Reason.HOST_NOT_READY, lambda w: w.nodes.__setitem__(
        2, node("new", frozen_for="old", created="2026-11-29T19:58:10Z", ready=False))),
    Case("not-ready-as-the-request-lies-about-the-candidates-node",
         "a body that names another Node for the candidate gets no delete",
         where(mirrored(), lambda w: w.claims[0]["status"].update(nodeName="node-young"),
               lambda w: surge_pod(w)["spec"].update(nodeName="node-old")), "5b",
         Reason.PLACEHOLDER_ON_CANDIDATE, annotations=UNMIRROR, listed=KEPT,
         live=where(mirrored(), lambda w: surge_pod(w)["spec"].update(nodeName="node-old"))),
)  # fmt: skip

CASES = DELETE + CLAIM + CREATE + OUTCOME + LIVE_CLAIM + READY
