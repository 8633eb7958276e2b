"""Row 3: a surge from its anchor until the successor is up."""

from __future__ import annotations

from typing import Any

from hooks import names
from hooks.rotation.reasons import Reason
from tests.support.cases import CREATED, KEPT, SELECTED, Case
from tests.support.scene import (
    PENDING,
    anchored,
    bound,
    delete,
    later,
    listed,
    named,
    old,
    pending,
    pool,
    running,
    surge_pod,
    where,
    without_pods,
)
from tests.support.shortly import claim, freeze
from tests.support.world import NOW, Json, World, node, nodeclaim, placeholder, workload

HELD = "2026-11-29T23:00:00Z"
DRAINS = ("surge node ready", "drain started")
TAINT = {"key": names.DISRUPTED_TAINT, "effect": "NoSchedule"}
MIRROR = {
    "active-rotation-state": "draining",
    "draining-at": NOW,
    "surge-wait": "2m0s",
}


def _row3(name: str, why: str, world: World, reason: Reason, **more: Any) -> Case:
    return Case(name, why, world, "3", reason, **more)


def _bare(thing: Json) -> None:
    for key in (names.SURGE_FOR, names.DO_NOT_DISRUPT, names.DO_NOT_DISRUPT_OWNED):
        del thing["metadata"]["annotations"][key]


