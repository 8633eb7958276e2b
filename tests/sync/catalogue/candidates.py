"""Which claim is next: every condition of a candidate, and the order."""

from __future__ import annotations

from typing import Any

from hooks import names
from hooks.rotation.reasons import Reason
from tests.support.cases import Case
from tests.support.scene import FAILED, STARTED, delete, idle, mark, named, where
from tests.support.shortly import claim
from tests.support.world import GRACE, NOW, YOUNG, E, World, node, nodeclaim, nodepool, uid_of

EDGE = "2026-11-17T20:09:00Z"
"""Created then, a claim's lead time (2 * 24h + 9m of its 336h) begins exactly at NOW."""
HELD = ("malformed state", "no candidate")
FORGOTTEN = ("forgotten attempt failed", "no candidate")
TAINT = {"key": names.DISRUPTED_TAINT, "effect": "NoSchedule"}


def _none(name: str, why: str, world: World, counted: str, **more: Any) -> Case:
    more = {"log": ("no candidate",), "census": {counted: 1}} | more
    return Case(name, why, world, "idle", Reason.NO_CANDIDATE, **more)


def _picks(name: str, why: str, world: World, chosen: str, **more: Any) -> Case:
    anchor = {"active-rotation": chosen, "active-rotation-uid": uid_of(chosen)}
    return Case(name, why, world, "1", Reason.ROTATION_STARTED, annotations=anchor, **more)


def _only(claim_: Any = None, node_: Any = None, **spec: Any) -> World:
    """A pool with ``old`` alone."""
    world = idle(**spec)
    world.claims = [claim_ or nodeclaim("old")]
    world.nodes = [node_] if node_ else [node("old", created=_created(world.claims[0]))]
    return world


def _created(thing: Any) -> str:
    created: str = thing["metadata"]["creationTimestamp"]
    return created


AGE = (
    _none("too-young", "not due yet", _only(nodeclaim("old", created=YOUNG)), "tooYoung"),
    _none(
        "lead-time-begins-now",
        "now must be past deadline - leadTime, strictly",
        _only(nodeclaim("old", created=EDGE)),
        "tooYoung",
    ),
    _picks(
        "lead-time-began-a-second-ago",
        "now is past deadline - leadTime",
        _only(nodeclaim("old", created="2026-11-17T20:08:59Z")),
        "old",
    ),
    _none(
        "due-in-forty-seconds",
        "the next look is when a claim comes due",
        _only(nodeclaim("old", created="2026-11-17T20:09:40Z")),
        "tooYoung",
        look_again=40,
    ),
    _none(
        "never-expires",
        "a claim without a deadline isn't due by a derived age",
        _only(nodeclaim("old", expireAfter="Never")),
        "tooYoung",
    ),
    _none("no-expiry-given", "as never", _only(nodeclaim("old", expireAfter=None)), "tooYoung"),
    _picks(
        "never-expires-but-an-age-is-given",
        "an explicit ageThreshold rotates it all the same",
        where(
            _only(nodeclaim("old", expireAfter="Never"), ageThreshold="200h"),
            lambda w: setattr(w, "pool", nodepool(expireAfter="Never")),
        ),
        "old",
    ),
    _picks(
        "requested-claim",
        "due: true makes one claim due at once",
        _only(nodeclaim("old", {"due": "true"}, created=YOUNG)),
        "old",
    ),
    _none(
        "requested-with-another-word",
        "only due: true is a request",
        _only(nodeclaim("old", {"due": "yes"}, created=YOUNG)),
        "tooYoung",
    ),
    _picks(
        "requested-by-date",
        "due-before makes every older claim due at once",
        where(
            idle(),
            lambda w: w.claims.pop(0),
            lambda w: w.nodes.pop(0),
            lambda w: w.pods.clear(),
            lambda w: mark(w.pool, due_before="2026-11-27T20:00:01Z"),
        ),
        "young",
    ),
    _none(
        "requested-by-an-earlier-date",
        "created before that time, strictly",
        where(
            idle(),
            lambda w: w.claims.pop(0),
            lambda w: w.nodes.pop(0),
            lambda w: w.pods.clear(),
            lambda w: mark(w.pool, due_before=YOUNG),
        ),
        "tooYoung",
    ),
)

HEALTH = (
    _none(
        "candidate-is-not-ready", "left to repair",
        _only(nodeclaim("old", ready=False)), "notReady",
    ),
    _none(
        "candidate-has-no-node", "nothing to replace",
        where(_only(nodeclaim("old", registered=False, ready=False)), lambda w: w.nodes.clear(),
              lambda w: w.pods.clear()),
        "noNode",
    ),
    _none(
        "candidate-is-being-deleted", "Karpenter has it already",
        _only(delete(nodeclaim("old"))), "deleting",
    ),
    _none(
        "candidate-is-expired", "expired is terminal",
        _only(nodeclaim("old", {"state": "expired"})), "deleting",
    ),
    _none(
        "candidates-node-is-gone", "the Node is read live before anything is started",
        where(_only(), lambda w: w.nodes.clear(), lambda w: w.pods.clear()), "noNode",
        unusual=frozenset({"claim without node"}),
    ),
    _none("candidates-node-is-not-ready", "left to repair",
          _only(node_=node("old", ready=False)), "notReady"),
    _none("candidates-node-is-being-deleted", "it goes anyway",
          _only(node_=delete(node("old"))), "deleting"),
    _none("karpenter-is-already-disrupting-the-candidate", "stands down",
          _only(node_=node("old", taints=[TAINT])), "disrupted"),
    _none(
        "operator-opted-the-candidate-out", "an operator's do-not-disrupt is honoured",
        _only(node_=node("old", {names.DO_NOT_DISRUPT: "true"})), "optedOut", look_again=60,
    ),
    _picks("do-not-disrupt-false-is-no-opt-out", 'only "true" counts on a Node',
           _only(node_=node("old", {names.DO_NOT_DISRUPT: "false"})), "old"),
    _picks("a-cordoned-node-is-a-candidate", "a cordon is no veto",
           _only(node_=node("old", unschedulable=True)), "old"),
    _picks(
        "our-own-do-not-disrupt-is-no-opt-out", "a mark that we left doesn't keep us away",
        _only(node_=node("old", {names.DO_NOT_DISRUPT: "true",
                                 names.DO_NOT_DISRUPT_OWNED: "true"})), "old",
    ),
)  # fmt: skip

STATE = (
    _none(
        "backing-off", "retryBackoff 30m since failed-at",
        _only(nodeclaim("old", FAILED | {"failed-at": "2026-11-29T19:30:30Z"})), "inBackoff",
        look_again=30,
    ),
    _picks("backoff-is-over", "exactly retryBackoff is enough",
           _only(nodeclaim("old", FAILED | {"failed-at": "2026-11-29T19:30:00Z"})), "old"),
    _none(
        "backing-off-longer-after-three-failures", "30m doubled twice",
        _only(nodeclaim("old", FAILED | {"failed-at": "2026-11-29T18:00:01Z",
                                         "retry-count": "3"})), "inBackoff", look_again=1,
    ),
    _picks(
        "backoff-has-a-cap", "eight times at most",
        _only(nodeclaim("old", FAILED | {"failed-at": "2026-11-29T16:00:00Z",
                                         "retry-count": "30"})), "old",
    ),
    _none("failed-at-is-unreadable", "the gate stays shut",
          _only(nodeclaim("old", FAILED | {"failed-at": "then"})), "inBackoff", log=HELD),
    _none(
        "retry-count-is-unreadable", "an unreadable count backs off longest",
        _only(nodeclaim("old", FAILED | {"failed-at": "2026-11-29T16:00:30Z",
                                         "retry-count": "many"})), "inBackoff", look_again=30, log=HELD,
    ),
    _picks("failed-without-a-time", "failed, with nothing to back off from",
           _only(nodeclaim("old", {"state": "failed"})), "old"),
    _none("state-is-unreadable", "an unreadable state is held",
          _only(nodeclaim("old", {"state": "dreaming"})), "unreadable", log=HELD),
    _none(
        "pending-without-an-anchor", "row 18: a forgotten attempt is failed",
        _only(nodeclaim("old", {"state": "pending", "started-at": STARTED,
                                "surge-claim": "new"})), "inFlight", log=FORGOTTEN,
        writes=(claim("old", f"state=failed failed-at={NOW} -started-at -surge-claim"),),
    ),
    _none(
        "draining-without-an-anchor", "row 18: a forgotten attempt is failed",
        _only(nodeclaim("old", {"state": "draining"})), "inFlight", log=FORGOTTEN,
        writes=(claim("old", f"state=failed failed-at={NOW}"),),
    ),
    Case("draining-without-an-anchor-but-going", "one at a time, also when an anchor was lost",
         _only(nodeclaim("old", {"state": "draining"}, deleted=STARTED)), "idle", Reason.DRAINING,
         detail="old still drains", log=("no candidate",)),
)  # fmt: skip


def _pair(first: World, **other: Any) -> World:
    return where(
        first,
        lambda w: w.claims.append(nodeclaim("other", **other)),
        lambda w: w.nodes.append(node("other", created=_created(named(w.claims, "other")))),
    )