WAITS = (
    _row3(
        "begins-the-surge", "row 3: state and start in one patch, freeze and cordon in one patch",
        anchored(), Reason.SURGE_PENDING, listed=CREATED, look_again=30,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "begins-with-an-anchor-without-uid", "a rotation of the Go controller: the name counts",
        where(anchored(), pool(active_rotation_uid=None)), Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "begins-on-a-node-cordoned-by-an-operator", "an operator's cordon is not adopted",
        where(anchored(), lambda w: w.nodes.__setitem__(0, node("old", unschedulable=True))),
        Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old")),
        log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "begins-on-a-protected-node", "an operator's do-not-disrupt set meanwhile is not adopted",
        where(anchored(), lambda w: w.nodes.__setitem__(
            0, node("old", {names.DO_NOT_DISRUPT: "true"}))),
        Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"),
                "node node-old: cordoned=true label:surge-for=old surge-for=old unschedulable"),
        log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "begins-while-frozen", "a freeze holds the placeholder back; marks are asserted all the same",
        where(anchored(), pool(freeze=HELD)), Reason.FROZEN,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected",),
    ),
    _row3(
        "begins-outside-the-window", "windows gate starts only: what has its anchor goes on",
        anchored(), Reason.SURGE_PENDING, listed=CREATED, now="2026-11-29T22:30:00Z",
        writes=(claim("old", "state=pending started-at=2026-11-29T22:30:00Z"),
                freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "goes-on-while-suspended", "suspend and dryRun gate starts only",
        listed(suspend=True, dryRun=True), Reason.SURGE_PENDING, listed=KEPT, log=SELECTED,
        settings={"NODEROTATION_SUSPEND": "true"},
    ),
    _row3(
        "lost-its-marks", "freeze and cordon are asserted on every pass",
        where(listed(), lambda w: w.nodes.__setitem__(0, node("old"))), Reason.SURGE_PENDING,
        listed=KEPT, log=SELECTED, writes=(freeze("old", "old", cordon=True),),
    ),
    _row3(
        "lost-its-annotations", "the label alone relates the Node: its marks are put back",
        where(listed(), lambda w: _bare(named(w.nodes, "node-old"))), Reason.SURGE_PENDING,
        listed=KEPT, log=SELECTED, unusual=frozenset({"mark without label"}),
        writes=(freeze("old", "old").replace("label:surge-for=old ", ""),),
    ),
    _row3(
        "somebody-lifted-the-protection", "our own do-not-disrupt is put back",
        where(listed(), lambda w: w.nodes.__setitem__(0, node(
            "old", {names.DO_NOT_DISRUPT: "false"}, frozen_for="old", cordoned=True))),
        Reason.SURGE_PENDING, listed=KEPT, log=SELECTED, writes=("node node-old: do-not-disrupt=true",),
    ),
    _row3(
        "begins-with-a-claim-that-never-expires", "a requested one, without a deadline",
        where(anchored(), lambda w: w.claims.__setitem__(0, nodeclaim(
            "old", {"due": "true"}, expireAfter="Never"))), Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "begins-with-a-placeholder-of-before", "governance is back; the beginning is told in the"
        " next pass too, should this one die, for it names the successor",
        where(running(), lambda w: w.claims.__setitem__(0, nodeclaim("old"))),
        Reason.SURGE_PENDING, listed=KEPT, log=SELECTED,
        writes=(claim("old", f"state=pending started-at={NOW}"),),
    ),
    _row3(
        "begins-on-a-full-node", "yunikorn, karpenter 1185: clamped to allocatable - DaemonSets",
        where(anchored(), lambda w: w.pods.append(workload("web-2", "old", "2400m"))),
        Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"), told=("SurgeClampBandExceeded",),
    ),
    _row3(
        "begins-on-a-node-that-is-larger-than-planned", "clamped, and the difference explains it",
        where(anchored(), lambda w: w.pods.append(workload("web-2", "old", "2400m")),
              lambda w: named(w.nodes, "node-old")["status"]["allocatable"].update(cpu="4")),
        Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"), told=("SurgeClamped",),
    ),
    _row3(
        "begins-on-a-node-full-of-daemons", "no new node has room: refused, and it will time out",
        where(anchored(), lambda w: w.pods.append(
            workload("big", "old", "3900m", kind="DaemonSet", name="big"))),
        Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"), told=("SurgeClampRefused",),
    ),
    _row3(
        "begins-with-a-key-that-the-pool-forbids", "a required key is given up, and told",
        where(anchored(), lambda w: w.pool["spec"]["template"]["spec"]["requirements"].append(
            {"key": names.ZONE_LABEL, "operator": "In", "values": ["elsewhere"]})),
        Reason.SURGE_PENDING, listed=CREATED,
        writes=(claim("old", f"state=pending started-at={NOW}"), freeze("old", "old", cordon=True)),
        log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "started-at-is-missing", "write-once, so stamped where it is missing",
        where(listed(), old(started_at=None)), Reason.SURGE_PENDING, listed=KEPT,
        writes=(claim("old", f"started-at={NOW}"),), look_again=30,
    ),
    _row3(
        "started-at-is-unreadable", "stamped anew once, and said",
        where(listed(), old(started_at="noon")), Reason.SURGE_PENDING, listed=KEPT,
        writes=(claim("old", f"started-at={NOW}"),), log=("malformed state",),
    ),
    _row3(
        "started-at-is-hours-ahead", "a start that lies in the future is no start",
        where(listed(), old(started_at="2026-11-29T23:59:00Z")), Reason.SURGE_PENDING, listed=KEPT,
        writes=(claim("old", f"started-at={NOW}"),), unusual=frozenset({"stamp out of order"}),
    ),
    _row3(
        "waits-for-a-node", "a steady state writes nothing", listed(), Reason.SURGE_PENDING,
        listed=KEPT, log=SELECTED, look_again=60,
    ),
    _row3(
        "times-out-in-twenty-seconds", "the next look is just after readyTimeout",
        where(listed(), old(started_at="2026-11-29T19:55:19Z")), Reason.SURGE_PENDING, listed=KEPT,
        log=SELECTED, look_again=20,
    ),
    _row3(
        "exactly-at-the-ready-timeout", "older than readyTimeout, strictly",
        where(listed(), old(started_at="2026-11-29T19:55:00Z")), Reason.SURGE_PENDING, listed=KEPT,
        log=SELECTED, look_again=1,
    ),
    _row3(
        "waits-for-more-than-half-an-hour", "what API servers have forgotten isn't told again",
        where(listed(readyTimeout="2h"), old(started_at="2026-11-29T19:29:59Z")),
        Reason.SURGE_PENDING, listed=KEPT,
    ),
    _row3(
        "unschedulable", "the scheduler's message is told",
        where(pending(), lambda w: w.pods.append(
            placeholder("old", unschedulable="0/4 nodes are available"))),
        Reason.SURGE_UNSCHEDULABLE, listed=KEPT,
        log=("candidate selected", "placeholder unschedulable"),
    ),
    _row3(
        "waits-for-the-placeholder-to-run", "bound: the host is frozen and named at once",
        bound(), Reason.SURGE_PENDING, listed=KEPT, log=SELECTED,
        writes=(claim("old", "surge-claim=new"), freeze("old", "new")),
    ),
    _row3(
        "bound-to-a-node-whose-claim-is-not-seen-yet", "the claim comes with a later request",
        where(bound(), lambda w: w.claims.pop()), Reason.SURGE_PENDING, listed=KEPT, log=SELECTED,
        writes=(freeze("old", "new"),), live=bound(),
    ),
    _row3(
        "bound-to-a-node-of-another-pool", "no successor: neither frozen nor named",
        where(bound(), lambda w: w.nodes[-1]["metadata"]["labels"].update(
            {names.NODEPOOL_LABEL: "web"})), Reason.SURGE_PENDING, listed=KEPT, log=SELECTED,
    ),
    _row3(
        "bound-and-named-already", "a patch that would change nothing isn't sent",
        bound(), Reason.SURGE_PENDING, listed=KEPT, log=SELECTED, writes=(freeze("old", "new"),),
        live=later(bound(), old(surge_claim="new")),
    ),
    _row3(
        "bound-elsewhere-the-second-time", "surge-claim follows the placeholder",
        where(bound(), old(surge_claim="young")), Reason.SURGE_PENDING, listed=KEPT,
        writes=(claim("old", "surge-claim=new"), freeze("old", "new")),
    ),
    _row3(
        "absorbed-by-a-node-that-was-there", "spare capacity takes the placeholder",
        where(pending(), lambda w: w.pods.append(placeholder("old", "Pending", "young"))),
        Reason.SURGE_PENDING, listed=KEPT, log=SELECTED,
        writes=(claim("old", "surge-claim=young"), freeze("old", "young")),
    ),
    _row3(
        "frozen-while-the-placeholder-runs", "a freeze holds the transition to draining",
        where(running(), pool(freeze=HELD)), Reason.FROZEN, listed=KEPT,
    ),
)  # fmt: skip