def _many(count: int) -> World:
    """Claims whose Nodes are gone, with no more to them than anybody looks at."""
    world = where(idle(), lambda w: w.nodes.clear(), lambda w: w.pods.clear())
    world.claims = [nodeclaim(f"n{at:03}") for at in range(count)]
    for each in world.claims:
        each["spec"] = {"expireAfter": E, "terminationGracePeriod": GRACE}
        each["metadata"]["labels"] = {names.NODEPOOL_LABEL: "api"}
        del each["metadata"]["annotations"]
        each["status"] = {"nodeName": each["status"]["nodeName"], "conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Registered", "status": "True"}]}  # fmt: skip
    return world


ORDER = (
    _picks("earliest-deadline-first", "by deadline, not by age",
           _pair(_only(), created="2026-11-17T10:00:00Z", expireAfter="300h"), "other"),
    _picks("same-deadline-older-first", "ties go to the older one",
           _pair(_only(), created="2026-11-16T19:00:00Z", expireAfter="337h"), "other"),
    _picks("same-deadline-and-age-by-name", "then by name", _pair(_only()), "old"),
    _picks("no-deadline-comes-last", "deadlines first, also with an explicit ageThreshold",
           _pair(_only(ageThreshold="200h"), created="2026-11-10T00:00:00Z",
                 expireAfter="Never"), "old"),
    _picks(
        "next-after-an-opt-out", "the walk goes on to the next claim in deadline order",
        where(_pair(_only(node_=node("old", {names.DO_NOT_DISRUPT: "true"})))), "other",
        census={"optedOut": 1},
    ),
    _picks("next-while-the-first-backs-off", "the next claim gets its turn (karpenter 3080)",
           _pair(_only(nodeclaim("old", FAILED | {"failed-at": "2026-11-29T19:45:00Z"})),
                 created="2026-11-16T21:00:00Z"), "other", census={"inBackoff": 1}),
    _none("a-claims-own-lifetime-counts", "claim 720h, pool 336h: the claim's (aws 7319)",
          _only(nodeclaim("old", expireAfter="720h")), "tooYoung",
          findings=("HardCapExceeded",)),
    Case("more-than-one-pass-can-read", "100 Nodes a pass at most; the next one follows soon, and tells",
         _many(101), "idle", Reason.NO_CANDIDATE, look_again=2, census={"noNode": 100},
         findings=("ThroughputBurstShortfall",),
         unusual=frozenset({"claim without node"})),
    Case("nothing-to-rotate", "an empty pool",
         where(idle(), lambda w: w.claims.clear(), lambda w: w.nodes.clear(),
               lambda w: w.pods.clear()),
         "idle", Reason.NO_CANDIDATE, log=("no candidate",), census={}),
)  # fmt: skip

ROOM = (
    Case("static-pool", "a static NodePool can't surge",
         where(_only(), lambda w: w.pool["spec"].update({"replicas": 1})),
         "idle", Reason.STATIC_NODE_POOL, log=("no candidate",), told=("StaticNodePool",)),
    Case("no-headroom", "limits leave less room than the placeholder asks for",
         where(_only(), lambda w: w.pool["spec"].update({"limits": {"cpu": "13"}})),
         "idle", Reason.NO_HEADROOM, log=("no candidate",),
         detail="spec.limits has no room for: cpu", told=("NoHeadroom",)),
    _picks("just-enough-headroom", "the placeholder asks for 1500m, and that much is left",
           where(_only(), lambda w: w.pool["spec"].update({"limits": {"cpu": "13500m"}})), "old"),
    Case("no-headroom-in-nodes", "a nodes limit needs room for one",
         where(_only(), lambda w: w.pool["spec"].update({"limits": {"nodes": "4"}})),
         "idle", Reason.NO_HEADROOM, log=("no candidate",),
         detail="spec.limits has no room for: nodes", findings=("NoHeadroom",)),
    _picks("a-limit-that-bars-gpus", "a limit of zero on what no node has: the others have room",
           where(_only(),
                 lambda w: w.pool["spec"].update({"limits": {"nvidia.com/gpu": "0"}})), "old"),
    _picks("unlimited-pool", "no limits, no headroom to ask for",
           where(_only(), lambda w: w.pool["spec"].pop("limits")), "old"),
    Case("claim-of-the-candidate-vanishes", "headroom reads the claim live: it is gone by now",
         _only(), "1", Reason.ROTATION_STARTED,
         live=where(_only(), lambda w: w.claims.clear()),
         annotations={"active-rotation": "old", "active-rotation-uid": uid_of("old")},
         unusual=frozenset({"node without claim"})),
)  # fmt: skip

CASES = AGE + HEALTH + STATE + ORDER + ROOM