CREATES = (
    _row3(
        "not-created-yet", "within 30 s it may simply not be seen yet",
        where(pending(), old(started_at="2026-11-29T19:59:30Z")), Reason.SURGE_PENDING,
        listed=CREATED, log=("candidate selected", "placeholder created"),
    ),
    _row3(
        "never-created", "missing for more than 30 s though listed: quota, LimitRange, admission",
        where(pending(), old(started_at="2026-11-29T19:59:29Z")), Reason.SURGE_NOT_CREATED,
        listed=CREATED, log=("candidate selected", "placeholder not created", "placeholder created"),
    ),
    _row3("asked-for-since-a-freeze-ended", "while frozen it was not listed, so nobody refused it",
          where(pending(), pool(freeze="2026-11-29T19:59:45Z")), Reason.SURGE_PENDING,
          listed=CREATED, log=("candidate selected", "placeholder created")),
    _row3("never-created-since-a-freeze-ended", "missing for more than 30 s though listed again",
          where(pending(), pool(freeze="2026-11-29T19:59:29Z")), Reason.SURGE_NOT_CREATED,
          listed=CREATED,
          log=("candidate selected", "placeholder not created", "placeholder created")),
    _row3("a-freeze-of-before-the-start", "what counts is the later of the two",
          where(pending(), old(started_at="2026-11-29T19:59:29Z"),
                pool(freeze="2026-11-29T12:00:00Z")), Reason.SURGE_NOT_CREATED,
          listed=CREATED,
          log=("candidate selected", "placeholder not created", "placeholder created")),
    _row3("preempted", "it was there once, so nobody refused it: made again",
          where(without_pods(running()), old(started_at="2026-11-29T19:57:00Z")),
          Reason.SURGE_PENDING, listed=CREATED, log=("placeholder created",)),
    _row3("held-back-by-a-freeze", "no placeholder is created while frozen",
          where(pending(), pool(freeze=HELD)), Reason.FROZEN, log=("candidate selected",)),
    _row3("held-back-by-an-unreadable-freeze", "an unreadable freeze is one",
          where(pending(), pool(freeze="later")), Reason.FROZEN,
          log=("malformed state", "candidate selected")),
    _row3(
        "candidates-node-vanished-while-waiting", "nothing to size a placeholder from: nobody refused it",
        where(pending(), lambda w: w.nodes.pop(0), lambda w: w.pods.clear()),
        Reason.CANDIDATE_NODE_GONE, unusual=frozenset({"claim without node"}), look_again=2,
        log=SELECTED,
    ),
    _row3(
        "candidate-without-a-node", "nothing to size a placeholder from: nobody refused it",
        where(pending(), lambda w: w.claims.__setitem__(0, nodeclaim("old", PENDING,
                                                                     registered=False)),
              lambda w: w.nodes.pop(0), lambda w: w.pods.clear()),
        Reason.CANDIDATE_NODE_GONE, look_again=2,
        log=SELECTED,
    ),
    _row3("placeholder-is-terminating", "not listed, created again once it is gone",
          where(running(), lambda w: delete(surge_pod(w))), Reason.PLACEHOLDER_LOST),
    _row3(
        "placeholder-failed", "a finished placeholder reserves nothing: dropped",
        where(running(), lambda w: surge_pod(w)["status"].update(phase="Failed")),
        Reason.PLACEHOLDER_LOST,
    ),
    _row3(
        "placeholder-succeeded", "a finished placeholder reserves nothing: dropped",
        where(running(), lambda w: surge_pod(w)["status"].update(phase="Succeeded")),
        Reason.PLACEHOLDER_LOST,
    ),
    _row3(
        "placeholder-on-the-candidate", "it reserves room on the very node that goes: dropped",
        where(pending(), lambda w: w.pods.append(placeholder("old", "Running", "old"))),
        Reason.PLACEHOLDER_LOST, log=SELECTED,
    ),
    _row3(
        "host-is-gone", "dropped, created again next pass",
        where(running(), lambda w: w.nodes.pop(), lambda w: w.claims.pop(),
              lambda w: w.pods.pop()),
        Reason.PLACEHOLDER_LOST, unusual=frozenset({"pod without node"}),
    ),
    _row3(
        "host-is-being-deleted", "dropped, created again next pass",
        where(running(), lambda w: delete(named(w.nodes, "node-new"))), Reason.PLACEHOLDER_LOST,
    ),
    _row3(
        "hosts-claim-is-being-deleted", "dropped, created again next pass",
        where(running(), lambda w: delete(named(w.claims, "new"))), Reason.PLACEHOLDER_LOST,
    ),
    _row3(
        "karpenter-disrupts-the-host", "dropped, created again next pass",
        where(running(), lambda w: named(w.nodes, "node-new")["spec"].update(taints=[TAINT])),
        Reason.PLACEHOLDER_LOST,
    ),
    _row3(
        "runs-on-a-host-that-is-not-ready", "kept: the host may still become ready",
        where(running(), lambda w: w.nodes.__setitem__(2, node("new", frozen_for="old",
                                                               ready=False))),
        Reason.SURGE_PENDING, listed=KEPT,
    ),
)  # fmt: skip

CASES = WAITS + CREATES
